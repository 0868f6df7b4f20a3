package api

import (
	"context"
	"errors"
	"io"
	"runtime"

	"ushuru/pkg/fair"
)

// newProcessors returns the places for long computations, such as decoding a large body
// or composing an export: one processor is left over for all other requests.
func newProcessors() *fair.Places { return fair.NewPlaces(max(1, runtime.GOMAXPROCS(0)-1)) }

// turn is a request's place for a long computation. It must be given back before the
// request waits for a connection. Keys take turns.
type turn struct {
	places  *fair.Places
	owner   string
	release func() // nil without the place
}

// take waits for the place, unless the request has it. Others have it for as long as
// they compute.
func (t *turn) take(ctx context.Context) error {
	if t == nil || t.release != nil {
		return nil
	}
	var err error
	t.release, err = t.places.Take(ctx, t.owner)
	return err
}

// give gives the place back, if the request has it.
func (t *turn) give() {
	if t != nil && t.release != nil {
		t.release()
		t.release = nil
	}
}

// turnedReader is a reader of a connection: the place is given back while it waits.
type turnedReader struct {
	io.Reader
	ctx  context.Context //nolint:containedctx // a Reader has no other way to learn of its end
	turn *turn
}

// Read implements io.Reader.
func (r *turnedReader) Read(p []byte) (int, error) {
	r.turn.give()
	n, err := r.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		return n, err // net/http has cancelled the request: no turn is needed to say why
	}
	if taken := r.turn.take(r.ctx); taken != nil {
		return n, taken
	}
	return n, err
}
