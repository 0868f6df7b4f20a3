package cost

import (
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// figure is the amount of a line and the source of that amount.
type figure struct {
	both

	line  vehicle.CostLine // standing, estimated, source and date
	basis func() *basis
}

// feeFigure returns the figure of a line that is no part of the customs value. It is
// nil when nothing is charged; gap reports that it is not known.
func (b *calculation) feeFigure(l line) (fig *figure, gap bool) {
	usd, tzs, off := b.callerAmount(l)
	if typed := b.typed(usd, tzs); typed != nil || off {
		return typed, false
	}
	if l.Code == codeStorage {
		return b.storageFigure(), b.costs.DaysInPort != nil && !b.volume.isKnown()
	}
	return b.tableFigure(l, b.facts)
}

// callerAmount returns the caller's amount for a line in one of the currencies, and
// whether the caller leaves the line out.
func (b *calculation) callerAmount(l line) (usd, tzs *money.Number, off bool) {
	c := b.costs
	switch l.Code {
	case codeInspection:
		usd, off = c.InspectionUSD, isOff(c.Inspection)
	case codeRadiation, codeTBS: // TBS at destination stands in place of the inspection
		off = isOff(c.Inspection) || c.InspectionUSD != nil
	case codeAgent:
		tzs, off = c.AgentTZS, isOff(c.Clearing)
	case codePlates:
		off = isOff(c.Plates)
	case codeThirdParty:
		off = isOn(c.Comprehensive)
	case codeComprehensive:
		off = !isOn(c.Comprehensive)
	case codeBank:
		usd = c.BankUSD
	case codeInland:
		tzs = c.InlandTZS
	case codeOther:
		tzs = c.OtherTZS
	case codePort:
		tzs = c.PortTZS
	default:
		off = l.Port && c.PortTZS != nil
	}
	return usd, tzs, off
}

func isOff(is *bool) bool { return is != nil && !*is }

func isOn(is *bool) bool { return is != nil && *is }

// typed returns the exact figure of the caller, in dollars or else in shillings; nil for none.
func (b *calculation) typed(usd, tzs *money.Number) *figure {
	var sum both
	switch {
	case usd != nil:
		sum.usd = only(usd.Decimal())
		sum.tzs = sum.usd.times(b.rate)
	case tzs != nil:
		sum.tzs = only(tzs.Decimal())
		sum.usd = sum.tzs.over(b.rate)
	default:
		return nil
	}
	return &figure{sum, b.typedLine(), func() *basis { return basisOf("caller", nil) }}
}

func (b *calculation) typedLine() vehicle.CostLine {
	return sourced(vehicle.CostLine{Standing: vehicle.Caller, Date: b.day}, say("source/request", nil))
}

// storageFigure returns the storage for the days in the port that the caller names;
// nil when it costs nothing.
func (b *calculation) storageFigure() *figure {
	if b.costs.DaysInPort == nil {
		return nil
	}
	s := b.tables.storage
	usd := s.of(b.volume.m3, *b.costs.DaysInPort)
	if usd.high.IsZero() {
		return nil
	}
	return &figure{both{usd, usd.times(b.rate)}, s.line(), b.storageBasis}
}

// tableFigure returns the figure of the tables for a line. Its amount is that of the
// likely landing day; its range covers the other days. It is nil when nothing is
// charged; gap reports that the tables do not cover the likely day, or that the volume by
// which it is charged is not known.
func (b *calculation) tableFigure(l line, by facts) (fig *figure, gap bool) {
	f, gap := b.inForce(l, b.window.likely)
	if f == nil {
		return nil, gap
	}
	if f.byVolume() && !b.volume.isKnown() {
		return nil, true
	}
	sum := f.charge(by)
	for _, day := range b.tariffDays(l) {
		other, _ := b.inForce(l, day)
		if other == nil || other == f {
			continue
		}
		or := other.charge(by)
		sum = both{sum.usd.widened(or.usd), sum.tzs.widened(or.tzs)}
	}
	if sum.usd.high.IsZero() {
		return nil, false
	}
	return &figure{sum, f.line(), func() *basis { return b.basis(f) }}, false
}

// tariffDays returns the landing days on which different fees of a line may hold.
func (b *calculation) tariffDays(l line) []time.Time {
	w := b.window
	if w.from.Equal(w.to) {
		return nil
	}
	days := []time.Time{w.from, w.to}
	for _, f := range l.Fees {
		if f.From == "" {
			continue
		}
		day, err := time.ParseInLocation(time.DateOnly, f.From, w.from.Location())
		if err == nil && day.After(w.from) && day.Before(w.to) {
			days = append(days, day)
		}
	}
	return days
}

// table returns a line of the tables; one without fees for a code that they do not have.
func (t *Tables) table(code string) (of line) {
	if i := slices.IndexFunc(t.lines, func(l line) bool { return l.Code == code }); i >= 0 {
		of = t.lines[i]
	}
	return of
}

// invoice is the value that the listing's price makes, in USD: the price with
// freight and insurance.
type invoice struct {
	price     *decimal.Decimal // nil: the listing gives none in dollars
	withSea   bool             // the price is C&F to Dar es Salaam
	freight   *figure          // nil: in the price, or not known
	insurance *figure          // nil: there is none, or it is not known
	noFreight bool             // it is not known
	noCover   bool             // the insurance is not known
	cf, cif   moneyRange
	base      moneyRange // what is taxed: the higher of CIF and the authority's
}

// short reports that the CIF is more than is known.
func (in invoice) short() bool { return in.noFreight || in.noCover }

// invoiceOf reads the price. An asking price in yen, or of an auction, is no
// price here: freight and fees on the way to the ship are not known. The caller's
// freight is added to the price without freight, when there is one.
func (b *calculation) invoiceOf() invoice {
	in := invoice{base: only(b.implied.own)}
	listed := b.car.CFPriceUSD
	in.withSea = positive(listed) && !b.freightTyped() && !b.hardlyFreight()
	if !in.withSea {
		listed = b.car.FOBPriceUSD
	}
	if !positive(listed) {
		return in
	}
	price := listed.Decimal()
	in.price, in.cf = &price, only(price)
	if !in.withSea {
		if in.freight, in.noFreight = b.freight(); in.freight != nil {
			in.cf = in.cf.plus(in.freight.usd)
		}
	}
	in.cif = in.cf
	if in.insurance, in.noCover = b.insurance(in.cf); in.insurance != nil {
		in.cif = in.cf.plus(in.insurance.usd)
	}
	in.base = in.cif.atLeast(b.implied.own)
	return in
}

// freight returns the freight to Dar es Salaam of a price that does not contain it:
// the caller's figure, or that of the tables.
func (b *calculation) freight() (fig *figure, gap bool) {
	if typed := b.typed(b.costs.FreightUSD, nil); typed != nil {
		return typed, false
	}
	return b.tableFigure(b.tables.table(codeFreight), facts{m3: b.volume.m3, rate: b.rate})
}

// insurance returns the marine insurance of a price with freight.
func (b *calculation) insurance(cf moneyRange) (fig *figure, gap bool) {
	if typed := b.typed(b.costs.InsuranceUSD, nil); typed != nil || isOff(b.costs.Insurance) {
		return typed, false
	}
	return b.tableFigure(b.tables.table(codeInsurance), facts{cf: cf, rate: b.rate})
}

// leastFreight is less than any car was shipped to Dar es Salaam for, in USD.
var leastFreight = decimal.NewFromInt(100)

// hardlyFreight reports a price with freight that is so near to the price without that it
// cannot contain it.
func (b *calculation) hardlyFreight() bool {
	fob, cf := b.car.FOBPriceUSD, b.car.CFPriceUSD
	return positive(fob) && positive(cf) && cf.Decimal().Sub(fob.Decimal()).LessThan(leastFreight)
}

// freightTyped reports whether the caller's freight stands in place of that in the
// price: it needs a price without freight.
func (b *calculation) freightTyped() bool {
	return b.costs.FreightUSD != nil && positive(b.car.FOBPriceUSD)
}

func positive(n *money.Number) bool { return n != nil && n.Decimal().IsPositive() }

// taxBase says what the taxes are computed on.
func (b *calculation) taxBase() vehicle.TaxBase {
	own, in := b.implied.tax.CIFInUSD, b.invoice
	base := vehicle.TaxBase{
		Basis: b.basisOfTax(), CIFInUSD: rounded(in.base.amount), AuthorityCIF: own,
		Estimated: b.estimated(), Explanation: message.SayCoded("tax_base_short/"+b.taxedBecause(), nil),
	}
	if in.price != nil && !in.short() {
		low, amount, high := rounded(in.cif.low), rounded(in.cif.amount), rounded(in.cif.high)
		base.InvoiceCIFLow, base.InvoiceCIF, base.InvoiceCIFHigh = &low, &amount, &high
	}
	if b.isComputed() {
		base.Recomputed = b.taxed.amount.recomputed()
	}
	return base
}

// basisOfTax says which of the two values is taxed.
func (b *calculation) basisOfTax() string {
	own, in := b.implied.own, b.invoice
	switch {
	case in.price == nil, !b.hasValue():
		return vehicle.BasisUndecided
	case in.cif.low.GreaterThan(own):
		return vehicle.BasisInvoice
	case in.short(), in.cif.high.GreaterThan(own):
		return vehicle.BasisUndecided
	default:
		return vehicle.BasisAuthority
	}
}

// estimated reports whether the invoice's CIF holds figures of our tables.
func (b *calculation) estimated() bool {
	return b.invoice.price != nil && !b.invoice.cif.amount.Equal(*b.invoice.price)
}

// isComputed reports whether the taxes are the service's own computation: on more
// than the authority's value, or for a landing day with other rates.
func (b *calculation) isComputed() bool {
	return b.aboveAuthority() || b.hasValue() && !b.chargesOn(b.window.likely)[0].same
}

// aboveAuthority reports whether the taxes are computed on more than the
// authority's value.
func (b *calculation) aboveAuthority() bool {
	return b.hasValue() && b.invoice.base.amount.GreaterThan(b.implied.own)
}

// basis is how an amount is derived: texts of the table, one after the other.
type basis struct{ parts message.Parts }

// basisOf returns a basis of one part.
func basisOf(code string, v values) *basis {
	b := &basis{message.Parts{Separator: "; "}}
	return b.and(code, v)
}

// and adds a part.
func (s *basis) and(code string, v values) *basis {
	s.parts.Add("basis/"+code, v)
	return s
}

// explain says in a line how its amount is derived.
func (s *basis) explain(l *vehicle.CostLine) {
	text := s.parts.Text()
	l.Basis, l.BasisText, l.BasisParts = text.EN, &text, s.parts.List()
}

// basis explains how a fee is derived.
func (b *calculation) basis(f *fee) *basis {
	s := f.Amount.basis()
	if f.VAT.IsPositive() {
		s.and("plus_vat", values{"percent": f.VAT.Shift(2).String()})
	}
	if f.VATInHigh.IsPositive() {
		s.and("vat_in_high", values{"percent": f.VATInHigh.Shift(2).String()})
	}
	if f.Amount.Unit == perM3 {
		b.volumeBasis(s)
	}
	if f.Remark != "" {
		s.and(f.Remark, nil)
	}
	if f.Basis.EN != "" {
		s.parts.AddOwn("remark", vehicle.Text(f.Basis))
	}
	return s
}

// basis explains a price by its unit.
func (p price) basis() *basis {
	switch {
	case p.Unit.isFraction():
		return basisOf(unitBases[p.Unit], values{"percent": p.Value.Shift(2).String()})
	case p.Unit == perM3:
		return basisOf(unitBases[p.Unit], values{"value": p.Value.String()})
	}
	return basisOf(unitBases[p.Unit], values{"value": rounded(p.Value).String()})
}

// unitBases are the codes of how a price is counted, by its unit; a fraction is said in percent.
var unitBases = map[unit]string{
	perCarUSD: "per_car_usd", perCarTZS: "per_car_tzs", perM3: "per_m3",
	ofCF: "of_cf", ofCIF: "of_cif", ofDuty: "of_duty", ofTaxes: "of_taxes",
}

// volumeBasis explains from where the volume of the car is.
func (b *calculation) volumeBasis(s *basis) {
	v := values{"m3": b.volume.m3.amount.String(), "low": b.volume.m3.low.String(), "high": b.volume.m3.high.String()}
	switch {
	case b.volume.typed:
		s.and("volume", values{"m3": v["m3"], "source": vehicle.FromRequest.Key()})
	case b.volume.listed:
		s.and("volume", values{"m3": v["m3"], "source": b.car.Source.Key()})
	default:
		s.and("volume_typical", v)
		if from := b.tables.volumes.Source; from == ownFigure {
			s.and("volume_source.own", nil)
		} else {
			s.and("volume_source", values{"source": from})
		}
	}
}

// storageBasis explains how the storage in the port is derived.
func (b *calculation) storageBasis() *basis {
	s := b.tables.storage
	from := basisOf("storage_days", values{"days": itoa(*b.costs.DaysInPort)}).
		and("storage_first", values{"value": s.PerDay.String(), "free": itoa(s.FreeDays), "most": itoa(s.FreeDaysMax)}).
		and("storage_later", values{"value": s.Later.String(), "days": itoa(s.Days)})
	if s.Removal.IsPositive() {
		from.and("storage_removal", values{"value": s.Removal.String()})
	}
	if s.VAT.IsPositive() {
		from.and("plus_vat", values{"percent": s.VAT.Shift(2).String()})
	}
	return from
}

// taxesBasis explains how the import taxes are derived.
func (b *calculation) taxesBasis() *basis {
	if !b.isComputed() {
		return basisOf("taxes_authority", values{"cif": b.implied.tax.CIFInUSD.String()})
	}
	how := "by_proportion"
	if b.implied.formula {
		how = "by_rates"
	}
	return basisOf("taxes_computed", values{
		"day": dateOf(b.window.likely), "cif": rounded(b.taxedValue()).String(),
	}).and(how, nil)
}

// sourced returns a line with a source that is no citation.
func sourced(l vehicle.CostLine, source vehicle.Text) vehicle.CostLine {
	l.Source, l.SourceText = source.EN, &source
	return l
}

// cited returns a line with a source of the tables.
func cited(l vehicle.CostLine, source string) vehicle.CostLine {
	if source == ownFigure {
		return sourced(l, say("source/own", nil))
	}
	l.Source = source
	return l
}

// both is an amount in both currencies.
type both struct{ usd, tzs moneyRange }

// bothOf returns the amount of a line.
func bothOf(l vehicle.CostLine) both {
	return both{
		moneyRange{l.LowUSD.Decimal(), l.AmountUSD.Decimal(), l.HighUSD.Decimal()},
		moneyRange{l.LowTZS.Decimal(), l.AmountTZS.Decimal(), l.HighTZS.Decimal()},
	}
}

func (s both) plus(t both) both { return both{s.usd.plus(t.usd), s.tzs.plus(t.tzs)} }

func (s both) times(factor decimal.Decimal) both {
	return both{s.usd.times(factor), s.tzs.times(factor)}
}

// moneyRange is an amount with its lower and upper bound.
type moneyRange struct{ low, amount, high decimal.Decimal }

// only returns the range of a single amount.
func only(amount decimal.Decimal) moneyRange { return moneyRange{amount, amount, amount} }

// isOne reports whether a range was made by only.
func (s moneyRange) isOne() bool { return s.low == s.amount && s.high == s.amount }

func (s moneyRange) isRange() bool { return !s.low.Equal(s.high) }

// each applies a non-decreasing function to all three amounts.
func (s moneyRange) each(f func(decimal.Decimal) decimal.Decimal) moneyRange {
	if s.isOne() {
		return only(f(s.amount))
	}
	return moneyRange{f(s.low), f(s.amount), f(s.high)}
}

func (s moneyRange) plus(t moneyRange) moneyRange {
	if s.isOne() && t.isOne() {
		return only(s.amount.Add(t.amount))
	}
	return moneyRange{s.low.Add(t.low), s.amount.Add(t.amount), s.high.Add(t.high)}
}

func (s moneyRange) times(factor decimal.Decimal) moneyRange {
	return s.each(func(d decimal.Decimal) decimal.Decimal { return d.Mul(factor) })
}

func (s moneyRange) over(divisor decimal.Decimal) moneyRange {
	return s.each(func(d decimal.Decimal) decimal.Decimal { return d.Div(divisor) })
}

// atLeast raises amounts below a floor to it.
func (s moneyRange) atLeast(floor decimal.Decimal) moneyRange {
	return s.each(func(d decimal.Decimal) decimal.Decimal { return decimal.Max(d, floor) })
}

// widened returns the range with bounds that include another.
func (s moneyRange) widened(t moneyRange) moneyRange {
	return moneyRange{decimal.Min(s.low, t.low), s.amount, decimal.Max(s.high, t.high)}
}

// ordered widens the bounds to include the amount.
func (s moneyRange) ordered() moneyRange {
	if s.isOne() {
		return s
	}
	return moneyRange{decimal.Min(s.low, s.amount, s.high), s.amount, decimal.Max(s.low, s.amount, s.high)}
}

// rounded returns an amount rounded half up to the cent.
func rounded(value decimal.Decimal) money.Amount { return money.New(cents(value)) }

func cents(value decimal.Decimal) decimal.Decimal {
	const places = 2
	if value.Exponent() >= -places {
		return value // as Round would return it, after some multiplications
	}
	return value.Round(places)
}
