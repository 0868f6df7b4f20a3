package cost

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"ushuru/pkg/vehicle"
)

// Learned is what listings say of shipping a car. A nil field is not known.
type Learned struct {
	Freight *LearnedValue // dollars for a cubic metre to Dar es Salaam
	Volume  *LearnedValue // cubic metres of the model
}

// LearnedValue is the middle of what listings say, with the bounds within which four
// fifths of them lie.
type LearnedValue struct {
	Low, Median, High decimal.Decimal
	Count             int    // listings
	Site              string // whose listings they are; empty for those of several sites
	From, To          string // days of the first and the last listing: 2026-10-14
}

// Learner returns what listings say of shipping the car of an estimate.
type Learner interface {
	Learned(e vehicle.Estimate) Learned
}

// Learning returns the tables with what a Learner knows. It stands over the freight
// and the volumes of the tables, and under what the listing and the caller say.
func (t *Tables) Learning(from Learner) *Tables {
	learning := *t
	learning.learner = from
	return &learning
}

// learned returns what listings say of the car.
func (t *Tables) learned(e vehicle.Estimate) Learned {
	if t.learner == nil {
		return Learned{}
	}
	return t.learner.Learned(e)
}

// learnedFreight returns the freight that listings of the same site and origin show.
func (b *calculation) learnedFreight() *figure {
	rate, m3 := b.learned.Freight, b.volume.m3
	usd := moneyRange{rate.Low.Mul(m3.low), rate.Median.Mul(m3.amount), rate.High.Mul(m3.high)}
	line := vehicle.CostLine{Standing: vehicle.Typical, Estimated: true, Date: rate.To}
	return &figure{usd, usd.times(b.rate), sourced(line, say(rate.source())), func() *basis {
		return basisOf("learned_freight", values{
			"rate": rate.Median.StringFixed(2), "low": rate.Low.StringFixed(2), "high": rate.High.StringFixed(2),
			"m3": m3.amount.String(),
		})
	}}
}

// source returns the text of the source, as a key of the table with values.
func (v LearnedValue) source() (key string, with values) {
	with = values{"count": itoa(v.Count), "site": v.Site, "from": v.From, "to": v.To}
	if v.Site == "" {
		return "source/learned.sites", with
	}
	return "source/learned", with
}

// LearnedFile returns an operator's file whose freight is what listings say: for each
// origin the middle of its sites, and the embedded fee for every other origin. It is
// what Load takes.
func LearnedFile(byOrigin map[string][]LearnedValue) ([]byte, error) {
	freight, _ := embedded.table(codeFreight)
	var fees []fee
	for _, origin := range slices.Sorted(maps.Keys(byOrigin)) {
		sites := slices.SortedFunc(slices.Values(byOrigin[origin]), func(a, b LearnedValue) int { return a.Median.Cmp(b.Median) })
		if len(sites) == 0 {
			continue
		}
		middle := sites[len(sites)/2]
		low, high, names := middle.Low, middle.High, make([]string, len(sites))
		for i, s := range sites {
			low, high = decimal.Min(low, s.Low), decimal.Max(high, s.High)
			names[i] = say(s.source()).EN
		}
		perCubicMetre := func(value decimal.Decimal) price { return price{value.Round(2), perM3} }
		least, most := perCubicMetre(low), perCubicMetre(high)
		fees = append(fees, fee{
			Only: countries{origin}, Amount: perCubicMetre(middle.Median), Low: &least, High: &most,
			Standing: vehicle.Typical, Source: strings.Join(names, "; "), Date: middle.To,
		})
	}
	for _, other := range freight.Fees {
		other.Except = append(slices.Clone(other.Except), slices.Sorted(maps.Keys(byOrigin))...)
		fees = append(fees, other)
	}
	data, err := json.MarshalIndent(map[string]any{
		"about": "Freight as listings state it. Review it before you name it in COST_TABLES.",
		"lines": []any{map[string]any{"code": codeFreight, "fees": fees}},
	}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("cost: %w", err)
	}
	if _, err := Parse(data); err != nil {
		return nil, fmt.Errorf("cost: the learned file: %w", err)
	}
	return append(data, '\n'), nil
}
