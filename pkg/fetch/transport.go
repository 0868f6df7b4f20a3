package fetch

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"ushuru/pkg/message"
)

// newTransport connects to public addresses only. Proxy is nil on purpose: a
// proxy would resolve names where the dialer cannot check the result.
func newTransport(allowLoopback bool, resolver *net.Resolver) *http.Transport {
	dialer := &net.Dialer{
		Timeout:  10 * time.Second,
		Resolver: resolver,
		Control: func(network, address string, conn syscall.RawConn) error {
			if to, err := netip.ParseAddrPort(address); err == nil && allowLoopback && to.Addr().IsLoopback() {
				return nil
			}
			return dialGuard.Safe(network, address, conn)
		},
	}
	return &http.Transport{
		DialContext:            dialer.DialContext,
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
	response, err := g.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if encoding := response.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		_ = response.Body.Close()
		return nil, &Error{
			Notice: message.New("error/fetch_failed.encoding", nil),
			Cause:  errors.New("content encoding " + encoding),
		}
	}
	if response.ContentLength > g.maxBody {
		_ = response.Body.Close()
		return nil, tooLarge()
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
		return n, tooLarge()
	}
	return n, err
}

func tooLarge() error {
	return &Error{Notice: message.New("error/fetch_too_large", nil)}
}
