package batches

import (
	"cmp"
	"context"
	"math"
	"slices"

	"ushuru/api/request"
	"ushuru/pkg/batch"
	"ushuru/pkg/export"
	"ushuru/pkg/vehicle"
)

// sortKeys are the orders of results: a function that is least for the row that comes
// first. Rows without the figure come last, in their own order.
var sortKeys = map[string]func(*vehicle.Estimate) (key float64, ok bool){
	"onTheRoad": func(e *vehicle.Estimate) (float64, bool) {
		if e.Summary == nil || e.Summary.OnTheRoad == nil {
			return 0, false
		}
		return float64(e.Summary.OnTheRoad.TZS), true
	},
	"maxPrice": highestPrice,
	"margin": func(e *vehicle.Estimate) (float64, bool) {
		if margin, ok := export.Margin(e); ok {
			return -margin.InexactFloat64(), true
		}
		const behind = 1e9 // rows without a price follow, by the highest price
		key, ok := highestPrice(e)
		return behind + key, ok
	},
}

// readToSort are the members of an estimate that the orders read.
var readToSort = request.Only("summary.onTheRoad,maxPriceUSD,car.fobPriceUSD,car.cfPriceUSD")

// highestPrice puts the highest maxPriceUSD first.
func highestPrice(e *vehicle.Estimate) (float64, bool) {
	if e.MaxPrice == nil || e.MaxPrice.FOB == nil || e.MaxPrice.FOB.Likely == nil {
		return 0, false
	}
	return -float64(*e.MaxPrice.FOB.Likely), true
}

// sortedRows returns the indexes of all rows in an order.
func (s *Resource) sortedRows(ctx context.Context, reader *batch.Reader, b *batch.Batch, by string) ([]int, error) {
	rows := resultRows{reader: reader}
	rows.order, _ = reader.Choose(0, batch.MaxRows, "")
	wanted, processor := b.Options.OfCost(), s.Limits.Turn(b.Owner)
	defer processor.Give()
	var keys []float64
	for !rows.last() {
		processor.Give()
		if err := rows.read(ctx); err != nil {
			return nil, err
		}
		if err := processor.Take(ctx); err != nil {
			return nil, err
		}
		for _, item := range rows.items {
			key, err := pricer{s.Costs, wanted}.sortKey(item, by)
			if err != nil {
				return nil, err
			}
			keys = append(keys, key)
		}
	}
	slices.SortStableFunc(rows.order, func(a, b int) int { return cmp.Compare(keys[a], keys[b]) })
	return rows.order, nil
}

func (p pricer) sortKey(item batch.Item, by string) (float64, error) {
	e, err := p.value(item, readToSort)
	if err != nil || e == nil {
		return math.MaxFloat64, err
	}
	if key, ok := sortKeys[by](e); ok {
		return key, nil
	}
	return math.MaxFloat64 / 2, nil //nolint:mnd // before rows without an estimate
}
