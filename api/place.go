package api

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"ushuru/api/problem"
	"ushuru/api/receive"
	"ushuru/pkg/fair"
)

const (
	// maxLargeBodies and maxExports bound the memory for large bodies that are being
	// received, and for results that are being sent. One key never has all places.
	maxLargeBodies = 6
	maxExports     = 6
	// maxQueued is how many requests of a key wait for a place at once, and placeTimeout
	// is how long each does.
	maxQueued    = 20
	placeTimeout = 15 * time.Second

	// A body must arrive at leastRate, in bytes per second, but for slowStart.
	leastRate = 32 << 10
	slowStart = 10 * time.Second

	// turnSize is how much of a large body is decoded in one turn, in bytes.
	turnSize = 256 << 10
)

// withPlace is the middleware of lists that need much memory.
func (s *Server) withPlace(next handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		release, err := takePlace(r, s.exports, errTooManyExports)
		if err != nil {
			return err
		}
		defer release()
		return next(w, r)
	}
}

// takePlace takes one of the places for what needs much memory, and waits for it.
func takePlace(r *http.Request, places *fair.Places, busy *problem.Problem) (release func(), err error) {
	owner := recorderOf(r).key.ID
	if places.Waiting(owner) >= maxQueued {
		return nil, busy
	}
	ctx, cancel := context.WithTimeout(r.Context(), placeTimeout)
	defer cancel()
	release, err = places.Take(ctx, owner)
	switch {
	case r.Context().Err() != nil && err != nil:
		return nil, errClientClosedRequest.WithCause(err)
	case err != nil:
		return nil, busy.WithCause(err)
	}
	return release, nil
}

// admitBody counts a request with a large body before the body is read, and takes a
// place for it, which the request has until its body is no longer needed. It does
// nothing to a small one. The body must then arrive at a least rate: the server's own
// timeouts are for small requests.
func (s *Server) admitBody(w http.ResponseWriter, r *http.Request) error {
	if r.ContentLength >= 0 && r.ContentLength <= maxBody {
		return nil
	}
	if err := s.checkRate(w, r); err != nil {
		return err
	}
	release, err := takePlace(r, s.bodies, errTooManyUploads)
	if err != nil {
		return err
	}
	rec := recorderOf(r)
	rec.release = sync.OnceFunc(func() {
		release()
		// A connection that does not support deadlines has none to extend.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.options.WaitMax + uploadTimeout/2))
	})
	paced := &pacedBody{ReadCloser: r.Body, control: http.NewResponseController(w), begun: time.Now()}
	rec.turn = &turn{places: s.processors, owner: rec.key.ID}
	r.Body = struct {
		io.Reader
		io.Closer
	}{bufio.NewReaderSize(&turnedReader{paced, r.Context(), rec.turn}, turnSize), r.Body}
	return nil
}

// pacedBody is a body that must arrive at a least rate.
type pacedBody struct {
	io.ReadCloser
	control *http.ResponseController
	begun   time.Time
	got     int64
}

// Read returns receive.ErrTooSlow when the body has arrived more slowly.
func (b *pacedBody) Read(p []byte) (int, error) {
	deadline := b.begun.Add(slowStart + time.Duration(b.got)*time.Second/leastRate)
	_ = b.control.SetReadDeadline(deadline)
	_ = b.control.SetWriteDeadline(deadline.Add(uploadTimeout))
	n, err := b.ReadCloser.Read(p)
	b.got += int64(n)
	if sent, compressed := b.ReadCloser.(interface{ Wire() int64 }); compressed {
		b.got = sent.Wire() // what a small body becomes does not make it arrive faster
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return n, receive.ErrTooSlow.WithCause(err)
	}
	return n, err
}
