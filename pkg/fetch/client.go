package fetch

import (
	"context"
	"errors"
	"math"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/gocolly/colly/v2"
	"github.com/redis/go-redis/v9"
)

// What a zero in Options means.
const (
	DefaultTimeout   = 20 * time.Second
	DefaultMaxBody   = 12 << 20 // bytes
	DefaultUserAgent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0 Ushuru/1.0"
)

const maxRedirects = 5

// Options configure a Client. The zero value is ready for use.
type Options struct {
	Timeout   time.Duration // for the whole fetch, redirects and body included; 0: DefaultTimeout
	MaxBody   int64         // bytes after decompression; 0: DefaultMaxBody
	UserAgent string        // "": DefaultUserAgent

	// Redis is where all processes agree on the pace at which a site is asked
	// and on sites that want to be left alone; nil: this Client goes by
	// nothing but robots.txt. It stays the caller's.
	Redis redis.UniversalClient
	// Rate is how many pages a second one site is asked for, by all processes
	// together; 0: no limit. It needs Redis.
	Rate int

	// AllowLoopback lets 127.0.0.0/8 and ::1 through, on any port. It is for
	// tests and the demo and must be set in code, never from configuration.
	AllowLoopback bool
}

// Client fetches pages. It is safe for concurrent use.
type Client struct {
	options   Options
	transport *http.Transport
	gate      *gate
	robots    *robots
}

// New returns a Client, or an error when an option is negative.
func New(options Options) (*Client, error) {
	return newClient(options, nil)
}

func newClient(options Options, resolver *net.Resolver) (*Client, error) {
	if options.Timeout < 0 || options.MaxBody < 0 || options.Rate < 0 {
		return nil, errors.New("fetch: negative timeout, body limit or rate")
	}
	if options.Timeout == 0 {
		options.Timeout = DefaultTimeout
	}
	if options.MaxBody == 0 {
		options.MaxBody = DefaultMaxBody
	}
	if options.UserAgent == "" {
		options.UserAgent = DefaultUserAgent
	}
	transport := newTransport(options.AllowLoopback, resolver)
	unlimited := guarded{transport, options.AllowLoopback, math.MaxInt64 - 1} // robots cuts off itself
	return &Client{
		options: options, transport: transport,
		gate: newGate(options.Redis, options.Rate), robots: newRobots(unlimited, options.UserAgent),
	}, nil
}

// Close closes connections that are kept for reuse.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Request says which page is wanted.
type Request struct {
	URL  string
	Bulk bool // nobody waits for it: it lets others go first

	// Known are the validators of the page as it was read before. A page that
	// has not changed is then answered with status 304 and no body.
	Known Validators

	// What is not a page is fetched with its own limit and its own Accept.
	MaxBody int64  // bytes after decompression; 0: that of the Client
	Accept  string // "": no such header, see collector

	// Allow, if not nil, is asked before the URL and before every redirect; its
	// error ends the fetch.
	Allow func(*url.URL) error
}

func (r *Request) allow(u *url.URL) error {
	if r.Allow == nil {
		return nil
	}
	return r.Allow(u)
}

// Get fetches a page that somebody waits for; see Fetch.
func (c *Client) Get(ctx context.Context, rawURL string) (*Page, error) {
	return c.Fetch(ctx, Request{URL: rawURL})
}

// Fetch fetches a page, unless the site's robots.txt forbids it or it is not
// the time to ask the site. An answer of any status is a Page; see [Page.Err].
// All errors are *Error; when ctx was cancelled they also match ctx.Err().
func (c *Client) Fetch(ctx context.Context, r Request) (*Page, error) {
	u, err := CheckURL(r.URL, c.options.AllowLoopback)
	if err != nil {
		return nil, err
	}
	if err := r.allow(u); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	if err := c.admit(ctx, u, r.Bulk); err != nil {
		return nil, err
	}
	page := &Page{URL: r.URL, FinalURL: u.String()}
	collector := c.collector(ctx, r)
	collector.OnResponseHeaders(func(response *colly.Response) {
		page.Status, page.Header = response.StatusCode, response.Headers.Clone()
		page.FinalURL = response.Request.URL.String()
		c.gate.hold(ctx, response.Request.URL.Host, page)
		// colly would transcode by this header alone; readers of the page need
		// the bytes as sent, to weigh header, byte order mark and meta.
		response.Headers.Del("Content-Type")
	})
	collector.OnResponse(func(response *colly.Response) {
		page.FinalURL, page.Body = response.Request.URL.String(), response.Body
	})
	if err := collector.Visit(u.String()); err != nil {
		return nil, withRetryAfter(classify(err), page)
	}
	return page, nil
}

// admit asks the site's gate and its robots.txt. The gate comes first: a site
// that wants to be left alone is not asked for its robots.txt either.
func (c *Client) admit(ctx context.Context, u *url.URL, bulk bool) error {
	if err := c.gate.pass(ctx, u.Host, bulk); err != nil {
		return err
	}
	return c.robots.check(ctx, u)
}

// collector makes a collector for one fetch, with its own cookie jar: some
// sites redirect a page to itself to set a cookie. It is not made with
// colly.NewCollector, which lets COLLY_ variables of the environment change
// the cache, the body limit and more.
func (c *Client) collector(ctx context.Context, r Request) *colly.Collector {
	collector := &colly.Collector{}
	collector.Init()
	collector.Context = ctx
	collector.UserAgent = c.options.UserAgent
	collector.AllowURLRevisit = true
	collector.ParseHTTPErrorResponse = true
	collector.MaxBodySize = 0      // guarded caps
	collector.SetRequestTimeout(0) // ctx limits
	maxBody := c.options.MaxBody
	if r.MaxBody > 0 {
		maxBody = r.MaxBody
	}
	collector.WithTransport(guarded{c.transport, c.options.AllowLoopback, maxBody})
	collector.SetRedirectHandler(func(next *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return &Error{Code: FetchFailed, Message: "The site redirects in circles."}
		}
		u, err := CheckURL(next.URL.String(), c.options.AllowLoopback)
		if err != nil {
			return err
		}
		if err := r.allow(u); err != nil {
			return err
		}
		if u.Host == via[len(via)-1].URL.Host { // still the same visit
			return c.robots.check(ctx, u)
		}
		return c.admit(ctx, u, r.Bulk)
	})
	collector.OnRequest(func(request *colly.Request) {
		// BE FORWARD was seen to challenge clients that send an Accept header
		// without the rest of a browser's.
		request.Headers.Del("Accept")
		if r.Accept != "" {
			request.Headers.Set("Accept", r.Accept)
		}
		r.Known.set(request.Headers)
	})
	return collector
}

// withRetryAfter keeps the pause that an answer asked for before it broke off.
func withRetryAfter(err error, page *Page) error {
	var failure *Error
	if errors.As(err, &failure) && failure.Retryable && page.Header != nil {
		failure.Wait = page.RetryAfter()
	}
	return err
}
