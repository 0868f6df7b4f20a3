package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// caller is a customer of the service with a key and an address of its own. What
// it sends and gets is counted.
type caller struct {
	s      *underAttack
	key    string
	from   net.IP
	client *http.Client

	connections, requests, sent, received atomic.Int64
}

// caller creates a key and its caller.
func (s *underAttack) caller(name string) *caller {
	s.t.Helper()
	c := &caller{s: s, key: s.key(name), from: s.address()}
	c.client = c.clientFrom(c.from)
	return c
}

// clientFrom returns an HTTP client at an address, whose bytes count as the caller's.
func (c *caller) clientFrom(from net.IP) *http.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 256, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return c.dial(ctx, from)
	}}
	c.s.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// dial opens a connection to the API from an address. Its bytes are counted.
func (c *caller) dial(ctx context.Context, from net.IP) (net.Conn, error) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: from}}
	conn, err := dialer.DialContext(ctx, "tcp", c.s.api.Started.Address)
	if err != nil {
		return nil, err
	}
	c.connections.Add(1)
	return &counted{conn, c}, nil
}

// connect opens a connection to the API for an attack below HTTP, and sends something.
func (c *caller) connect(ctx context.Context, from net.IP, sent string) (net.Conn, error) {
	conn, err := c.dial(ctx, from)
	if err != nil {
		return nil, err
	}
	_, err = io.WriteString(conn, sent)
	return conn, err // it may have been refused already; the answer can be read
}

// head is the head of a request with the caller's key and more headers.
func (c *caller) head(method, path string, headers ...string) string {
	lines := append([]string{method + " " + path + " HTTP/1.1", "Host: attack", "X-Api-Key: " + c.key}, headers...)
	return strings.Join(lines, "\r\n") + "\r\n\r\n"
}

// counted is a connection whose bytes are counted.
type counted struct {
	net.Conn

	c *caller
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.c.received.Add(int64(n))
	return n, err
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.c.sent.Add(int64(n))
	return n, err
}

// response is what the API answered; status 0 when there was none.
type response struct {
	status int
	header http.Header
	body   []byte
	err    error
}

// request sends a request and reads the response. The headers are pairs.
func (c *caller) request(ctx context.Context, method, path string, body io.Reader, headers ...string) response {
	r, err := http.NewRequestWithContext(ctx, method, c.s.base+path, body)
	if err != nil {
		return response{err: err}
	}
	r.Header.Set("X-Api-Key", c.key)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	c.requests.Add(1)
	got, err := c.client.Do(r)
	if err != nil {
		return response{err: err}
	}
	defer func() { _ = got.Body.Close() }()
	data, err := io.ReadAll(got.Body)
	return response{got.StatusCode, got.Header, data, err}
}

// post sends a value as JSON.
func (c *caller) post(ctx context.Context, path string, body any, headers ...string) response {
	data, err := json.Marshal(body)
	if err != nil {
		return response{err: err}
	}
	return c.request(ctx, http.MethodPost, path, bytes.NewReader(data), headers...)
}

// submit asks for a listing without waiting for the result.
func (c *caller) submit(ctx context.Context, url string) {
	c.post(ctx, "/v1/estimate", map[string]string{"url": url}, "Prefer", "respond-async")
}

// atOnce runs do n times at once, and each again with the next number until ctx
// is done; every round lasts at least 20 ms.
func atOnce(ctx context.Context, n int, do func(ctx context.Context, i int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for ctx.Err() == nil {
				do(ctx, int(next.Add(1)-1))
				sleep(ctx, 20*time.Millisecond)
			}
		})
	}
	all.Wait()
}

func TestCallerCountsItsBytes(t *testing.T) {
	t.Parallel()
	c := &caller{}
	here, there := net.Pipe()
	go func() { _, _ = io.Copy(there, there) }()
	conn := &counted{here, c}
	_, err := conn.Write([]byte("12345"))
	must(t, err)
	_, err = io.ReadFull(conn, make([]byte, 5))
	must(t, err)
	must(t, there.Close())
	if c.sent.Load() != 5 || c.received.Load() != 5 {
		t.Errorf("%d bytes sent, %d received", c.sent.Load(), c.received.Load())
	}
}
