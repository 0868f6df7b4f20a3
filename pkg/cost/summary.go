package cost

import (
	"slices"

	"github.com/shopspring/decimal"

	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// The parts of a summary, by the names of their fields.
const (
	partCar   = "carAndShipping"
	partTaxes = "taxes"
	partPort  = "portAndLocal"
	partAll   = "onTheRoad"
)

// What people read is rounded to these units.
var (
	unitTZS = decimal.NewFromInt(10_000)
	unitUSD = decimal.NewFromInt(10)
)

// inUnits rounds an amount half up to a whole number of units, a power of ten.
func inUnits(amount, unit decimal.Decimal) int64 {
	return amount.Round(1 - int32(unit.NumDigits())).IntPart() //nolint:gosec // units are 10 and 10,000
}

// sum rounds the sums. The sum of parts that are rounded is their sum, so that what
// people read adds up: it is at most 15,000 shillings or 15 dollars from the exact
// sum of three parts.
func (s both) sum() *vehicle.Sum {
	return &vehicle.Sum{
		TZS: inUnits(s.tzs.amount, unitTZS), LowTZS: inUnits(s.tzs.low, unitTZS), HighTZS: inUnits(s.tzs.high, unitTZS),
		USD: inUnits(s.usd.amount, unitUSD), LowUSD: inUnits(s.usd.low, unitUSD), HighUSD: inUnits(s.usd.high, unitUSD),
	}
}

// combined returns two sums, each pair of whose numbers is combined to one.
func combined(a, b *vehicle.Sum, with func(int64, int64) int64) *vehicle.Sum {
	return &vehicle.Sum{
		TZS: with(a.TZS, b.TZS), LowTZS: with(a.LowTZS, b.LowTZS), HighTZS: with(a.HighTZS, b.HighTZS),
		USD: with(a.USD, b.USD), LowUSD: with(a.LowUSD, b.LowUSD), HighUSD: with(a.HighUSD, b.HighUSD),
	}
}

// addSums returns the sum of rounded sums; nil when one of them is not known.
func addSums(sums ...*vehicle.Sum) *vehicle.Sum {
	total := &vehicle.Sum{}
	for _, s := range sums {
		if s == nil {
			return nil
		}
		total = combined(total, s, func(a, b int64) int64 { return a + b })
	}
	return total
}

// partOf returns the part of the summary that a line belongs to.
func (t *Tables) partOf(code string) string {
	switch code {
	case codePrice, codeFreight, codeInsurance, codeInspection:
		return partCar
	case codeTaxes, codeHIV, codeRegistration:
		return partTaxes
	}
	if l, ok := t.table(code); ok && l.Part != "" {
		return l.Part
	}
	return partPort
}

// Code is a line that a cost can have, and whether it is a tax or a fee of the authority.
type Code struct {
	Code string
	Tax  bool
}

// Codes returns the lines that a cost can have, in their order.
func (t *Tables) Codes() (codes []Code) {
	for _, l := range t.lines {
		codes = append(codes, Code{l.Code, t.partOf(l.Code) == partTaxes})
	}
	return codes
}

// parts returns the sums of the three parts; nil for one that is incomplete.
func (b *calculation) parts() map[string]*vehicle.Sum {
	exact := map[string]both{partCar: {}, partTaxes: {}, partPort: {}}
	for _, l := range b.lines {
		part := b.tables.partOf(l.Code)
		exact[part] = exact[part].plus(bothOf(l))
	}
	sums := map[string]*vehicle.Sum{}
	for part, s := range exact {
		sums[part] = s.sum()
	}
	for _, m := range b.missing {
		sums[b.tables.partOf(m.Code)] = nil
	}
	return sums
}

// onTheRoad returns the sum of all parts; nil when one is incomplete.
func (b *calculation) onTheRoad() *vehicle.Sum {
	parts := b.parts()
	return addSums(parts[partCar], parts[partTaxes], parts[partPort])
}

// summary returns the cost in the numbers that people read.
func (b *calculation) summary(e vehicle.Estimate) vehicle.Summary {
	parts := b.parts()
	s := vehicle.Summary{
		OnTheRoad:      b.onTheRoad(),
		CarAndShipping: parts[partCar],
		Taxes:          b.taxesSum(parts[partTaxes]),
		PortAndLocal:   parts[partPort],
		AuthorityTaxes: b.authorityTaxes(),
		Landing:        b.landing(),
		Exchange:       b.exchange(),
		Missing:        b.missingParts(),
		Ask:            b.ask(),
		NotIncluded:    b.notIncluded(),
		Pay: []vehicle.Payment{
			b.payment("bank", b.day, parts[partCar]),
			b.payment("port", dateOf(b.window.from), addSums(parts[partTaxes], parts[partPort])),
		},
	}
	if s.OnTheRoad == nil {
		s.WithoutFreight = b.withoutFreight()
		s.PortAndTaxesOnly = addSums(parts[partTaxes], parts[partPort])
	}
	if s.CarAndShipping != nil && s.Taxes != nil && s.CarAndShipping.TZS > 0 {
		percent := int((100*s.Taxes.TZS + s.CarAndShipping.TZS/2) / s.CarAndShipping.TZS)
		s.EffectiveTaxPercent = &percent
	}
	s.Car, s.Shipping = b.carSums(parts[partCar])
	s.IfLandedBy = b.ifLandedBy()
	s.Confidence = b.confidence(e, s)
	s.Text = summaryText(s)
	return s
}

// payment returns a sum that is paid from a day on.
func (b *calculation) payment(code, from string, sum *vehicle.Sum) vehicle.Payment {
	return vehicle.Payment{Code: code, From: from, Sum: sum, Text: message.SayCoded("pay/"+code, values{"from": from})}
}

// withoutFreight returns the sum of what is known, when a price is and nothing is missing
// but freight and marine insurance; else nil.
func (b *calculation) withoutFreight() *vehicle.Sum {
	sea := func(m vehicle.Missing) bool { return m.Code == codeFreight || m.Code == codeInsurance }
	other := slices.ContainsFunc(b.missing, func(m vehicle.Missing) bool { return !sea(m) })
	if b.invoice.price == nil || len(b.missing) == 0 || other {
		return nil
	}
	known := *b
	known.missing = nil
	return known.onTheRoad()
}

// carSums returns what the car costs and what brings it to the port, of a sum of both:
// what rounding leaves is in the second. Both are nil when the sum is.
func (b *calculation) carSums(both *vehicle.Sum) (car, shipping *vehicle.Sum) {
	if both == nil {
		return nil, nil
	}
	car = &vehicle.Sum{}
	for _, l := range b.lines {
		if l.Code == codePrice {
			car = bothOf(l).sum()
		}
	}
	return car, combined(both, car, func(a, b int64) int64 { return a - b })
}

// taxesSum returns the taxes with what they would be on either value.
func (b *calculation) taxesSum(sum *vehicle.Sum) *vehicle.TaxesSum {
	if sum == nil {
		return nil
	}
	all := &vehicle.TaxesSum{Sum: *sum, Basis: b.basisOfTax(), Used: "onAuthority", Why: b.whyTaxed()}
	if b.aboveAuthority() {
		all.Used = "onInvoice"
	}
	if b.hasValue() {
		all.OnAuthority = b.taxOn(b.implied.tax.CIFInUSD.Decimal(), b.onOwn())
	}
	if b.invoice.price != nil && !b.invoice.short() {
		all.OnInvoice = b.taxOn(b.invoice.cif.amount, b.onInvoice())
	}
	return all
}

func (b *calculation) taxOn(cif decimal.Decimal, t taxes) *vehicle.TaxOn {
	return &vehicle.TaxOn{
		CIFUSD: inUnits(cif, unitUSD), TZS: inUnits(t.grandTZS, unitTZS), USD: inUnits(b.allTaxes(t).Decimal(), unitUSD),
	}
}

// authorityTaxes returns what the authority answered.
func (b *calculation) authorityTaxes() vehicle.AuthorityTaxes {
	verbatim := b.implied.verbatim()
	return vehicle.AuthorityTaxes{
		TZS: inUnits(verbatim.grandTZS, unitTZS), USD: inUnits(b.allTaxes(verbatim).Decimal(), unitUSD),
		Landing: dateOf(b.asked), Why: b.whyTaxesDiffer(),
	}
}

// ifLandedBy returns the cost of a car that lands on the day before the taxes rise;
// nil when there is no rise.
func (b *calculation) ifLandedBy() *vehicle.IfLandedBy {
	if b.step == nil {
		return nil
	}
	eve := b.stepDay.AddDate(0, 0, -1)
	total := b.onDays(eve, eve).onTheRoad()
	if total == nil {
		return nil
	}
	return &vehicle.IfLandedBy{Date: dateOf(eve), OnTheRoad: total}
}

// missingParts returns why parts are incomplete. Each reason is given once for a part.
func (b *calculation) missingParts() []vehicle.MissingPart {
	missing := []vehicle.MissingPart{}
	for _, m := range b.missing {
		for _, part := range []string{partAll, b.tables.partOf(m.Code)} {
			missing = append(missing, vehicle.MissingPart{
				Part: part, Code: m.Code, Text: vehicle.Sentence{Text: *m.Text, Code: m.ReasonCode, Values: m.Values},
			})
		}
	}
	slices.SortStableFunc(missing, func(m, n vehicle.MissingPart) int { return rankOf(m.Part) - rankOf(n.Part) })
	return missing
}

func rankOf(part string) int {
	return slices.Index([]string{partAll, partCar, partTaxes, partPort}, part)
}

// Bounds of the width of the range, as a fraction of the likely number, up to which
// the number is as certain as the match.
var (
	narrow = decimal.New(10, -2)
	wide   = decimal.New(30, -2)
)

// confidence returns how far the number can be trusted: no further than the match,
// and less when the price is hardly that of the car, the range is wide, the authority's
// figures or our tables are old, the rules of the landing day are not known, or sources
// disagree about a tax on it.
func (b *calculation) confidence(e vehicle.Estimate, s vehicle.Summary) vehicle.Confidence {
	level := map[vehicle.Confidence]int{vehicle.Low: 0, vehicle.Medium: 1, vehicle.High: 2}
	least := level[vehicle.Low]
	if e.Matched.Confidence != "" {
		least = level[e.Matched.Confidence]
	}
	switch {
	case s.OnTheRoad == nil || s.OnTheRoad.TZS <= 0, b.implausiblePrice() != nil:
		least = 0
	default:
		width := decimal.NewFromInt(s.OnTheRoad.HighTZS - s.OnTheRoad.LowTZS).Div(decimal.NewFromInt(s.OnTheRoad.TZS))
		if width.GreaterThan(wide) {
			least = 0
		} else if width.GreaterThan(narrow) {
			least = min(least, 1)
		}
	}
	if !b.knowsRules(b.window.to) || b.tablesOld() != nil ||
		e.Stale || b.step != nil && b.step.Disputed || b.disputedCharges() != nil || !b.implied.derived {
		least = min(least, 1)
	}
	return []vehicle.Confidence{vehicle.Low, vehicle.Medium, vehicle.High}[least]
}
