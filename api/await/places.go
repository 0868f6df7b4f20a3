package await

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/pkg/pace"
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

	// uploadTimeout is for the response to a large body.
	uploadTimeout = time.Minute
)

// WithPlace is the middleware of lists that need much memory.
func (l *Limits) WithPlace(next request.Handler) request.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		release, err := l.TakeExport(request.From(r))
		if err != nil {
			return err
		}
		defer release()
		return next(w, r)
	}
}

// TakeExport takes a place for results that are being sent, and waits for it.
func (l *Limits) TakeExport(r *request.Request) (release func(), err error) {
	return takePlace(r, l.exports, errTooManyExports)
}

// takePlace takes one of the places for what needs much memory, and waits for it.
func takePlace(r *request.Request, places *pace.Places, busy *problem.Problem) (release func(), err error) {
	owner := r.Caller()
	ctx, cancel := context.WithTimeout(r.Context(), placeTimeout)
	defer cancel()
	release, err = places.TakeAmong(ctx, owner, maxQueued)
	switch {
	case r.Context().Err() != nil && err != nil:
		return nil, request.ErrClientClosedRequest.WithCause(err)
	case err != nil:
		return nil, busy.WithCause(err)
	}
	return release, nil
}

// WithBody is the middleware of endpoints whose body may be large.
func (l *Limits) WithBody(next request.Handler) request.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := l.AdmitBody(w, request.From(r)); err != nil {
			return err
		}
		return next(w, r)
	}
}

// AdmitBody counts a request with a large body before the body is read, and takes a
// place for it, which the request has until its body is no longer needed. A small one is
// only decoded in turns. The body must then arrive at a least rate: the server's own
// timeouts are for small requests.
func (l *Limits) AdmitBody(w http.ResponseWriter, r *request.Request) error {
	if r.Place.Turn == nil {
		r.Place.Turn = l.Turn(r.Caller())
	}
	if r.ContentLength >= 0 && r.ContentLength <= request.MaxBody {
		takeTurns(r, r.Body)
		return nil
	}
	if err := l.CheckRate(w, r); err != nil {
		return err
	}
	release, err := takePlace(r, l.bodies, errTooManyUploads)
	if err != nil {
		return err
	}
	r.Place.Release = sync.OnceFunc(func() {
		release()
		// A connection that does not support deadlines has none to extend.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(l.options.WaitMax + uploadTimeout/2))
	})
	paced := &pacedBody{ReadCloser: r.Body, control: http.NewResponseController(w), begun: time.Now()}
	takeTurns(r, paced)
	return nil
}

// pacedBody is a body that must arrive at a least rate.
type pacedBody struct {
	io.ReadCloser
	control *http.ResponseController
	begun   time.Time
	got     int64
}

// Read returns request.ErrTooSlow when the body has arrived more slowly.
func (b *pacedBody) Read(p []byte) (int, error) {
	deadline := b.begun.Add(slowStart + time.Duration(b.got)*time.Second/leastRate)
	_ = b.control.SetReadDeadline(deadline)
	_ = b.control.SetWriteDeadline(deadline.Add(uploadTimeout))
	n, err := b.ReadCloser.Read(p)
	b.got += int64(n)
	if sent, compressed := request.WireBytes(b.ReadCloser); compressed {
		b.got = sent // what a small body becomes does not make it arrive faster
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return n, request.ErrTooSlow.WithCause(err)
	}
	return n, err
}
