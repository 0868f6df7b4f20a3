package cost

import (
	"slices"
	"time"

	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// figure is the amount of a line and the source of that amount.
type figure struct {
	both

	line  vehicle.CostLine // standing, estimated, source and date
	basis func() *basis
}

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

// table returns a line of the tables; false when there is none.
func (t *Tables) table(code string) (line, bool) {
	i := slices.IndexFunc(t.lines, func(l line) bool { return l.Code == code })
	if i < 0 {
		return line{}, false
	}
	return t.lines[i], true
}

// seaFigure returns the figure of a line that is part of the customs value: freight
// or insurance. It is nil when nothing is charged; gap reports that it is not known.
func (b *calculation) seaFigure(code string, by facts) (fig *figure, gap bool) {
	l, _ := b.tables.table(code)
	return b.tableFigure(l, by)
}

// freight returns the freight to Dar es Salaam of a price that does not contain it:
// the caller's figure, or that of the tables.
func (b *calculation) freight() (fig *figure, gap bool) {
	if typed := b.typed(b.costs.FreightUSD, nil); typed != nil {
		return typed, false
	}
	return b.seaFigure(codeFreight, facts{m3: b.volume.m3, rate: b.rate})
}

// insurance returns the marine insurance of a price with freight.
func (b *calculation) insurance(cf moneyRange) (fig *figure, gap bool) {
	if typed := b.typed(b.costs.InsuranceUSD, nil); typed != nil || isOff(b.costs.Insurance) {
		return typed, false
	}
	return b.seaFigure(codeInsurance, facts{cf: cf, rate: b.rate})
}

func isOff(is *bool) bool { return is != nil && !*is }

func isOn(is *bool) bool { return is != nil && *is }

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
