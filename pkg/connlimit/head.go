package connlimit

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// maxHead bounds what is remembered of a request. The server refuses a longer head.
const maxHead = 20 << 10

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
