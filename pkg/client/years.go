package client

import (
	"context"
	"net/url"
	"strconv"

	"ushuru/pkg/retry"
	"ushuru/pkg/vehicle"
)

// yearsRounds is how often AwaitModelYears requests what is not known: the list of the
// years, and the years in two parts.
const yearsRounds = 3

// YearsQuery names a model whose taxes are compared by year of manufacture.
type YearsQuery struct {
	ModelBody     string // TRA's label
	Make          string // required when several makes have the label
	Fuel          string
	EngineCC      int
	Landing       string // a day or DAY..DAY; "" means the usual ones
	CheapestFirst bool
}

// request returns the path of the request and its query.
func (q YearsQuery) request(refresh bool) (path string, query url.Values) {
	query = url.Values{}
	setText(query, "make", q.Make)
	setText(query, "fuel", q.Fuel)
	setText(query, "landing", q.Landing)
	if q.EngineCC != 0 {
		query.Set("engine_cc", strconv.Itoa(q.EngineCC))
	}
	for name, on := range map[string]bool{"cheapestFirst": q.CheapestFirst, "refresh": refresh} {
		if on {
			query.Set(name, "true")
		}
	}
	return "/v1/vehicles/" + url.PathEscape(q.ModelBody) + "/years", query
}

// ModelYears returns the known taxes of a model by year of manufacture. With refresh it
// requests those that are not known, at most 40. An error of the API is an *Error.
func (c *Client) ModelYears(ctx context.Context, q YearsQuery, refresh bool) (*vehicle.ModelYears, error) {
	path, query := q.request(refresh)
	return get[vehicle.ModelYears](ctx, c, path, query)
}

// AwaitModelYears requests the taxes that are not known and waits for them until ctx
// ends. Years whose answer cannot be had stay unknown.
func (c *Client) AwaitModelYears(ctx context.Context, q YearsQuery) (found *vehicle.ModelYears, err error) {
	for range yearsRounds {
		if found, err = c.ModelYears(ctx, q, true); err != nil {
			return found, err
		}
		for found.Pending > 0 {
			if err := retry.Sleep(ctx, 2*pollInterval); err != nil {
				return found, err
			}
			if found, err = c.ModelYears(ctx, q, false); err != nil {
				return found, err
			}
		}
		if found.Listed && found.Unknown == 0 {
			break
		}
	}
	return found, nil
}
