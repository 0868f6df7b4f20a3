package fetch

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/gocolly/colly/v2"
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

	// AllowLoopback lets 127.0.0.0/8 and ::1 through, on any port. It is for
	// tests and the demo and must be set in code, never from configuration.
	AllowLoopback bool
}

// Client fetches pages. It is safe for concurrent use.
type Client struct {
	options   Options
	transport *http.Transport
}

// New returns a Client, or an error when an option is negative.
func New(options Options) (*Client, error) {
	return newClient(options, nil)
}

func newClient(options Options, resolver *net.Resolver) (*Client, error) {
	if options.Timeout < 0 || options.MaxBody < 0 {
		return nil, errors.New("fetch: negative timeout or body limit")
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
	return &Client{options, newTransport(options.AllowLoopback, resolver)}, nil
}

// Close closes connections that are kept for reuse.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Get fetches a page. An answer of any status is a Page; see [Page.Err]. All
// errors are *Error; when ctx was cancelled they also match ctx.Err().
func (c *Client) Get(ctx context.Context, rawURL string) (*Page, error) {
	u, err := CheckURL(rawURL, c.options.AllowLoopback)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()

	page := &Page{URL: rawURL}
	collector := c.collector(ctx)
	collector.OnResponseHeaders(func(r *colly.Response) {
		page.Header = r.Headers.Clone()
		// colly would transcode by this header alone; readers of the page need
		// the bytes as sent, to weigh header, byte order mark and meta.
		r.Headers.Del("Content-Type")
	})
	collector.OnResponse(func(r *colly.Response) {
		page.FinalURL, page.Status, page.Body = r.Request.URL.String(), r.StatusCode, r.Body
	})
	if err := collector.Visit(u.String()); err != nil {
		return nil, withRetryAfter(classify(err), page)
	}
	return page, nil
}

// collector makes a collector for one fetch, with its own cookie jar: some
// sites redirect a page to itself to set a cookie. It is not made with
// colly.NewCollector, which lets COLLY_ variables of the environment change
// the cache, the body limit and more.
func (c *Client) collector(ctx context.Context) *colly.Collector {
	collector := &colly.Collector{}
	collector.Init()
	collector.Context = ctx
	collector.UserAgent = c.options.UserAgent
	collector.AllowURLRevisit = true
	collector.ParseHTTPErrorResponse = true
	collector.MaxBodySize = 0      // guarded caps
	collector.SetRequestTimeout(0) // ctx limits
	collector.WithTransport(guarded{c.transport, c.options.AllowLoopback, c.options.MaxBody})
	collector.SetRedirectHandler(func(_ *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return &Error{Code: FetchFailed, Message: "The site redirects in circles."}
		}
		return nil
	})
	// BE FORWARD was seen to challenge clients that send an Accept header
	// without the rest of a browser's.
	collector.OnRequest(func(r *colly.Request) { r.Headers.Del("Accept") })
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
