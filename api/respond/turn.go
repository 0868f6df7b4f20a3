package respond

import (
	"context"

	"ushuru/pkg/fair"
)

// Turn is a request's place for a long computation. It must be given back before the
// request waits for a connection. Keys take turns.
type Turn struct {
	places  *fair.Places
	owner   string
	release func() // nil without the place
}

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

// NewTurn returns a turn of an owner at the places for long computations.
func NewTurn(places *fair.Places, owner string) *Turn { return &Turn{places: places, owner: owner} }
