package cost

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/advice"
	"ushuru/pkg/duty"
	"ushuru/pkg/localtime"
	"ushuru/pkg/message"
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

// answer returns the cost of the estimate's car.
func (b *calculation) answer(e vehicle.Estimate) Answer {
	b.step = b.ageStep()
	b.bill()
	answer := Answer{b.total(), b.summary(e), b.warnings()}
	answer.DriveAway.Scenarios = b.scenarios()
	answer.DriveAway.Assumes = assumes(answer.DriveAway.Scenarios)
	return answer
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

// carLines adds the price, freight and insurance.
func (b *calculation) carLines() {
	in := b.invoice
	if in.price == nil {
		b.missPrice()
		return
	}
	code, whose := "price_fob", values{"price": b.price()}
	if in.withSea {
		code = "price_cf"
	}
	line := sourced(vehicle.CostLine{Standing: vehicle.Quoted, Date: b.day}, say("source/car", nil))
	if b.car.PriceSource() == vehicle.FromRequest {
		line = b.typedLine()
	}
	sum := both{only(*in.price), only(in.price.Mul(b.rate))}
	b.add(codePrice, figure{sum, line, func() *basis { return basisOf(code, whose) }})
	b.addOrMiss(codeFreight, in.freight, in.noFreight)
	b.addOrMiss(codeInsurance, in.insurance, in.noCover)
}

// missPrice says that there is no price, nor what depends on it.
func (b *calculation) missPrice() {
	source := values{"source": b.car.Source.Key()}
	b.miss(codePrice, "no_price", source)
	for _, code := range []string{codeFreight, codeInsurance} {
		if len(b.tables.table(code).Fees) > 0 && (code != codeInsurance || !isOff(b.costs.Insurance)) {
			b.miss(code, "depends_on_price", source)
		}
	}
}

// taxLines adds the taxes and fees that the authority charges.
func (b *calculation) taxLines() {
	reference := values{"reference": b.implied.tax.ReferenceNumber}
	official := sourced(vehicle.CostLine{Standing: vehicle.Official, Date: dateOf(b.asked)}, say("source/authority", reference))
	all := official
	if b.isComputed() {
		all = sourced(vehicle.CostLine{Standing: vehicle.Typical, Estimated: true, Date: dateOf(b.asked)},
			say("source/authority.computed", reference))
	}
	b.add(codeTaxes, figure{
		both{
			b.taxed.of(func(t taxes) decimal.Decimal { return t.usd }),
			b.taxed.of(func(t taxes) decimal.Decimal { return t.tzs }),
		},
		all, b.taxesBasis,
	})
	for _, fee := range []struct {
		code string
		of   func(taxes) decimal.Decimal
	}{
		{codeHIV, func(t taxes) decimal.Decimal { return t.hiv }},
		{codeRegistration, func(t taxes) decimal.Decimal { return t.registration }},
	} {
		tzs, why := b.taxed.of(fee.of), basisOf("authority", nil)
		if byBattery := b.byBattery(); fee.code == codeRegistration && byBattery != nil {
			tzs, why = tzs.widened(*byBattery), why.and("licence_by_battery", nil)
		}
		b.add(fee.code, figure{both{tzs.over(b.implied.fx), tzs}, official, func() *basis { return why }})
	}
}

// byBattery returns the least and the most that the registration of an electric car can be,
// whose battery the authority's answer does not name; nil for other cars.
func (b *calculation) byBattery() *moneyRange {
	bands := b.tables.law.On(b.window.likely).Registrations(duty.Vehicle{CC: b.cc(), Fuel: b.implied.tax.FuelType})
	if len(bands) < 2 {
		return nil
	}
	return &moneyRange{bands[0].TZS, b.implied.tax.VehicleRegistrationFeeInTZS.Decimal(), bands[len(bands)-1].TZS}
}

// add rounds the figure of a line once and adds it to the bill.
func (b *calculation) add(code string, f figure) {
	l, usd, tzs := f.line, f.usd.each(cents), f.tzs.each(cents)
	l.Code = code
	l.AmountUSD, l.LowUSD, l.HighUSD = money.New(usd.amount), money.New(usd.low), money.New(usd.high)
	l.AmountTZS, l.LowTZS, l.HighTZS = money.New(tzs.amount), money.New(tzs.low), money.New(tzs.high)
	if !b.silent {
		of := b.tables.table(code)
		l.Name, l.PaidIn = of.Name, of.PaidIn
		f.basis().explain(&l)
	}
	b.lines = append(b.lines, l)
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

// miss adds what is not known, and why.
func (b *calculation) miss(code, why string, v values) {
	text := say("missing/"+why, v)
	b.missing = append(b.missing, vehicle.Missing{
		Code: code, Name: b.tables.table(code).Name, Reason: text.EN, ReasonCode: why, Text: &text, Values: v,
	})
}

// whyMissing returns the reason why a line has no fee.
func (b *calculation) whyMissing(code string) (why string, v values) {
	if b.isElsewhere() && shippedFromJapan[code] {
		return "elsewhere", values{"country": b.car.LocatedIn}
	}
	if !b.volume.isKnown() {
		if f, _ := b.inForce(b.tables.table(code), b.window.likely); f != nil && f.byVolume() || code == codeStorage {
			return "no_volume", nil
		}
	}
	return "no_fee", values{"day": dateOf(b.window.likely)}
}

// price returns the key of the words that name the source of the price: the listing or the caller.
func (b *calculation) price() string {
	return "price_of_" + b.car.PriceSource().Key()
}

// taxedValue returns the value that is taxed, in USD.
func (b *calculation) taxedValue() decimal.Decimal {
	return decimal.Max(b.invoice.base.amount, b.implied.own)
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

// shippedFrom returns the country from which the car comes: where the listing
// locates it, else the country of origin.
func (b *calculation) shippedFrom() string {
	return cmp.Or(b.car.LocatedIn, b.implied.tax.Country, b.matched.Country) // the authority repeats that of the match
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

// window is the days on which the car may land, at midnight in Dar es Salaam.
type window struct {
	from, likely, to time.Time
	typed            bool // the caller named the days
	usual            landingTime
}

// windowOf returns the landing days: those that the caller names, or the usual ones
// from today.
func (t *Tables) windowOf(days *vehicle.LandingDays, country string, now time.Time) window {
	today := midnight(now)
	usual := t.landingTime(country)
	if days != nil {
		from, err := time.ParseInLocation(time.DateOnly, days.From, localtime.Zone)
		to, errTo := time.ParseInLocation(time.DateOnly, days.To, localtime.Zone)
		if err == nil && errTo == nil && !to.Before(from) { // the API has checked them
			return windowBetween(from, to)
		}
	}
	w := windowBetween(today.AddDate(0, 0, usual.FromDays), today.AddDate(0, 0, usual.ToDays))
	w.typed, w.usual = false, usual
	return w
}

// windowBetween returns the landing days between two days that the caller or a scenario gives.
func windowBetween(from, to time.Time) window {
	const day = 24 * time.Hour // there is no daylight saving time in Dar es Salaam
	return window{from: from, likely: from.Add((to.Sub(from) / 2).Truncate(day)), to: to, typed: true}
}

// landingTime returns how long a car takes from a country.
func (t *Tables) landingTime(country string) (usual landingTime) {
	for _, l := range t.landings {
		switch {
		case country != "" && l.Countries.has(country):
			return l
		case usual.Source == "" && l.Countries.has(anyCountry):
			usual = l
		}
	}
	return usual
}

const anyCountry = "*"

// landing returns the landing days as callers see them.
func (b *calculation) landing() vehicle.Landing {
	l := vehicle.Landing{
		From: dateOf(b.window.from), To: dateOf(b.window.to), Likely: dateOf(b.window.likely),
		Basis: message.SayCoded("landing/named", nil),
	}
	if usual := b.window.usual; !b.window.typed {
		l.Basis = message.SayCoded("landing/usual", values{
			"from": itoa(usual.FromDays), "to": itoa(usual.ToDays), "source": usual.Source, "date": usual.Date,
		})
	}
	return l
}

// taxDays returns the first, the likely and the last landing day, and those days between
// the first and the last on which a tax may change: a new year, and new rules.
func (b *calculation) taxDays() []time.Time {
	w := b.window
	days := slices.Concat([]time.Time{w.likely, w.from, w.to}, newYears(w.from, w.to), b.tables.law.Changes(w.from, w.to))
	slices.SortStableFunc(days[1:], time.Time.Compare)
	return b.compact(days)
}

// compact removes days on which a car is taxed as on an earlier one of the list: those
// of the same year and rules.
func (b *calculation) compact(days []time.Time) (once []time.Time) {
	for _, day := range days {
		taxedAlike := func(earlier time.Time) bool {
			law := b.tables.law
			return earlier.In(localtime.Zone).Year() == day.In(localtime.Zone).Year() &&
				law.On(earlier).From == law.On(day).From &&
				b.isSettled(earlier) == b.isSettled(day) && len(law.Announced(earlier)) == len(law.Announced(day))
		}
		if !slices.ContainsFunc(once, taxedAlike) {
			once = append(once, day)
		}
	}
	return once
}

// newYears returns the first days of a year after a day, up to another.
func newYears(after, until time.Time) (days []time.Time) {
	for year := after.In(localtime.Zone).Year() + 1; year <= until.In(localtime.Zone).Year(); year++ {
		days = append(days, time.Date(year, time.January, 1, 0, 0, 0, 0, localtime.Zone))
	}
	return days
}

// midnight returns the beginning of a day in Dar es Salaam.
func midnight(at time.Time) time.Time {
	at = at.In(localtime.Zone)
	return time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, localtime.Zone)
}

func dateOf(day time.Time) string { return day.In(localtime.Zone).Format(time.DateOnly) }

// OnLanding returns the taxes of a car at the authority's own value on its likely landing
// day, in the middle of the days that the caller names or of the usual ones from now. The
// estimate needs the authority's answer and its entry only.
func (t *Tables) OnLanding(e vehicle.Estimate, landing *vehicle.LandingDays, now time.Time) vehicle.LandingTaxes {
	b := t.begin(e, vehicle.Terms{Landing: landing}, now)
	taxes := b.likely(b.implied.own)
	on := vehicle.LandingTaxes{
		Landing: dateOf(b.window.likely), TotalTaxesInTZS: rounded(taxes.grandTZS),
		TotalTaxesInUSD: b.allTaxes(taxes),
	}
	on.ExciseDueToAgePercent = AgePercent(b.implied.own, taxes.duty, taxes.age)
	return on
}

// AgePercent returns the excise duty due to age as a share of the value with import duty,
// which are in one currency; nil without a value.
func AgePercent(value, importDuty, excise decimal.Decimal) *money.Number {
	const percent, tenths = 100, 1 // cents that are rounded give 15.0008 %
	base := value.Add(importDuty)
	if !base.IsPositive() {
		return nil
	}
	rate := money.NewNumber(excise.Mul(decimal.NewFromInt(percent)).DivRound(base, tenths))
	return &rate
}
