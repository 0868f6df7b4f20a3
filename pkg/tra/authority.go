package tra

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/singleflight"

	"ushuru/pkg/vehicle"
)

// AuthorityOptions of an Authority. The zero value is good for production but
// for PerSecond, which should be set.
type AuthorityOptions struct {
	PerSecond       int           // calls per second of all processes together; 0: no limit
	BreakerFailures uint32        // so many outages in a row open the breaker; default 10
	BreakerTimeout  time.Duration // how long it stays open; default 60 s
	EmptyListTTL    time.Duration // how long an empty list is believed; default 10 min

	// Again is how often a call that the authority fails at once is made again,
	// after a moment, before its error is anybody's: an estimate takes five
	// calls, and the catalogue one for each make. 0 is never.
	Retries int

	// Observe, if set, is told of every call that was made, for metrics. The
	// error is nil, a *Error, or that of a context that ended.
	OnCall func(call string, took time.Duration, err error)

	// Answered, if set, is told of every calculation that the authority made,
	// not of those from the cache.
	OnAnswer func(ctx context.Context, request Request, tax vehicle.Tax)
}

// Question is the vehicle of a calculation, and its make by name.
type Request struct {
	Vehicle
	Make string `json:"make"`
}

// Authority is the authority as the rest of the service uses it: the client
// behind a rate limit, a breaker and a cache that all processes share. It
// also keeps the status up to date. Answers are cached per exact arguments,
// by the name of the make rather than its id, up to the end of the quarter or
// until the authority shows a later quarter.
type Authority struct {
	client         *Client
	store          *Store
	options        AuthorityOptions
	throttle       *throttle
	flight         singleflight.Group
	statusRecorder statusRecorder
}

// NewAuthority puts the gates and caches before a client. Its clock and its
// Redis are those of the store.
func NewAuthority(client *Client, store *Store, o AuthorityOptions) *Authority {
	// At five, an authority that fails three calls in ten, and answers the
	// others, would be left alone every four hundred calls.
	o.BreakerFailures = orDefault(o.BreakerFailures, 10)
	o.BreakerTimeout = orDefault(o.BreakerTimeout, time.Minute)
	o.EmptyListTTL = orDefault(o.EmptyListTTL, 10*time.Minute)
	return &Authority{client: client, store: store, options: o, throttle: newThrottle(store, o)}
}

// Makes asks for the makes; not cached, as the Store keeps the catalogue.
func (a *Authority) Makes(ctx context.Context) ([]Make, error) {
	return call(ctx, a, callMakes, func(ctx context.Context) ([]Make, error) { return a.client.Makes(ctx) })
}

// ModelBodies asks for the labels of a make; not cached, as the Store keeps
// the catalogue.
func (a *Authority) ModelBodies(ctx context.Context, makeID int) ([]string, error) {
	return call(ctx, a, callModelBody, func(ctx context.Context) ([]string, error) { return a.client.ModelBodies(ctx, makeID) })
}

// Years are the years of manufacture of a label.
func (a *Authority) Years(ctx context.Context, m Make, modelBody string) ([]int, error) {
	asked := listRequest{Call: callYears, Make: m.Name, ModelBody: modelBody}
	return cachedList(ctx, a, asked, func(ctx context.Context) ([]int, error) {
		return a.client.Years(ctx, m.ID, modelBody)
	})
}

// Countries are the countries of origin of a label and year.
func (a *Authority) Countries(ctx context.Context, m Make, modelBody string, yom int) ([]string, error) {
	asked := listRequest{Call: callCountries, Make: m.Name, ModelBody: modelBody, YOM: yom}
	return cachedList(ctx, a, asked, func(ctx context.Context) ([]string, error) {
		return a.client.Countries(ctx, m.ID, modelBody, yom)
	})
}

// Fuels are the fuel types of a label, year and country.
func (a *Authority) Fuels(ctx context.Context, m Make, modelBody string, yom int, country string) ([]string, error) {
	asked := listRequest{Call: callFuels, Make: m.Name, ModelBody: modelBody, YOM: yom, Country: country}
	return cachedList(ctx, a, asked, func(ctx context.Context) ([]string, error) {
		return a.client.Fuels(ctx, m.ID, modelBody, yom, country)
	})
}

// Capacities are the engine capacity bands of a label, year, country and fuel.
func (a *Authority) Capacities(ctx context.Context, m Make, modelBody string, yom int, country, fuel string) ([]string, error) {
	asked := listRequest{Call: callCapacities, Make: m.Name, ModelBody: modelBody, YOM: yom, Country: country, Fuel: fuel}
	return cachedList(ctx, a, asked, func(ctx context.Context) ([]string, error) {
		return a.client.Capacities(ctx, m.ID, modelBody, yom, country, fuel)
	})
}

// Calculation is the tax on one vehicle, as the authority gave it.
type Calculation struct {
	Tax      vehicle.Tax
	Warnings []vehicle.Warning // doubts about the figures
	At       time.Time         // when the authority gave them; of an answer that was kept, when it was new
}

// Details is the tax on one vehicle. The id of the make is taken from m,
// whatever v says.
func (a *Authority) Details(ctx context.Context, m Make, v Vehicle) (Calculation, error) {
	v.MakeID = m.ID
	asked := listRequest{
		Call: callDetails, Make: m.Name, ModelBody: v.ModelBody, YOM: v.YOM,
		Country: v.Country, Fuel: v.FuelType, Capacity: v.EngineCapacity,
	}
	got, err := cached(ctx, a, asked, func(ctx context.Context) (calculation, time.Duration, error) {
		tax, warnings, err := a.client.Details(ctx, v)
		if err == nil {
			err = retryWrite(ctx, func() error { return a.store.recordPeriod(ctx, periodOf(tax)) })
		}
		return calculation{tax, warnings}, 0, err
	}, func(ctx context.Context, made calculation) {
		if a.options.OnAnswer != nil {
			a.options.OnAnswer(ctx, Request{v, m.Name}, made.Tax)
		}
	})
	if err != nil {
		return Calculation{}, err
	}
	warnings := got.Answer.Warnings
	if !got.fresh {
		warnings = append(warnings, vehicle.Warning{
			Code: WarnStale,
			Message: "The authority cannot be asked now; this is its answer of " +
				got.At.In(eat).Format("2 January 2006") + ", which may have been revised since.",
		})
	}
	return Calculation{got.Answer.Tax, warnings, got.At}, nil
}

// calculation is the cached answer about one vehicle.
type calculation struct {
	Tax      vehicle.Tax       `json:"tax"`
	Warnings []vehicle.Warning `json:"warnings,omitempty"`
}

// call makes one call behind the gates, again when it is worth it.
func call[T any](ctx context.Context, a *Authority, name string, ask func(context.Context) (T, error)) (T, error) {
	for tried := 0; ; tried++ {
		result, took, err := callOnce(ctx, a, name, ask)
		if tried >= a.options.Retries || !isRetryable(took, err) || !pause(ctx, retryDelay<<tried) {
			return result, err
		}
	}
}

const (
	retryDelay  = 100 * time.Millisecond // doubles
	retryWindow = 2 * time.Second        // a call that took longer shows an authority that has enough to do
)

// isRetryable says whether a call failed in a way that the next may not: at
// once, and without a word on when to come again.
func isRetryable(took time.Duration, err error) bool {
	failure, ok := errors.AsType[*Error](err)
	return ok && failure.Temporary() && failure.RetryAfter == 0 && took < retryWindow
}

// pause waits for d and up to half as long again; false when ctx ends.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d + rand.N(d/2)) //nolint:gosec // so that not all come at once
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// callOnce makes one call behind the gates and notes how it went.
func callOnce[T any](
	ctx context.Context, a *Authority, name string, ask func(context.Context) (T, error),
) (_ T, took time.Duration, _ error) {
	called := false
	result, err := a.throttle.allow(ctx, func() (any, error) {
		called = true
		start := time.Now()
		result, err := ask(ctx)
		took = time.Since(start)
		return result, err
	})
	if called {
		if a.options.OnCall != nil {
			a.options.OnCall(name, took, err)
		}
		a.recordCall(ctx, took, err) // after the breaker learnt of it
	}
	typed, _ := result.(T)
	return typed, took, err
}
