package cost

import (
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/duty"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// DriveAway computes the total cost of an estimate's car, with warnings. It uses
// only the estimate's car, match, tax and AsOf (the date of the authority's
// figures), so a cached estimate can be recomputed at another rate with Apply.
// The rate is the number of shillings per dollar for costs other than tax; 0 and
// below is DefaultRate. The fees are those of the day of now in Dar es Salaam.
func (t *Tables) DriveAway(e vehicle.Estimate, rate decimal.Decimal, now time.Time) (vehicle.DriveAway, []vehicle.Warning) {
	if !rate.IsPositive() {
		rate = DefaultRate
	}
	b := t.begin(e, rate, now)
	b.carLines()
	b.taxLines()
	for _, l := range t.lines {
		if l.Code != codeFreight && l.Code != codeInsurance && l.Fees != nil {
			b.feeLine(l)
		}
	}
	b.sort(t)
	return b.total(), b.warnings()
}

// Apply returns the estimate with its drive-away cost at a rate. It replaces the
// warnings of the previous drive-away cost.
func (t *Tables) Apply(e vehicle.Estimate, rate decimal.Decimal, now time.Time) vehicle.Estimate {
	cost, warnings := t.DriveAway(e, rate, now)
	e.DriveAway = &cost
	e.Warnings = slices.DeleteFunc(slices.Clone(e.Warnings), func(w vehicle.Warning) bool {
		return slices.Contains(codes, w.Code)
	})
	e.Warnings = append(e.Warnings, warnings...)
	return e
}

// calculation is a drive-away cost in the making.
type calculation struct {
	tables  *Tables
	car     vehicle.Car
	matched vehicle.Matched
	implied impliedRates
	rate    decimal.Decimal
	now     time.Time
	day     string // of now
	taxDay  string // of the authority's figures
	volume  volume
	invoice invoice
	taxed   taxRange // at the value that is taxed
	facts   facts
	step    *vehicle.AgeStep
	lines   []vehicle.CostLine
	missing []vehicle.Missing
}

func (t *Tables) begin(e vehicle.Estimate, rate decimal.Decimal, now time.Time) *calculation {
	b := &calculation{
		tables: t, car: e.Car, matched: e.Matched, implied: impliedRatesOf(e.Tax, rate), rate: rate, now: now,
		day: now.In(duty.EAT).Format(time.DateOnly),
	}
	b.taxDay = b.day
	if at, err := time.Parse(time.RFC3339, e.AsOf); err == nil {
		b.taxDay = at.In(duty.EAT).Format(time.DateOnly)
	}
	b.volume = t.volume(e)
	b.invoice = b.invoiceOf()
	b.taxed = b.implied.over(b.invoice.base)
	b.facts = facts{
		m3: b.volume.m3, cf: b.invoice.cf, cif: b.invoice.base, rate: b.rate,
		duty:  b.taxed.of(func(t taxes) decimal.Decimal { return t.duty }),
		taxes: b.taxed.of(func(t taxes) decimal.Decimal { return t.usd }),
	}
	b.step = b.ageStep()
	return b
}

// source is the word for what describes the car in a message.
func (b *calculation) source() string { return b.car.Source.Noun().EN }

// name returns the name of a line.
func (t *Tables) name(code string) vehicle.Text {
	for _, l := range t.lines {
		if l.Code == code {
			return l.Name
		}
	}
	return vehicle.Text{EN: code, SW: code}
}

// add rounds a line once and adds it to the bill.
func (b *calculation) add(l vehicle.CostLine, usd, tzs moneyRange) {
	l.Name = b.tables.name(l.Code)
	usd, tzs = usd.each(cents), tzs.each(cents)
	l.AmountUSD, l.LowUSD, l.HighUSD = money.New(usd.amount), money.New(usd.low), money.New(usd.high)
	l.AmountTZS, l.LowTZS, l.HighTZS = money.New(tzs.amount), money.New(tzs.low), money.New(tzs.high)
	b.lines = append(b.lines, l)
}

func (b *calculation) miss(code, reason string) {
	b.missing = append(b.missing, vehicle.Missing{Code: code, Name: b.tables.name(code), Reason: reason})
}

// feeLine adds a line of the tables to the bill.
func (b *calculation) feeLine(l line) {
	f, gap := b.inForce(l)
	if f == nil {
		if gap {
			b.miss(l.Code, b.whyMissing(l))
		}
		return
	}
	usd, tzs := f.charge(b.facts)
	b.add(vehicle.CostLine{
		Code: l.Code, Basis: b.basis(f), Standing: f.Standing, Estimated: true, Source: f.Source, Date: f.Date,
	}, usd, tzs)
}

// shippedFromJapan are the lines whose figures are those of shipments from Japan.
var shippedFromJapan = map[string]bool{codeFreight: true, codeInsurance: true, codeInspection: true}

// isElsewhere reports a car that the listing locates outside Japan.
func (b *calculation) isElsewhere() bool { return b.car.LocatedIn != "" && b.car.LocatedIn != "JAPAN" }

// inForce returns the fee of a line on the day of the calculation, as line.inForce
// does. What a shipment costs is not known for a car outside Japan.
func (b *calculation) inForce(l line) (f *fee, gap bool) {
	if b.isElsewhere() && shippedFromJapan[l.Code] {
		return nil, true
	}
	return l.inForce(b.day, b.country())
}

// whyMissing returns the reason why a line has no fee.
func (b *calculation) whyMissing(l line) string {
	if b.isElsewhere() && shippedFromJapan[l.Code] {
		return "the car is in " + b.car.LocatedIn + ", and the tables contain the figures for Japan"
	}
	return "the tables contain no fee for " + b.day
}

// country returns the country of origin, which the authority's answer repeats.
func (b *calculation) country() string {
	if b.implied.tax.Country != "" {
		return b.implied.tax.Country
	}
	return b.matched.Country
}

// sort puts the lines in the order of the tables.
func (b *calculation) sort(t *Tables) {
	place := map[string]int{}
	for i, l := range t.lines {
		place[l.Code] = i
	}
	slices.SortStableFunc(b.lines, func(l, m vehicle.CostLine) int { return place[l.Code] - place[m.Code] })
	slices.SortStableFunc(b.missing, func(l, m vehicle.Missing) int { return place[l.Code] - place[m.Code] })
}

// total returns the sums of the rounded lines.
func (b *calculation) total() vehicle.DriveAway {
	sum := func(of func(vehicle.CostLine) money.Amount) money.Amount {
		total := decimal.Zero
		for _, l := range b.lines {
			total = total.Add(of(l).Decimal())
		}
		return money.New(total)
	}
	return vehicle.DriveAway{
		Lines:    b.lines,
		TotalUSD: sum(func(l vehicle.CostLine) money.Amount { return l.AmountUSD }),
		TotalTZS: sum(func(l vehicle.CostLine) money.Amount { return l.AmountTZS }),
		LowUSD:   sum(func(l vehicle.CostLine) money.Amount { return l.LowUSD }),
		HighUSD:  sum(func(l vehicle.CostLine) money.Amount { return l.HighUSD }),
		LowTZS:   sum(func(l vehicle.CostLine) money.Amount { return l.LowTZS }),
		HighTZS:  sum(func(l vehicle.CostLine) money.Amount { return l.HighTZS }),
		Complete: len(b.missing) == 0,
		Missing:  b.missing,
		TaxBase:  b.taxBase(),
		AgeStep:  b.step,
		Exchange: vehicle.ExchangeRates{Taxes: money.NewNumber(b.implied.fx), Others: money.NewNumber(b.rate)},
		AsOf:     b.day,
	}
}

// volume is the volume of a car on a ship.
type volume struct {
	m3     moneyRange
	listed bool
	kind   string // the body whose volume it is, where it is not listed
}

// volume returns the listing's volume, or one that is typical of the body.
func (t *Tables) volume(e vehicle.Estimate) volume {
	if m3 := e.Car.M3; m3 != nil && m3.Decimal().IsPositive() && m3.Decimal().LessThanOrEqual(maxM3) {
		return volume{m3: only(m3.Decimal()), listed: true}
	}
	label := e.Matched.ModelBody[strings.LastIndex(e.Matched.ModelBody, " - ")+1:]
	typical := t.volumes.of(e.Tax.BodyType, strings.Trim(label, " -"), e.Car.BodyType)
	return volume{m3: moneyRange{typical.Low, typical.Typical, typical.High}, kind: typical.Names[0]}
}
