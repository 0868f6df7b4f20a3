package operate

import (
	"context"
	"errors"
	"fmt"

	"ushuru/pkg/cache"
	"ushuru/pkg/listing"
	"ushuru/pkg/tra"
	"ushuru/tasks"
)

// Dropped is what was removed from the caches.
type Dropped struct {
	Results      int `json:"results"`      // estimates, quotes and comparisons
	Calculations int `json:"calculations"` // of TRA
	Refusals     int `json:"refusals"`     // that equal requests would have joined
}

// DropURL deletes what is cached of a listing: its estimates of all API keys with all
// choices, the comparisons with it, and a refusal that is remembered. The next request
// reads the page again.
func (o *Operator) DropURL(ctx context.Context, url string) (Dropped, error) {
	return act(ctx, o, "cache drop", url, func() (d Dropped, err error) {
		canonical, err := listing.Canonical(url, o.options.AllowLoopback)
		if err != nil {
			return d, fmt.Errorf("operate: %s: %w", url, err)
		}
		if d.Refusals, err = o.forgetRefusal(ctx, canonical); err != nil {
			return d, err
		}
		d.Results, err = cache.Drop(ctx, o.options.Redis, func(object map[string]any) bool { return object["url"] == canonical })
		return d, err
	})
}

// forgetRefusal lets the next estimate of a URL start a new job although the last one was
// refused.
func (o *Operator) forgetRefusal(ctx context.Context, url string) (int, error) {
	key, err := tasks.DedupKey(tasks.KindEstimate, tasks.EstimateInput{URL: url})
	if err != nil {
		return 0, err
	}
	refused, err := o.jobs.ForgetRefusal(ctx, key)
	if refused {
		return 1, err
	}
	return 0, err
}

// ErrTuple means that a tuple names too many vehicles.
var ErrTuple = errors.New("operate: a tuple needs at least a make and a model body")

// DropTuple deletes TRA's calculations of the vehicles of a tuple, and the estimates, quotes
// and comparisons with them. The next request asks TRA again.
func (o *Operator) DropTuple(ctx context.Context, t tra.Tuple) (Dropped, error) {
	return act(ctx, o, "cache drop", fmt.Sprintf("%+v", t), func() (d Dropped, err error) {
		if t.Make == "" || t.ModelBody == "" {
			return d, ErrTuple
		}
		if d.Calculations, err = o.tra.DropCalculations(ctx, t); err != nil {
			return d, err
		}
		d.Results, err = cache.Drop(ctx, o.options.Redis, func(object map[string]any) bool {
			label, isMatch := object["modelBody"].(string)
			_, isMatched := object["matchType"]
			if !isMatch || !isMatched {
				return false
			}
			text := func(name string) string {
				value, _ := object[name].(string)
				return value
			}
			year, _ := object["yom"].(float64)
			return t.Matches(tra.Tuple{
				Make: text("make"), ModelBody: label, YOM: int(year), Country: text("country"), Fuel: text("fuelType"),
				Capacity: text("capacityBand"),
			})
		})
		return d, err
	})
}
