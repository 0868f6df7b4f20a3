package tra

import (
	"context"
	"errors"
)

// ErrNotKnown means that the cache has no fresh answer: only the authority can
// give it.
var ErrNotKnown = errors.New("tra: the answer is not known")

// Known returns the authority's answers from the cache only. It never calls the
// authority and needs no client of it, so that a worker of any role can use it.
// An answer is fresh exactly as long as it is for an Authority: until the end of
// its quarter, until the authority shows a later period, and an empty list for
// EmptyListTTL. What is not cached or not fresh is ErrNotKnown.
type Known struct{ store *Store }

// Known returns the cached answers of the store's Redis.
func (s *Store) Known() *Known { return &Known{s} }

// Years returns the years of manufacture of a label.
func (k *Known) Years(ctx context.Context, m Make, modelBody string) ([]int, error) {
	return known[[]int](ctx, k.store, yearsOf(m, modelBody))
}

// Countries returns the countries of origin of a label and year.
func (k *Known) Countries(ctx context.Context, m Make, modelBody string, yom int) ([]string, error) {
	return known[[]string](ctx, k.store, countriesOf(m, modelBody, yom))
}

// Fuels returns the fuel types of a label, year and country.
func (k *Known) Fuels(ctx context.Context, m Make, modelBody string, yom int, country string) ([]string, error) {
	return known[[]string](ctx, k.store, fuelsOf(m, modelBody, yom, country))
}

// Capacities returns the engine capacity bands of a label, year, country and fuel.
func (k *Known) Capacities(ctx context.Context, m Make, modelBody string, yom int, country, fuel string) ([]string, error) {
	return known[[]string](ctx, k.store, capacitiesOf(m, modelBody, yom, country, fuel))
}

// Details returns the tax on one vehicle. It uses the name of the make m, not the
// id of v.
func (k *Known) Details(ctx context.Context, m Make, v Vehicle) (Calculation, error) {
	got, err := knownAnswer[calculation](ctx, k.store, detailsOf(m, v))
	if err != nil {
		return Calculation{}, err
	}
	return Calculation{got.Answer.Tax, got.Answer.Warnings, got.At, false}, nil
}

func known[T any](ctx context.Context, store *Store, q listRequest) (answer T, _ error) {
	got, err := knownAnswer[T](ctx, store, q)
	return got.Answer, err
}

// knownAnswer returns the fresh answer to a request, or ErrNotKnown.
func knownAnswer[T any](ctx context.Context, store *Store, q listRequest) (cachedAnswer[T], error) {
	key, err := q.key()
	if err != nil {
		return cachedAnswer[T]{}, err
	}
	got, err := lookup[T](ctx, store, key)
	switch {
	case err != nil:
		return cachedAnswer[T]{}, err
	case !got.fresh:
		return cachedAnswer[T]{}, ErrNotKnown
	}
	return got, nil
}
