package cost

import (
	"github.com/shopspring/decimal"

	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

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
	own := b.implied.tax.CIFInUSD.Decimal()
	return b.hasValue() && (b.invoice.short() || b.invoice.cif.high.GreaterThan(own))
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
	own := s.tax.CIFInUSD.Decimal()
	return s.under(c, own).times(cif.Div(own))
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
