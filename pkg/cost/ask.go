package cost

import (
	"cmp"
	"slices"

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
	type doubt struct {
		code string
		cost decimal.Decimal // TZS
	}
	var doubts []doubt
	if year := b.yearDoubt(); year.IsPositive() {
		doubts = append(doubts, doubt{askYear, year})
	}
	if freight := b.freightDoubt(); freight.IsPositive() {
		doubts = append(doubts, doubt{askFreight, freight})
	}
	slices.SortStableFunc(doubts, func(d, e doubt) int { return cmp.Or(e.cost.Cmp(d.cost)) })
	codes := []string{}
	if b.invoice.price == nil {
		codes = append(codes, askPrice)
	}
	if !b.volume.isKnown() {
		codes = append(codes, askVolume)
	}
	for _, d := range doubts {
		codes = append(codes, d.code)
	}
	if !slices.Contains(codes, askYear) {
		codes = append(codes, askYear) // costs nothing this year, but decides the resale
	}
	if b.car.ConditionReportURL == nil {
		codes = append(codes, askSheet)
	}
	codes = append(codes, askCertificate)
	questions := make([]vehicle.Question, len(codes))
	for i, code := range codes {
		key := "ask/" + code
		if code == askFreight && !b.freightDecides() {
			key += ".cost"
		}
		questions[i] = vehicle.Question{Code: code, Text: say(key, nil)}
		for _, d := range doubts {
			if worth := inUnits(d.cost, unitTZS); d.code == code && worth > 0 {
				questions[i].WorthTZS = &worth
			}
		}
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
	if b.costs.InlandTZS == nil {
		add(codeInland, nil, nil)
	}
	if b.costs.BankUSD == nil {
		add(codeBank, nil, nil)
	}
	if !isOn(b.costs.Comprehensive) {
		add(codeComprehensive, nil, nil)
	}
	if isOff(b.costs.Inspection) && b.costs.InspectionUSD == nil {
		add("inspection_penalty", nil, nil)
	}
	return list
}
