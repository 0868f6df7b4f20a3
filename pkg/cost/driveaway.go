package cost

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/advice"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// Answer is the cost of a car until it is on the road.
type Answer struct {
	DriveAway vehicle.DriveAway
	Summary   vehicle.Summary
	Warnings  []vehicle.Warning
}

// Calculate computes the cost of an estimate's car on the terms of a caller. It uses
// only the estimate's car (with its price), match, tax and AsOf (the date of the
// authority's figures): so a cached estimate can be computed again on other terms, and a
// price can be tried.
func (t *Tables) Calculate(e vehicle.Estimate, terms vehicle.Terms, now time.Time) Answer {
	return t.begin(e, terms, now).answer(e)
}

// answer returns the cost of the estimate's car.
func (b *calculation) answer(e vehicle.Estimate) Answer {
	b.step = b.ageStep()
	b.bill()
	answer := Answer{b.total(), b.summary(e), b.warnings()}
	answer.DriveAway.Scenarios = b.scenarios()
	answer.DriveAway.Assumes = assumes(answer.DriveAway.Scenarios)
	return answer
}

// Apply returns the estimate with its cost on the terms of a caller. It replaces
// that of an earlier calculation with its warnings.
func (t *Tables) Apply(e vehicle.Estimate, terms vehicle.Terms, now time.Time) vehicle.Estimate {
	b := t.begin(e, terms, now)
	answer := b.answer(e)
	e.DriveAway, e.Summary, e.MaxPrice = &answer.DriveAway, &answer.Summary, nil
	if terms.Target != nil {
		e.MaxPrice = b.maxPrice(terms.Target.OnTheRoadTZS.Decimal())
	}
	if terms.ByMonth {
		e.Summary.ByMonth = b.byMonth()
	}
	e.Warnings = slices.DeleteFunc(slices.Clone(e.Warnings), func(w vehicle.Warning) bool {
		return slices.Contains(codes, w.Code)
	})
	e.Warnings = append(e.Warnings, answer.Warnings...)
	e.Doubts = advice.Doubts(e, nil)
	return e
}

// calculation is a drive-away cost in the making.
type calculation struct {
	tables  *Tables
	car     vehicle.Car
	matched vehicle.Matched
	implied impliedRates
	costs   vehicle.Costs
	rate    decimal.Decimal
	now     time.Time
	day     string    // of now
	asked   time.Time // when the authority gave its figures
	window  window
	volume  volume
	invoice invoice
	taxed   taxRange // at the value that is taxed
	facts   facts
	step    *vehicle.AgeStep
	stepDay time.Time              // of step
	charges map[chargeKey][]charge // what chargesOn has found, also of copies
	silent  bool                   // the lines have no name, basis and order, because only the sums are used
	lines   []vehicle.CostLine
	missing []vehicle.Missing
}

func (t *Tables) begin(e vehicle.Estimate, terms vehicle.Terms, now time.Time) *calculation {
	rate := terms.Rate
	if !rate.IsPositive() {
		rate = DefaultRate
	}
	b := &calculation{
		tables: t, car: e.Car, matched: e.Matched, implied: impliedRatesOf(e.Tax, rate), rate: rate, now: now,
		day: dateOf(now), asked: now, charges: map[chargeKey][]charge{},
	}
	if terms.Costs != nil {
		b.costs = *terms.Costs
	}
	if at, err := time.Parse(time.RFC3339, e.AsOf); err == nil {
		b.asked = at
	}
	b.window = t.windowOf(terms.Landing, b.shippedFrom(), now)
	b.volume = b.volumeOf()
	b.figures()
	return b
}

// figures finds the invoice, what is taxed of it and what the fees are counted by.
func (b *calculation) figures() {
	b.invoice = b.invoiceOf()
	b.taxed = b.over(b.invoice.base)
	b.facts = b.factsOf()
}

// factsOf returns what the fees are counted by.
func (b *calculation) factsOf() facts {
	return facts{
		m3: b.volume.m3, cf: b.invoice.cf, cif: b.invoice.base, rate: b.rate,
		duty:  b.taxed.of(func(t taxes) decimal.Decimal { return t.duty }),
		taxes: b.taxed.of(func(t taxes) decimal.Decimal { return t.usd }),
	}
}

// likely returns the facts without their ranges.
func (f facts) likely() facts {
	for _, r := range []*moneyRange{&f.m3, &f.cf, &f.cif, &f.duty, &f.taxes} {
		*r = only(r.amount)
	}
	return f
}

// bill adds all lines.
func (b *calculation) bill() {
	b.carLines()
	b.taxLines()
	for _, l := range b.tables.lines {
		if l.Code != codeFreight && l.Code != codeInsurance && l.Fees != nil {
			f, gap := b.feeFigure(l)
			b.addOrMiss(l.Code, f, gap)
		}
	}
	if !b.silent {
		b.sort()
	}
}

// name returns the name of a line.
func (t *Tables) name(code string) vehicle.Text {
	if l, ok := t.table(code); ok {
		return l.Name
	}
	return vehicle.Text{EN: code, SW: code}
}

// add rounds the figure of a line once and adds it to the bill.
func (b *calculation) add(code string, f figure) {
	l, usd, tzs := f.line, f.usd.each(cents), f.tzs.each(cents)
	l.Code = code
	l.AmountUSD, l.LowUSD, l.HighUSD = money.New(usd.amount), money.New(usd.low), money.New(usd.high)
	l.AmountTZS, l.LowTZS, l.HighTZS = money.New(tzs.amount), money.New(tzs.low), money.New(tzs.high)
	if !b.silent {
		l.Name = b.tables.name(code)
		if of, ok := b.tables.table(code); ok {
			l.PaidIn = of.PaidIn
		}
		f.basis().explain(&l)
	}
	b.lines = append(b.lines, l)
}

// miss adds what is not known, and why.
func (b *calculation) miss(code, why string, v values) {
	text := say("missing/"+why, v)
	b.missing = append(b.missing, vehicle.Missing{
		Code: code, Name: b.tables.name(code), Reason: text.EN, ReasonCode: why, Text: &text, Values: v,
	})
}

// addOrMiss adds the figure of a line to the bill, or says that it is not known.
func (b *calculation) addOrMiss(code string, f *figure, gap bool) {
	switch {
	case f != nil:
		b.add(code, *f)
	case gap:
		why, v := b.whyMissing(code)
		b.miss(code, why, v)
	}
}

// shippedFromJapan are the lines whose figures are those of shipments from Japan.
var shippedFromJapan = map[string]bool{codeFreight: true, codeInsurance: true}

const japan = "JAPAN"

// isElsewhere reports a car that the listing locates outside Japan.
func (b *calculation) isElsewhere() bool { return b.car.LocatedIn != "" && b.car.LocatedIn != japan }

// inForce returns the fee of a line on a day, as line.inForce does. What a shipment
// costs is not known for a car outside Japan.
func (b *calculation) inForce(l line, day time.Time) (f *fee, gap bool) {
	if b.isElsewhere() && shippedFromJapan[l.Code] {
		return nil, true
	}
	return l.inForce(dateOf(day), b.shippedFrom())
}

// whyMissing returns the reason why a line has no fee.
func (b *calculation) whyMissing(code string) (why string, v values) {
	if b.isElsewhere() && shippedFromJapan[code] {
		return "elsewhere", values{"country": b.car.LocatedIn}
	}
	if of, ok := b.tables.table(code); ok && !b.volume.isKnown() {
		if f, _ := b.inForce(of, b.window.likely); f != nil && f.byVolume() || code == codeStorage {
			return "no_volume", nil
		}
	}
	return "no_fee", values{"day": dateOf(b.window.likely)}
}

// shippedFrom returns the country from which the car comes: where the listing
// locates it, else the country of origin.
func (b *calculation) shippedFrom() string {
	return cmp.Or(b.car.LocatedIn, b.implied.tax.Country, b.matched.Country) // the authority repeats that of the match
}

// sort puts the lines in the order of the tables.
func (b *calculation) sort() {
	place := map[string]int{}
	for i, l := range b.tables.lines {
		place[l.Code] = i
	}
	slices.SortStableFunc(b.lines, func(l, m vehicle.CostLine) int { return place[l.Code] - place[m.Code] })
	slices.SortStableFunc(b.missing, func(l, m vehicle.Missing) int { return place[l.Code] - place[m.Code] })
}

// exact returns the sums of the rounded lines.
func (b *calculation) exact() (sum both) {
	for _, l := range b.lines {
		sum = sum.plus(bothOf(l))
	}
	return sum
}

// total returns the cost by its lines.
func (b *calculation) total() vehicle.DriveAway {
	sum := b.exact()
	return vehicle.DriveAway{
		Lines:    b.lines,
		TotalUSD: money.New(sum.usd.amount),
		TotalTZS: money.New(sum.tzs.amount),
		LowUSD:   money.New(sum.usd.low),
		HighUSD:  money.New(sum.usd.high),
		LowTZS:   money.New(sum.tzs.low),
		HighTZS:  money.New(sum.tzs.high),
		Complete: len(b.missing) == 0,
		Missing:  b.missing,
		TaxBase:  b.taxBase(),
		AgeStep:  b.step,
		Exchange: b.exchange().ExchangeRates,
		Landing:  b.landing(),
		AsOf:     b.day,
	}
}

// volume is the volume of a car on a ship.
type volume struct {
	m3     moneyRange
	listed bool
	typed  bool // by the caller
}

// isKnown reports whether the volume is: it is not for a motorcycle or a bus whose listing
// gives none.
func (v volume) isKnown() bool { return v.m3.amount.IsPositive() }

// volumeOf returns the caller's volume, the listing's, or one that is typical of the body.
func (b *calculation) volumeOf() volume {
	if typed := b.costs.ShippingM3; typed != nil {
		return volume{m3: only(typed.Decimal()), typed: true}
	}
	if m3 := b.car.M3; m3 != nil && m3.Decimal().IsPositive() && m3.Decimal().LessThanOrEqual(maxM3) {
		return volume{m3: only(m3.Decimal()), listed: true}
	}
	typical := b.tables.volumes.of(b.implied.tax.BodyType, b.labelBody(), b.car.BodyType)
	return volume{m3: moneyRange{typical.Low, typical.Typical, typical.High}}
}

// labelBody returns the body in the authority's label.
func (b *calculation) labelBody() string {
	label := b.matched.ModelBody
	return strings.Trim(label[strings.LastIndex(label, " - ")+1:], " -")
}
