package await

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"ushuru/api/request"
	"ushuru/pkg/pace"
)

// Turn returns a turn of an owner at the processors.
func (l *Limits) Turn(owner string) *pace.Turn { return l.options.Processor.Turn(owner) }

// Admit bills a request to its caller before anything of it is read, and has its
// computations take turns. A caller who has used more than a share of the processors is
// refused.
func (l *Limits) Admit(r *request.Request) error {
	r.Place.Turn = l.Turn(r.Caller())
	return l.options.Processor.Admit(r.Caller())
}

// remembered is how long what was computed is kept, and maxRemembered how many of these.
const (
	remembered    = time.Minute
	maxRemembered = 512
)

type computed struct {
	result []byte
	at     time.Time
}

// Compute computes bytes in the turn of a request, unless they were computed in the last
// minute: identity names what they depend on; nil remembers nothing. The computation may give
// the turn back while it waits for something. What a request gets that has counted against
// its rate is billed, and never refused.
func (l *Limits) Compute(r *request.Request, identity any, compute func() ([]byte, error)) ([]byte, error) {
	key := ""
	if identity != nil {
		name, err := json.Marshal(identity)
		if err != nil {
			return nil, fmt.Errorf("await: identity of a computation: %w", err)
		}
		key = request.Hash(name)
		if known, ok := l.computed.Get(key); ok && time.Since(known.at) < remembered {
			return known.result, nil
		}
	}
	begin := r.Place.Turn.Begin
	if r.Counted {
		begin = r.Place.Turn.Take
	}
	if err := begin(r.Context()); err != nil {
		return nil, err
	}
	defer r.Place.Turn.Give()
	result, err := compute()
	if err == nil && result != nil && key != "" {
		l.computed.Add(key, computed{result, time.Now()})
	}
	return result, err
}

// turnSize is how much of a large body is decoded in one turn, in bytes.
const turnSize = 256 << 10

// takeTurns has the body of a request decoded in turns.
func takeTurns(r *request.Request, from io.Reader) {
	turned := &turnedReader{from, r.Context(), r.Place.Turn}
	size := turnSize
	if r.ContentLength >= 0 {
		size = min(size, int(r.ContentLength)+1) // the end is read with the last byte
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{bufio.NewReaderSize(turned, size), r.Body}
}

// turnedReader is a reader of a connection: the place is given back while it waits.
type turnedReader struct {
	io.Reader
	ctx  context.Context //nolint:containedctx // a Reader has no other way to learn of its end
	turn *pace.Turn
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
