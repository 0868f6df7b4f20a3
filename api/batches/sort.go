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

// resultRows reads the rows of a part of a batch page by page.
type resultRows struct {
	reader *batch.Reader
	order  []int        // indexes of the rows
	items  []batch.Item // the page
	next   int          // index of order; -1 after the last page
	more   int          // cursor of the rows after the part; not above 0 when there are none
}

func (rows *resultRows) last() bool { return rows.next < 0 }

// read reads the next page.
func (rows *resultRows) read(ctx context.Context) (err error) {
	end := min(rows.next+resultsPage, len(rows.order))
	rows.items, err = rows.reader.Items(ctx, rows.order[rows.next:end])
	if rows.next = end; end == len(rows.order) {
		rows.next = -1
	}
	return err
}

// openResults opens a batch and reads its first rows, before the response begins. To sort
// them it reads all rows once before, and remembers a number for each.
func (s *Resource) openResults(ctx context.Context, b *batch.Batch, by string, part resultPart) (*resultRows, error) {
	reader, err := s.options.Batches.Read(ctx, b.ID)
	if err != nil {
		return nil, err
	}
	if !part.since.IsZero() {
		if err := reader.Since(ctx, b, part.since); err != nil {
			return nil, err
		}
	}
	rows, limit := &resultRows{reader: reader}, cmp.Or(part.limit, batch.MaxRows)
	if by == "" {
		rows.order, rows.more = reader.Choose(part.from, limit, part.state)
		return rows, rows.read(ctx)
	}
	if rows.order, err = s.sortedRows(ctx, reader, b, by); err != nil {
		return nil, err
	}
	from := min(part.from, len(rows.order))
	to := min(from+limit, len(rows.order))
	if to < len(rows.order) {
		rows.more = to
	}
	rows.order = rows.order[from:to]
	return rows, rows.read(ctx)
}

// sortedRows returns the indexes of all rows in an order.
func (s *Resource) sortedRows(ctx context.Context, reader *batch.Reader, b *batch.Batch, by string) ([]int, error) {
	rows := resultRows{reader: reader}
	rows.order, _ = reader.Choose(0, batch.MaxRows, "")
	wanted, processor := b.Options.OfCost(), s.options.Limits.Turn(b.Owner)
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
			key, err := pricer{s.options.Costs, wanted}.sortKey(item, by)
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
