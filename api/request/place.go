package request

import (
	"context"

	"ushuru/pkg/pace"
)

// Place is what a request with a large body has while the body is read: room in memory,
// and turns at the processors to decode it. The zero value is that of a small body.
type Place struct {
	Turn    *Turn  // nil without one
	Release func() // gives the room back; nil without one
}

// Leave gives the place back, once the body is not needed.
func (p *Place) Leave() {
	p.Turn.Give()
	if p.Release != nil {
		p.Release()
	}
}

// Turn is a request's place for a long computation. It must be given back before the
// request waits for a connection. Keys take turns.
type Turn struct {
	places  *pace.Places
	owner   string
	release func() // nil without the place
}

// NewTurn returns a turn of an owner at the places for long computations.
func NewTurn(places *pace.Places, owner string) *Turn { return &Turn{places: places, owner: owner} }

// Take waits for the place, unless the request has it. Others have it for as long as
// they compute.
func (t *Turn) Take(ctx context.Context) error {
	if t == nil || t.release != nil {
		return nil
	}
	var err error
	t.release, err = t.places.Take(ctx, t.owner)
	return err
}

// Give gives the place back, if the request has it.
func (t *Turn) Give() {
	if t != nil && t.release != nil {
		t.release()
		t.release = nil
	}
}
