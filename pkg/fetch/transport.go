package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"code.dny.dev/ssrf"

	"ushuru/pkg/trace"
)

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
