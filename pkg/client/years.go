package client

import (
	"context"
	"net/http"
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
func (q YearsQuery) request() (path string, query url.Values) {
	query = url.Values{}
	setText(query, "make", q.Make)
	setText(query, "fuel", q.Fuel)
	setText(query, "landing", q.Landing)
	if q.EngineCC != 0 {
		query.Set("engine_cc", strconv.Itoa(q.EngineCC))
	}
	if q.CheapestFirst {
		query.Set("cheapestFirst", "true")
	}
	return "/v1/vehicles/" + url.PathEscape(q.ModelBody) + "/years", query
}

// ModelYears returns the known taxes of a model by year of manufacture. An error of the API
// is an *Error.
func (c *Client) ModelYears(ctx context.Context, q YearsQuery) (*vehicle.ModelYears, error) {
	path, query := q.request()
	return get[vehicle.ModelYears](ctx, c, path, query)
}

// RequestModelYears is ModelYears, and requests those that are not known, at most 40.
func (c *Client) RequestModelYears(ctx context.Context, q YearsQuery) (*vehicle.ModelYears, error) {
	path, query := q.request()
	return call[vehicle.ModelYears](ctx, c, Request{Method: http.MethodPost, Path: withQuery(path, query)})
}

// AwaitModelYears requests the taxes that are not known and waits for them until ctx
// ends. Years whose answer cannot be had stay unknown.
func (c *Client) AwaitModelYears(ctx context.Context, q YearsQuery) (found *vehicle.ModelYears, err error) {
	for range yearsRounds {
		if found, err = c.RequestModelYears(ctx, q); err != nil {
			return found, err
		}
		for found.Pending > 0 {
			if err := retry.Sleep(ctx, 2*pollInterval); err != nil {
				return found, err
			}
			if found, err = c.ModelYears(ctx, q); err != nil {
				return found, err
			}
		}
		if found.Listed && found.Unknown == 0 {
			break
		}
	}
	return found, nil
}
