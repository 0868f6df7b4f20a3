// Package fetch is the only HTTP client for URLs that callers give. Such a URL is
// treated as hostile: it may name a machine inside the operator's network, answer
// with a compressed bomb, or never answer.
//
// Two checks protect the network. [CheckURL] checks the text of every URL, also
// of every redirect. The dialer checks every address just before it connects, so
// a name that resolves to a private address, at once or only the second time, is
// refused too. No proxy is taken from the environment.
//
// The client obeys robots.txt, and processes that share a Redis share the rate of
// requests to each site.
package fetch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
	"github.com/gocolly/colly/v2"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/message"
	"ushuru/pkg/pace"
	"ushuru/pkg/trace"
)

// What a zero in Options means.
const (
	DefaultTimeout   = 20 * time.Second
	defaultMaxBody   = 12 << 20 // bytes
	defaultUserAgent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0 Ushuru/1.0"
)

const maxRedirects = 5

// Options configure a Client. The zero value is ready for use.
type Options struct {
	Timeout   time.Duration // for the whole fetch, redirects and body included; 0: DefaultTimeout
	MaxBody   int64         // bytes after decompression; 0: DefaultMaxBody
	UserAgent string        // "": DefaultUserAgent

	// Redis is where all processes share the rate of requests to a site and the
	// pauses that sites ask for. With nil the Client obeys robots.txt only. The
	// caller closes it.
	Redis redis.UniversalClient
	// Rate is the maximum number of pages per second that all processes together
	// request from one site; from one address of sites that are not known, four times
	// as many. 0: no limit. It needs Redis.
	Rate int

	// IsKnown reports whether a host is known to exist, so that a failure to resolve
	// its name is temporary. With nil no host is known.
	IsKnown func(host string) bool

	// DenyNets are addresses that are never connected to, besides those that are not
	// public and the services of clouds for their own machines.
	DenyNets []netip.Prefix

	// AllowLoopback permits 127.0.0.0/8 and ::1, on any port. It is for tests, the
	// demo and simulators, never for production.
	AllowLoopback bool
}

// Client fetches pages. It is safe for concurrent use.
type Client struct {
	options   Options
	transport *http.Transport
	limiter   *hostLimiter
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
		options.MaxBody = defaultMaxBody
	}
	if options.UserAgent == "" {
		options.UserAgent = defaultUserAgent
	}
	transport := newTransport(options, resolver)
	unlimited := guarded{transport, options.AllowLoopback, math.MaxInt64 - 1} // robots bounds the body itself
	return &Client{
		options: options, transport: transport,
		limiter: newHostLimiter(options.Redis, options.Rate), robots: newRobots(unlimited, options.UserAgent, options.IsKnown),
	}, nil
}

// Close closes idle connections.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Request describes the page to fetch.
type Request struct {
	URL  string
	Bulk bool // no person waits for the page, so interactive requests go first

	// MaxBody and Accept are for files that are not pages, such as images.
	MaxBody int64  // bytes after decompression; 0: that of the Client
	Accept  string // "": no such header, see collector

	// Allow, if not nil, is called with the URL and with the target of every
	// redirect before it is requested; its error ends the fetch.
	Allow func(*url.URL) error
}

func (r *Request) allow(u *url.URL) error {
	if r.Allow == nil {
		return nil
	}
	return r.Allow(u)
}

// Get fetches a page that a person waits for; see Fetch.
func (c *Client) Get(ctx context.Context, rawURL string) (*Page, error) {
	return c.Fetch(ctx, Request{URL: rawURL})
}

// Fetch fetches a page, unless the site's robots.txt forbids it or the host
// limiter delays it. A response of any status is a Page; see [Page.Err]. All
// errors are *Error; when ctx was cancelled they also match ctx.Err().
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
	ctx = context.WithValue(ctx, visitKey{}, &visit{c.limiter, c.options.IsKnown, r.Bulk})
	if err := c.admit(ctx, u, r.Bulk); err != nil {
		return nil, err
	}
	page := &Page{URL: r.URL, FinalURL: u.String()}
	collector := c.collector(ctx, r)
	collector.OnResponseHeaders(func(response *colly.Response) {
		page.Status, page.Header = response.StatusCode, response.Headers.Clone()
		page.FinalURL = response.Request.URL.String()
		c.limiter.pause(ctx, response.Request.URL.Host, page)
		// colly would transcode by this header alone; the parser of the page
		// needs the bytes as sent, because it also considers the byte order
		// mark and the meta element.
		response.Headers.Del("Content-Type")
	})
	collector.OnResponse(func(response *colly.Response) {
		page.FinalURL, page.Body = response.Request.URL.String(), response.Body
	})
	if err := collector.Visit(u.String()); err != nil {
		return nil, withRetryAfter(classify(err, c.options.IsKnown), page)
	}
	return page, nil
}

// admit checks the host limiter and the site's robots.txt. The limiter comes
// first, so that a site that asked for a pause gets no request for its robots.txt
// either.
func (c *Client) admit(ctx context.Context, u *url.URL, bulk bool) error {
	if err := c.limiter.allow(ctx, u.Host, bulk); err != nil {
		return err
	}
	return c.robots.check(ctx, u)
}

// collector returns a collector for one fetch, with its own cookie jar, because
// some sites redirect a page to itself to set a cookie. colly.NewCollector is not
// used: it lets COLLY_ variables of the environment change the cache, the body
// limit and more.
func (c *Client) collector(ctx context.Context, r Request) *colly.Collector {
	collector := &colly.Collector{}
	collector.Init()
	collector.Context = ctx
	collector.UserAgent = c.options.UserAgent
	collector.AllowURLRevisit = true
	collector.ParseHTTPErrorResponse = true
	collector.MaxBodySize = 0      // guarded limits the body
	collector.SetRequestTimeout(0) // ctx limits
	maxBody := c.options.MaxBody
	if r.MaxBody > 0 {
		maxBody = r.MaxBody
	}
	collector.WithTransport(guarded{c.transport, c.options.AllowLoopback, maxBody})
	collector.SetRedirectHandler(func(next *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return Fail("error/fetch_failed.loop", nil)
		}
		u, err := CheckURL(next.URL.String(), c.options.AllowLoopback)
		if err != nil {
			return err
		}
		if err := r.allow(u); err != nil {
			return err
		}
		if u.Host == via[len(via)-1].URL.Host { // the limiter has counted this visit
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
	})
	return collector
}

// withRetryAfter adds the pause that a response asked for before it broke off.
func withRetryAfter(err error, page *Page) error {
	var failure *Error
	if errors.As(err, &failure) && failure.Retryable && page.Header != nil {
		failure.Wait = page.RetryAfter()
	}
	return err
}

// Page is a response of a site with any status.
type Page struct {
	URL      string // as requested
	FinalURL string // after redirects
	Status   int
	Header   http.Header
	Body     []byte // decompressed, in the site's own character set
}

// RetryAfter returns the pause that the Retry-After header asks for, in seconds or
// as a date (RFC 9110, 10.2.3); 0 without the header. The maximum is an hour: a
// site that asks for more is asked again after that.
func (p *Page) RetryAfter() time.Duration {
	return pace.RetryAfter(p.Header, time.Now(), maxPause)
}

// AsksForPause reports whether a response itself asks us to pause, by its status or
// its Retry-After.
func (p *Page) AsksForPause() bool {
	return p.Status == http.StatusTooManyRequests || p.Status == http.StatusServiceUnavailable && p.RetryAfter() > 0
}

// Pause returns how long a response asks us not to request anything from its site:
// a 429 or 503, with or without Retry-After. It is 0 for any other response.
func (p *Page) Pause() time.Duration {
	switch p.Status {
	case http.StatusTooManyRequests:
		return cmp.Or(p.RetryAfter(), pauseTooMany)
	case http.StatusServiceUnavailable:
		return cmp.Or(p.RetryAfter(), pauseUnavailable)
	}
	return 0
}

// StatusError returns nil for status 200 and otherwise a fetch_failed error, temporary
// for 429 and 5xx.
func (p *Page) StatusError() error {
	if p.Status == http.StatusOK {
		return nil
	}
	return &Error{
		Notice:    message.New("error/fetch_failed.status", message.Values{"status": strconv.Itoa(p.Status)}),
		Retryable: p.Status == http.StatusTooManyRequests || p.Status >= 500,
		Wait:      p.RetryAfter(),
	}
}

// visitKey is the key of a *visit in the context of a fetch.
type visitKey struct{}

// visit is a fetch of a page that counts against the pace of addresses.
type visit struct {
	limiter *hostLimiter
	isKnown func(host string) bool
	bulk    bool
}

// counts reports whether the pages of a host count by address: not those of a known
// site, whose name counts, and whose address others may share.
func (v *visit) counts(host string) bool {
	return v != nil && v.limiter.rate > 0 && (v.isKnown == nil || !v.isKnown(host))
}

func visitOf(ctx context.Context) *visit {
	v, _ := ctx.Value(visitKey{}).(*visit)
	return v
}

// newTransport connects to public addresses only. Proxy is nil on purpose: a
// proxy would resolve names where the dialer cannot check the result.
func newTransport(options Options, resolver *net.Resolver) *http.Transport {
	guard := newGuard(options.DenyNets)
	dialer := &net.Dialer{
		Timeout:  10 * time.Second,
		Resolver: resolver,
		ControlContext: func(ctx context.Context, network, address string, conn syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			switch {
			case err == nil && contains(options.DenyNets, to.Addr()):
				return fmt.Errorf("%w: %s is in DENY_NETS", ssrf.ErrProhibitedIP, to.Addr())
			case err == nil && options.AllowLoopback && to.Addr().IsLoopback():
			default:
				if err := guard.Safe(network, address, conn); err != nil {
					return err
				}
			}
			if v := visitOf(ctx); v != nil {
				return v.limiter.allowAddress(ctx, to, v.bulk)
			}
			return nil
		},
	}
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if v := visitOf(ctx); err == nil && v != nil && !v.counts(host) {
			ctx = context.WithValue(ctx, visitKey{}, (*visit)(nil))
		}
		return dialer.DialContext(ctx, network, address)
	}
	return &http.Transport{
		DialContext:            dial,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxIdleConnsPerHost:    4,
		IdleConnTimeout:        30 * time.Second,
		MaxResponseHeaderBytes: 256 << 10,
	}
}

// guarded checks the URL of every request, redirects included, and limits the body
// of every response.
type guarded struct {
	next          http.RoundTripper
	allowLoopback bool
	maxBody       int64
}

// RoundTrip implements http.RoundTripper.
func (g guarded) RoundTrip(request *http.Request) (*http.Response, error) {
	if _, err := CheckURL(request.URL.String(), g.allowLoopback); err != nil {
		return nil, err
	}
	if visitOf(request.Context()).counts(request.URL.Hostname()) {
		// Each of its pages has a connection of its own, so that each is counted.
		request = request.Clone(request.Context())
		request.Close = true
	}
	_, span := trace.Start(request.Context(), trace.Client, "site "+request.Method, "server.address", request.URL.Hostname(),
		"url.path", request.URL.Path)
	response, err := g.next.RoundTrip(request)
	if response != nil {
		span.Set("http.response.status_code", response.StatusCode)
	}
	span.End(err)
	if err != nil {
		return nil, err
	}
	if encoding := response.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		_ = response.Body.Close()
		return nil, Fail("error/fetch_failed.encoding", errors.New("content encoding "+encoding))
	}
	if response.ContentLength > g.maxBody {
		_ = response.Body.Close()
		return nil, Fail("error/fetch_too_large", nil)
	}
	response.Body = &capped{ReadCloser: response.Body, left: g.maxBody}
	// colly would decompress an unmarked body by its content type or file name,
	// without a limit.
	response.Uncompressed = true
	return response, nil
}

// capped fails when more than the allowed bytes were read. It wraps the
// transport's gzip reader, so it counts decompressed bytes.
type capped struct {
	io.ReadCloser
	left int64
}

// Read implements io.Reader.
func (c *capped) Read(p []byte) (int, error) {
	if int64(len(p)) > c.left+1 {
		p = p[:c.left+1]
	}
	n, err := c.ReadCloser.Read(p)
	c.left -= int64(n)
	if c.left < 0 {
		return n, Fail("error/fetch_too_large", nil)
	}
	return n, err
}

const (
	postTimeout = 15 * time.Second
	maxDrain    = 64 << 10 // bytes of a response that are read, so that the connection can be reused
	maxAnswer   = 4 << 10  // bytes of a response that are returned
)

// Post sends a body to a URL that a caller gave, and returns the status, the header and
// the first bytes of the response. Redirects are not followed: a 3xx is a response. The
// URL is checked as for Fetch. robots.txt and the host limiter do not apply,
// because the receiver requested the message. All errors are *Error.
func (c *Client) Post(ctx context.Context, rawURL string, header http.Header, body []byte) (
	status int, answerHeader http.Header, answer []byte, err error,
) {
	u, err := CheckURL(rawURL, c.options.AllowLoopback)
	if err != nil {
		return 0, nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, min(postTimeout, c.options.Timeout))
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return 0, nil, nil, Fail("error/url_invalid", err)
	}
	request.Header = header.Clone()
	client := http.Client{
		Transport:     guarded{c.transport, c.options.AllowLoopback, 1 << 40},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, nil, classify(err, nil)
	}
	defer response.Body.Close()
	// A body that breaks off is used as far as it came.
	answer, _ = io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	_, _ = io.CopyN(io.Discard, response.Body, maxDrain)
	return response.StatusCode, response.Header, answer, nil
}
