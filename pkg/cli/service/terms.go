package service

import (
	"bytes"
	"encoding/json"
	"strings"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/client"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// Terms are what the caller decides about a cost.
type Terms struct {
	Rate    *money.Number     `placeholder:"TZS" help:"Exchange rate (TZS per USD) for costs other than tax."`
	Landing string            `placeholder:"DAY[..DAY]" help:"Day on which the car lands, or the first and the last one: 2027-01-20."`
	Cost    map[string]string `placeholder:"NAME=VALUE" help:"Your own figure, a field of costs in docs/estimate.md: freightUSD=900, inspection=false. Can be repeated."`
}

// Requested returns them as the API takes them.
func (f Terms) Requested() (terms client.Terms, err error) {
	terms.Rate = f.Rate
	if f.Landing != "" {
		from, to, isRange := strings.Cut(f.Landing, "..")
		if !isRange {
			to = from
		}
		terms.Landing = &vehicle.LandingDays{From: from, To: to}
	}
	terms.Costs, err = costFlags(f.Cost)
	return terms, err
}

// costFlags parses the figures of the caller; nil for none.
func costFlags(given map[string]string) (*vehicle.Costs, error) {
	if len(given) == 0 {
		return nil, nil //nolint:nilnil // none are given
	}
	values := make(map[string]json.RawMessage, len(given))
	for name, value := range given {
		values[name] = json.RawMessage(value)
	}
	var costs *vehicle.Costs
	data, err := json.Marshal(values)
	if err == nil {
		decoder := json.NewDecoder(bytes.NewReader(data))
		decoder.DisallowUnknownFields()
		err = decoder.Decode(&costs)
	}
	if err != nil {
		return nil, console.Usage("--cost: %w; examples: freightUSD=900, daysInPort=10, inspection=false", err)
	}
	return costs, nil
}
