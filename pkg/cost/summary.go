package cost

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/shopspring/decimal"

	"ushuru/pkg/duty"
	"ushuru/pkg/message"
	"ushuru/pkg/money"
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

// onTheRoad returns the sum of all parts; nil when one is incomplete.
func (b *calculation) onTheRoad() *vehicle.Sum {
	parts := b.parts()
	return addSums(parts[partCar], parts[partTaxes], parts[partPort])
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

// partOf returns the part of the summary that a line belongs to.
func (t *Tables) partOf(code string) string {
	switch code {
	case codePrice, codeFreight, codeInsurance, codeInspection:
		return partCar
	case codeTaxes, codeHIV, codeRegistration:
		return partTaxes
	}
	return cmp.Or(t.table(code).Part, partPort)
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

// inUnits rounds an amount half up to a whole number of units, a power of ten.
func inUnits(amount, unit decimal.Decimal) int64 {
	return amount.Round(1 - int32(unit.NumDigits())).IntPart() //nolint:gosec // units are 10 and 10,000
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
		all.OnAuthority = b.taxOn(b.implied.own, b.onOwn())
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

// onInvoice returns the taxes on the invoice's CIF on the likely landing day, whether
// it is above the authority's value or not.
func (b *calculation) onInvoice() taxes {
	s, c, cif := b.implied, b.chargesOn(b.window.likely)[0], b.invoice.cif.amount
	switch {
	case !b.hasValue():
		return s.verbatim()
	case s.formula:
		return s.computed(cif, c.age.under(c.rules).rules)
	}
	return s.under(c, s.own).times(cif.Div(s.own))
}

// authorityTaxes returns what the authority answered.
func (b *calculation) authorityTaxes() vehicle.AuthorityTaxes {
	verbatim := b.implied.verbatim()
	return vehicle.AuthorityTaxes{
		TZS: inUnits(verbatim.grandTZS, unitTZS), USD: inUnits(b.allTaxes(verbatim).Decimal(), unitUSD),
		Landing: dateOf(b.asked), Why: b.whyTaxesDiffer(),
	}
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

// payment returns a sum that is paid from a day on.
func (b *calculation) payment(code, from string, sum *vehicle.Sum) vehicle.Payment {
	return vehicle.Payment{Code: code, From: from, Sum: sum, Text: message.SayCoded("pay/"+code, values{"from": from})}
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
	levels := []vehicle.Confidence{vehicle.Low, vehicle.Medium, vehicle.High}
	least := max(slices.Index(levels, e.Matched.Confidence), 0)
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
	return levels[least]
}

// The codes of what to ask the seller before paying.
const (
	askPrice       = "price"
	askVolume      = "volume"
	askYear        = "seat_belt_label"
	askFreight     = "freight_and_insurance"
	askSheet       = "auction_sheet"
	askCertificate = "export_certificate"
)

// ask returns what to ask the seller before paying. What may cost most stands first:
// the taxes of a car that is a year older, and the range of freight and insurance
// with the taxes on it.
func (b *calculation) ask() []vehicle.Question {
	year, freight := b.yearDoubt(), b.freightDoubt()
	type question struct {
		code string
		asks bool
		cost decimal.Decimal // TZS
	}
	of := []question{
		{askPrice, b.invoice.price == nil, decimal.Zero},
		{askVolume, !b.volume.isKnown(), decimal.Zero},
		{askYear, true, year}, // costs it nothing this year, it decides the resale
		{askFreight, freight.IsPositive(), freight},
		{askSheet, b.car.ConditionReportURL == nil, decimal.Zero},
		{askCertificate, true, decimal.Zero},
	}
	if freight.GreaterThan(year) {
		of[2], of[3] = of[3], of[2]
	}
	questions := []vehicle.Question{}
	for _, q := range of {
		if !q.asks {
			continue
		}
		key := "ask/" + q.code
		if q.code == askFreight && !b.freightDecides() {
			key += ".cost"
		}
		asked := vehicle.Question{Code: q.code, Text: say(key, nil)}
		if worth := inUnits(q.cost, unitTZS); worth > 0 {
			asked.WorthTZS = &worth
		}
		questions = append(questions, asked)
	}
	return questions
}

// freightDecides reports whether freight and insurance may decide the taxes.
func (b *calculation) freightDecides() bool {
	return b.hasValue() && (b.invoice.short() || b.invoice.cif.high.GreaterThan(b.implied.own))
}

// yearDoubt returns what the taxes rise by, in shillings, if the car was made a year
// earlier than the listing says.
func (b *calculation) yearDoubt() decimal.Decimal {
	if !b.hasAgeSteps() || !b.hasValue() {
		return decimal.Zero
	}
	older := *b
	older.car.Year = b.yearMade() - 1
	return older.likely(b.taxedValue()).grandTZS.Sub(b.likely(b.taxedValue()).grandTZS)
}

// freightDoubt returns the range of freight and insurance with the taxes on them, in
// shillings.
func (b *calculation) freightDoubt() decimal.Decimal {
	in := b.invoice
	if in.price == nil {
		return decimal.Zero
	}
	if in.short() {
		return decimal.NewFromInt(1) // not known at all
	}
	taxes := b.likely(in.base.high).grandTZS.Sub(b.likely(in.base.low).grandTZS)
	return in.cif.high.Sub(in.cif.low).Mul(b.rate).Add(taxes)
}

// notIncluded returns the costs that the sums do not contain.
func (b *calculation) notIncluded() []vehicle.NotIncluded {
	list := []vehicle.NotIncluded{}
	add := func(code string, v values, perDay *int64) {
		list = append(list, vehicle.NotIncluded{Code: code, Text: message.SayCoded("not_included/"+code, v), PerDayUSD: perDay})
	}
	if b.costs.DaysInPort == nil {
		storage := b.tables.storage
		v := values{"free": itoa(storage.FreeDays), "most": itoa(storage.FreeDaysMax)}
		if b.volume.isKnown() {
			perDay := storage.perDay(b.volume.m3.amount).Round(0).IntPart()
			v["perDay"] = decimal.NewFromInt(perDay).String()
			add(codeStorage, v, &perDay)
		} else {
			add(codeStorage+"_by_volume", v, nil)
		}
	}
	for _, other := range []struct {
		code     string
		isToCome bool
	}{
		{codeInland, b.costs.InlandTZS == nil},
		{codeBank, b.costs.BankUSD == nil},
		{codeComprehensive, !isOn(b.costs.Comprehensive)},
		{"inspection_penalty", isOff(b.costs.Inspection) && b.costs.InspectionUSD == nil},
	} {
		if other.isToCome {
			add(other.code, nil, nil)
		}
	}
	return list
}

// summaryText returns one sentence with the number.
func summaryText(s vehicle.Summary) vehicle.Sentence {
	key, sum := "summary/on_the_road", s.OnTheRoad
	switch {
	case sum == nil && s.WithoutFreight != nil:
		key, sum = "summary/without_freight", s.WithoutFreight
		lacks := func(code string) bool {
			return slices.ContainsFunc(s.Missing, func(m vehicle.MissingPart) bool { return m.Code == code })
		}
		switch {
		case !lacks(codeInsurance):
			key += ".freight"
		case !lacks(codeFreight):
			key += ".insurance"
		}
	case sum == nil && s.PortAndTaxesOnly == nil:
		return message.SayCoded("summary/incomplete", nil)
	case sum == nil:
		key, sum = "summary/port_and_taxes", s.PortAndTaxesOnly
	case s.Landing.From == s.Landing.To:
		key = "summary/on_the_road_day"
	}
	return message.SayCoded(key, values{
		"tzs": itoa64(sum.TZS), "low": itoa64(sum.LowTZS), "high": itoa64(sum.HighTZS),
		"from": s.Landing.From, "to": s.Landing.To,
	})
}

// exchange returns the two exchange rates, and a sentence that states them.
func (b *calculation) exchange() vehicle.Exchange {
	rates := vehicle.ExchangeRates{Taxes: money.NewNumber(b.implied.fx), Others: money.NewNumber(b.rate)}
	key := "summary/exchange"
	if !b.implied.derived {
		key += ".odd"
	}
	return vehicle.Exchange{ExchangeRates: rates, Text: message.SayCoded(key, values{
		"taxes": rates.Taxes.String(), "others": rates.Others.String(),
	})}
}

// whyTaxed says which value is taxed and why. This is the one place that does; the
// others name no more than the basis.
func (b *calculation) whyTaxed() vehicle.Sentence {
	v := values{"source": b.car.Source.Key(), "own": b.implied.tax.CIFInUSD.String()}
	if in := b.invoice; in.price != nil {
		v["price"], v["cif"] = b.price(), rounded(in.cif.amount).String()
		v["low"], v["high"] = rounded(in.cif.low).String(), rounded(in.cif.high).String()
	}
	return message.SayCoded("tax_base/"+b.taxedBecause(), v).And(say("tax_base/reported", nil))
}

// taxedBecause returns the code of why a value is taxed.
func (b *calculation) taxedBecause() string {
	switch in := b.invoice; {
	case in.price == nil:
		return "no_price"
	case !b.hasValue():
		return "no_value"
	case in.short():
		return "not_known"
	}
	return b.basisOfTax()
}

// whyTaxesDiffer says why the taxes to expect are not those of the authority's
// answer, or that they are.
func (b *calculation) whyTaxesDiffer() vehicle.Sentence {
	v := values{"expect": itoa64(inUnits(b.taxed.amount.grandTZS, unitTZS))}
	cause := b.whyChargedOtherwise()
	key := cause
	switch {
	case !b.hasValue():
		key = "no_value"
	case b.invoice.price == nil || b.invoice.short():
		key = "unknown"
	case b.aboveAuthority() && cause != "":
		key = "price_" + cause
	case b.aboveAuthority():
		key = "price"
	case cause == "":
		key = "same"
	}
	if cause == "year" {
		v["listed"], v["made"] = itoa(b.implied.tax.YOM), itoa(b.yearMade())
	}
	return message.SayCoded("summary/taxes_"+key, v)
}

// whyChargedOtherwise returns why the rates on the likely landing day are not those of the
// authority's answer: the car's own year is another than that of the answer, the car is
// older then, or the rules are others; "" when the rates are those of the answer.
func (b *calculation) whyChargedOtherwise() string {
	c := b.chargesOn(b.window.likely)[0]
	switch {
	case c.same:
		return ""
	case c.age.rate.Equal(b.charged()):
		if b.tables.law.On(b.window.likely).From == b.tables.law.On(b.asked).From {
			return "" // of several rates that sources name, the highest is that of the answer
		}
		return "rules"
	case b.yearMade() != b.implied.tax.YOM:
		return "year"
	case duty.Age(b.window.likely, b.yearMade()) > duty.Age(b.asked, b.yearMade()):
		return "age"
	}
	return "rules"
}

type values = message.Values

// say returns a text of the table of texts.
func say(key string, v values) vehicle.Text { return message.Say(key, v) }

func itoa(n int) string { return strconv.Itoa(n) }

func itoa64(n int64) string { return strconv.FormatInt(n, 10) }

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
