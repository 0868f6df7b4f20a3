package tra

import (
	"context"
	"errors"

	"ushuru/pkg/tra/catalogue"
)

// ErrNotKnown means that the cache has no fresh answer: only the authority can
// give it.
var ErrNotKnown = errors.New("tra: the answer is not known")

// Known returns the authority's answers from the cache only. It never calls the
// authority and needs no client of it, so that a worker of any role can use it.
// An answer is fresh exactly as long as it is for an Authority: until the end of
// its quarter, until the authority shows a later period, and an empty list for
// EmptyListTTL. What is not cached or not fresh is ErrNotKnown.
type Known struct {
	store *Store
	stale bool
}

// Known returns the cached answers of the store's Redis.
func (s *Store) Known() *Known { return &Known{store: s} }

// Stale returns also the cached answers that are not fresh any more. They are for
// the time in which the authority cannot be asked; their calculations say so.
func (s *Store) Stale() *Known { return &Known{s, true} }

// List returns the values of the first empty field of a vehicle of the make m.
func (k *Known) List(ctx context.Context, m catalogue.Make, v catalogue.Vehicle) ([]string, error) {
	got, err := knownAnswer[[]string](ctx, k, requestOf(m, v))
	return got.Answer, err
}

// Details returns the tax on one vehicle. It uses the name of the make m, not the
// id of v.
func (k *Known) Details(ctx context.Context, m catalogue.Make, v catalogue.Vehicle) (Calculation, error) {
	got, err := knownAnswer[calculation](ctx, k, requestOf(m, v))
	if err != nil {
		return Calculation{}, err
	}
	return calculationOf(got), nil
}

// knownAnswer returns the answer to a request, or ErrNotKnown.
func knownAnswer[T any](ctx context.Context, k *Known, q listRequest) (cachedAnswer[T], error) {
	got, err := lookup[T](ctx, k.store, q.key())
	switch {
	case err != nil:
		return cachedAnswer[T]{}, err
	case !got.found || !got.fresh && !k.stale:
		k.store.onLookup(q, false)
		return cachedAnswer[T]{}, ErrNotKnown
	}
	k.store.onLookup(q, true)
	return got, nil
}
