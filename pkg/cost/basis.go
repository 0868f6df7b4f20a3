package cost

import (
	"encoding/json"

	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

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

// sourced returns a line with a source that is no citation.
func sourced(l vehicle.CostLine, source vehicle.Text) vehicle.CostLine {
	l.Source, l.SourceText = source.EN, &source
	return l
}

// ownFigure is the source of a figure of the tables that has none.
const ownFigure = "own"

// cited returns a line with a source of the tables.
func cited(l vehicle.CostLine, source string) vehicle.CostLine {
	if source == ownFigure {
		return sourced(l, say("source/own", nil))
	}
	l.Source = source
	return l
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

// unitBases are the codes of how a price is counted, by its unit; a fraction is said in percent.
var unitBases = map[unit]string{
	perCarUSD: "per_car_usd", perCarTZS: "per_car_tzs", perM3: "per_m3",
	ofCF: "of_cf", ofCIF: "of_cif", ofDuty: "of_duty", ofTaxes: "of_taxes",
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

// remark is what an operator's file says beside an amount: one text for both
// languages, or {"en", "sw"}.
type remark vehicle.Text

// UnmarshalJSON decodes either form.
func (r *remark) UnmarshalJSON(data []byte) error {
	var both string
	if json.Unmarshal(data, &both) == nil {
		*r = remark{EN: both, SW: both}
		return nil
	}
	var text vehicle.Text
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	*r = remark(text)
	return nil
}

// isRemark reports whether a code is one of a text for a fee: it needs no values.
func isRemark(code string) bool {
	names, known := message.ValueNames("basis/" + code)
	return known && len(names) == 0
}
