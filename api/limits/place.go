package limits

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"runtime"
	"sync"
	"time"

	"ushuru/api/problem"
	"ushuru/api/receive"
	"ushuru/api/respond"
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

	// uploadTimeout is for the response to a large body.
	uploadTimeout = time.Minute

	// turnSize is how much of a large body is decoded in one turn, in bytes.
	turnSize = 256 << 10
)

// WithPlace is the middleware of lists that need much memory.
func (l *Limits) WithPlace(next respond.Handler) respond.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		release, err := l.TakeExport(r)
		if err != nil {
			return err
		}
		defer release()
		return next(w, r)
	}
}

// TakeExport takes a place for results that are being sent, and waits for it.
func (l *Limits) TakeExport(r *http.Request) (release func(), err error) {
	return takePlace(r, l.exports, errTooManyExports)
}

// Turn returns a turn of an owner at the processors for long computations.
func (l *Limits) Turn(owner string) *respond.Turn { return respond.NewTurn(l.processors, owner) }

// takePlace takes one of the places for what needs much memory, and waits for it.
func takePlace(r *http.Request, places *fair.Places, busy *problem.Problem) (release func(), err error) {
	owner := respond.RecorderOf(r).Key.ID
	if places.Waiting(owner) >= maxQueued {
		return nil, busy
	}
	ctx, cancel := context.WithTimeout(r.Context(), placeTimeout)
	defer cancel()
	release, err = places.Take(ctx, owner)
	switch {
	case r.Context().Err() != nil && err != nil:
		return nil, respond.ErrClientClosedRequest.WithCause(err)
	case err != nil:
		return nil, busy.WithCause(err)
	}
	return release, nil
}

// AdmitBody counts a request with a large body before the body is read, and takes a
// place for it, which the request has until its body is no longer needed. It does
// nothing to a small one. The body must then arrive at a least rate: the server's own
// timeouts are for small requests.
func (l *Limits) AdmitBody(w http.ResponseWriter, r *http.Request) error {
	if r.ContentLength >= 0 && r.ContentLength <= receive.MaxBody {
		return nil
	}
	if err := l.CheckRate(w, r); err != nil {
		return err
	}
	release, err := takePlace(r, l.bodies, errTooManyUploads)
	if err != nil {
		return err
	}
	rec := respond.RecorderOf(r)
	rec.Release = sync.OnceFunc(func() {
		release()
		// A connection that does not support deadlines has none to extend.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(l.options.WaitMax + uploadTimeout/2))
	})
	paced := &pacedBody{ReadCloser: r.Body, control: http.NewResponseController(w), begun: time.Now()}
	rec.Turn = l.Turn(rec.Key.ID)
	r.Body = struct {
		io.Reader
		io.Closer
	}{bufio.NewReaderSize(&turnedReader{paced, r.Context(), rec.Turn}, turnSize), r.Body}
	return nil
}

// pacedBody is a body that must arrive at a least rate.
type pacedBody struct {
	io.ReadCloser
	control *http.ResponseController
	begun   time.Time
	got     int64
}

// Read returns respond.ErrTooSlow when the body has arrived more slowly.
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
		return n, respond.ErrTooSlow.WithCause(err)
	}
	return n, err
}

// turnedReader is a reader of a connection: the place is given back while it waits.
type turnedReader struct {
	io.Reader
	ctx  context.Context //nolint:containedctx // a Reader has no other way to learn of its end
	turn *respond.Turn
}

// Read implements io.Reader.
func (r *turnedReader) Read(p []byte) (int, error) {
	r.turn.Give()
	n, err := r.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		return n, err // net/http has cancelled the request: no turn is needed to say why
	}
	if taken := r.turn.Take(r.ctx); taken != nil {
		return n, taken
	}
	return n, err
}

// newProcessors returns the places for long computations, such as decoding a large body
// or composing an export: one processor is left over for all other requests.
func newProcessors() *fair.Places { return fair.NewPlaces(max(1, runtime.GOMAXPROCS(0)-1)) }
