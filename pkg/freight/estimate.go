package freight

import (
	"maps"
	"slices"
	"time"

	"github.com/shopspring/decimal"
)

// Estimate is what observations say of a value.
type Estimate struct {
	Low    decimal.Decimal `json:"low"`    // a tenth of the observations is below
	Median decimal.Decimal `json:"median"` //
	High   decimal.Decimal `json:"high"`   // a tenth is above
	Count  int             `json:"count"`  // observations, one for each stock number
	From   string          `json:"from"`   // day of the first observation in Dar es Salaam: 2026-10-14
	To     string          `json:"to"`     // day of the last
	On     string          `json:"on"`     // day on which the estimate was made
}

// The rules of an estimate.
const (
	window          = 90 * 24 * time.Hour // older observations do not count
	minObservations = 20
	minSites        = 2 // for the volume of a model at a site that says nothing of it
)

var (
	outlierDistance = decimal.RequireFromString("7.4") // median deviations: five standard deviations of a normal distribution
	minDeviation    = decimal.RequireFromString("0.02")
	minSpread       = decimal.RequireFromString("0.02") // by which an estimate may move in a day at least
	sitesAgree      = decimal.RequireFromString("1.15")
	two             = decimal.NewFromInt(2)
)

// estimate returns the estimate of entries; false when they are too few. Those far
// from the median are left out.
func estimate(entries []entry, now time.Time) (Estimate, bool) {
	entries = slices.DeleteFunc(slices.Clone(entries), func(e entry) bool {
		return e.day.Before(now.Add(-window)) || e.day.After(now.Add(24*time.Hour))
	})
	entries = withoutOutliers(entries)
	if len(entries) < minObservations {
		return Estimate{}, false
	}
	first, last := entries[0].day, entries[0].day
	for _, e := range entries {
		if e.day.Before(first) {
			first = e.day
		}
		if e.day.After(last) {
			last = e.day
		}
	}
	values := sorted(entries)
	return Estimate{
		Low: quantile(values, 10), Median: quantile(values, 50), High: quantile(values, 90), Count: len(values),
		From: dateOf(first), To: dateOf(last), On: dateOf(now),
	}, true
}

func sorted(entries []entry) []decimal.Decimal {
	values := make([]decimal.Decimal, len(entries))
	for i, e := range entries {
		values[i] = e.value
	}
	slices.SortFunc(values, decimal.Decimal.Cmp)
	return values
}

// quantile returns the value that percent of the sorted values do not exceed, by
// linear interpolation.
func quantile(values []decimal.Decimal, percent int) decimal.Decimal {
	place := (len(values) - 1) * percent
	i, rest := place/100, place%100
	if rest == 0 {
		return values[i]
	}
	step := values[i+1].Sub(values[i]).Mul(decimal.NewFromInt(int64(rest))).Shift(-2)
	return values[i].Add(step).Round(4)
}

// withoutOutliers removes entries that are too many median deviations away from the
// median.
func withoutOutliers(entries []entry) []entry {
	if len(entries) == 0 {
		return nil
	}
	median := quantile(sorted(entries), 50)
	distance := func(e entry) decimal.Decimal { return e.value.Sub(median).Abs() }
	distances := make([]decimal.Decimal, len(entries))
	for i, e := range entries {
		distances[i] = distance(e)
	}
	slices.SortFunc(distances, decimal.Decimal.Cmp)
	limit := decimal.Max(quantile(distances, 50), median.Mul(minDeviation)).Mul(outlierDistance)
	return slices.DeleteFunc(entries, func(e entry) bool { return distance(e).GreaterThan(limit) })
}

// towards returns the estimate as far as it may move from an earlier one: the median
// stays within the earlier spread, and the spread grows by itself at most.
func (e Estimate) towards(next Estimate) Estimate {
	spread := decimal.Max(e.High.Sub(e.Low), e.Median.Mul(minSpread))
	low, high := e.Median.Sub(spread.Div(two)), e.Median.Add(spread.Div(two))
	next.Median = clamp(next.Median, decimal.Min(low, e.Low), decimal.Max(high, e.High))
	next.Low = decimal.Min(clamp(next.Low, e.Low.Sub(spread), e.High), next.Median)
	next.High = decimal.Max(clamp(next.High, e.Low, e.High.Add(spread)), next.Median)
	return next
}

func clamp(value, low, high decimal.Decimal) decimal.Decimal {
	return decimal.Max(low, decimal.Min(high, value))
}

// volume returns the estimate of a volume for a site: by the site's own entries, or
// by those of other sites when several agree.
func volume(entries []entry, site string, now time.Time) (Estimate, bool) {
	bySite := map[string][]entry{}
	for _, e := range entries {
		bySite[e.site] = append(bySite[e.site], e)
	}
	if own, known := estimate(bySite[site], now); known {
		return own, true
	}
	var all []Estimate
	for _, name := range slices.Sorted(maps.Keys(bySite)) {
		if of, known := estimate(bySite[name], now); known {
			all = append(all, of)
		}
	}
	if len(all) < minSites {
		return Estimate{}, false
	}
	slices.SortFunc(all, func(a, b Estimate) int { return a.Median.Cmp(b.Median) })
	if all[len(all)-1].Median.GreaterThan(all[0].Median.Mul(sitesAgree)) {
		return Estimate{}, false
	}
	middle := all[len(all)/2]
	for _, of := range all {
		middle.Low, middle.High = decimal.Min(middle.Low, of.Low), decimal.Max(middle.High, of.High)
	}
	return middle, true
}
