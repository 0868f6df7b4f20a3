// Package connlimit bounds the connections of an HTTP server, in all and by address,
// and refuses requests that a proxy in front of it may read differently.
package connlimit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"ushuru/pkg/metrics"
)

// maxHead bounds what is remembered of a request. The server refuses a longer head.
const maxHead = 20 << 10

const countRefused = "api_connections_refused_total"

// logInterval is between two warnings about refused connections.
const logInterval = 10 * time.Second

const fullBody = `{"error":"The service has too many open connections. Please try again soon.","code":"too_many_connections"}`

// Options are the bounds of a Listener.
type Options struct {
	Max        int // open connections; 0 means no bound
	PerAddress int // of one address, an IPv6 network of 64 bits counts as one; 0 means no bound
	// Trusted are the networks of proxies, which open the connections of many callers:
	// PerAddress does not count their connections.
	Trusted []netip.Prefix
	Log     *slog.Logger     // nil means slog.Default()
	Metrics *metrics.Metrics // nil counts nothing
	// Translate returns what is written in place of a part of a response; nil for what stays. A
	// nil Translate leaves everything.
	Translate func([]byte) []byte
}

// Listener is a net.Listener that refuses connections beyond its bounds with a short
// 503, at once: a full server answers that it is full. Before it is full for an address,
// it closes a connection without a request of the address that has the most.
type Listener struct {
	net.Listener
	o Options

	mu     sync.Mutex
	open   int
	by     map[netip.Addr]map[*Conn]struct{}
	silent time.Time // until then no refusal is logged
	missed int       // refusals that were not logged
}

// Listen returns a listener that accepts the connections of another within bounds.
func Listen(inner net.Listener, o Options) *Listener {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	l := &Listener{Listener: inner, o: o, by: map[netip.Addr]map[*Conn]struct{}{}}
	o.Metrics.GaugeFunc("api_connections", "Open connections to the API.", func() float64 {
		l.mu.Lock()
		defer l.mu.Unlock()
		return float64(l.open)
	})
	o.Metrics.Begin(countRefused, "all")
	o.Metrics.Begin(countRefused, "address")
	return l
}

// Accept returns the next connection within the bounds.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		inner, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		conn := &Conn{Conn: inner, address: Owner(inner.RemoteAddr()), listener: l}
		conn.head.begin()
		displaced, bound := l.acquire(conn)
		if bound != "" {
			l.refuse(inner, conn.address, bound)
			continue
		}
		if displaced != nil {
			l.o.Metrics.Count("api_connections_displaced_total")
			_ = displaced.Close()
		}
		return conn, nil
	}
}

// Owner returns the address that a connection counts for: the network of 64 bits of
// an IPv6 address. It is not valid when the address is of another kind.
func Owner(remote net.Addr) netip.Addr {
	parsed, err := netip.ParseAddrPort(remote.String())
	if err != nil {
		return netip.Addr{}
	}
	address := parsed.Addr().Unmap().WithZone("")
	if address.Is6() {
		const network = 64
		if prefix, err := address.Prefix(network); err == nil {
			return prefix.Addr()
		}
	}
	return address
}

// Contains reports whether an address is in one of the networks.
func Contains(networks []netip.Prefix, address netip.Addr) bool {
	for _, network := range networks {
		if network.Contains(address) {
			return true
		}
	}
	return false
}

// acquire counts a connection, or returns the bound that it exceeds. The caller closes
// the one that was displaced, if any.
func (l *Listener) acquire(conn *Conn) (displaced *Conn, bound string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := l.by[conn.address]
	if l.o.PerAddress > 0 && len(own) >= l.o.PerAddress && !Contains(l.o.Trusted, conn.address) {
		return nil, "address"
	}
	if l.o.Max > 0 && l.open >= l.o.Max {
		if displaced = l.displaceable(len(own)); displaced == nil {
			return nil, "all"
		}
	}
	if own == nil {
		own = map[*Conn]struct{}{}
		l.by[conn.address] = own
	}
	own[conn] = struct{}{}
	l.open++
	return displaced, ""
}

// displaceable returns the connection that has been without a request for the longest
// time, of the address with the most connections, if these are more than count.
func (l *Listener) displaceable(count int) (oldest *Conn) {
	var most map[*Conn]struct{}
	for address, conns := range l.by {
		if len(conns) > max(count, len(most)) && !Contains(l.o.Trusted, address) {
			most = conns
		}
	}
	var since time.Time
	for conn := range most {
		if at, waits := conn.head.waitsSince(); waits && (oldest == nil || at.Before(since)) {
			oldest, since = conn, at
		}
	}
	return oldest
}

func (l *Listener) release(conn *Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	delete(l.by[conn.address], conn)
	if len(l.by[conn.address]) == 0 {
		delete(l.by, conn.address)
	}
}

// refuse answers 503 and closes the connection. A new connection has room for the
// answer, so that nothing waits for the client.
func (l *Listener) refuse(conn net.Conn, address netip.Addr, bound string) {
	l.o.Metrics.Count(countRefused, bound)
	l.log(address, bound)
	_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
	_, _ = fmt.Fprintf(conn, "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n"+
		"Retry-After: 5\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(fullBody), fullBody)
	_ = conn.Close()
}

// log logs a refusal, unless another was logged a moment ago.
func (l *Listener) log(address netip.Addr, bound string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); now.After(l.silent) {
		l.o.Log.Warn("connections refused", "bound", bound, "address", address.String(),
			"open", l.open, "refused_before", l.missed)
		l.silent, l.missed = now.Add(logInterval), 0
		return
	}
	l.missed++
}

// Conn is a connection within the bounds.
type Conn struct {
	net.Conn

	address  netip.Addr
	listener *Listener
	once     sync.Once
	head     head
}

// Close closes the connection and counts it no more.
func (c *Conn) Close() error {
	c.once.Do(func() { c.listener.release(c) })
	return c.Conn.Close()
}

// Read reads, and remembers the head of the request.
func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.head.add(p[:n])
	return n, err
}

// Write writes a part of a response, or what Options.Translate has in its place.
func (c *Conn) Write(p []byte) (int, error) {
	var other []byte
	if c.listener.o.Translate != nil {
		other = c.listener.o.Translate(p)
	}
	if other == nil {
		return c.Conn.Write(p)
	}
	if _, err := c.Conn.Write(other); err != nil {
		return 0, err
	}
	return len(p), nil
}

// CloseWrite lets the server end a response before it closes the connection.
func (c *Conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// head is the beginning of the bytes that came since the last response. net/http
// forgets a Content-Length beside chunks; a proxy in front of it may not (RFC 9112,
// section 6.1: request smuggling).
type head struct {
	mu    sync.Mutex
	bytes []byte
	ended bool      // the empty line was seen
	begun time.Time // when the last response had been sent, or the connection accepted
}

func (h *head) add(p []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended || len(p) == 0 {
		return
	}
	from := max(0, len(h.bytes)-3) //nolint:mnd // the rest of an empty line
	h.bytes = append(h.bytes, p[:min(len(p), max(0, maxHead-len(h.bytes)))]...)
	if at := bytes.Index(h.bytes[from:], []byte("\r\n\r\n")); at >= 0 {
		h.bytes, h.ended = h.bytes[:from+at+2], true
	}
}

// begin forgets the last request.
func (h *head) begin() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.bytes, h.ended, h.begun = h.bytes[:0], false, time.Now()
}

// waitsSince reports whether no request has come, and since when.
func (h *head) waitsSince() (since time.Time, waits bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.begun, !h.ended
}

// isPlain reports whether the head is known and has no Content-Length.
func (h *head) isPlain() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ended && !bytes.Contains(bytes.ToLower(h.bytes), []byte("\ncontent-length:"))
}

type connKey struct{}

// ConnContext is the hook of an http.Server of that name.
func ConnContext(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, conn)
}

// ConnState is the hook of an http.Server of that name.
func ConnState(conn net.Conn, state http.ConnState) {
	if c, ok := conn.(*Conn); ok && state == http.StateIdle {
		c.head.begin()
	}
}

// IsAmbiguous reports whether a request has chunks and a Content-Length. It reports the
// same of a request with chunks that was sent before the response to the one before it,
// because its head is not known. The connection must be closed after every request with
// chunks: whatever follows is then not taken for a request.
func IsAmbiguous(r *http.Request) bool {
	c, ok := r.Context().Value(connKey{}).(*Conn)
	return ok && len(r.TransferEncoding) > 0 && !c.head.isPlain()
}
