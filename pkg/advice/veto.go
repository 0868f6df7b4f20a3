package advice

import (
	"strings"

	"github.com/shopspring/decimal"

	"ushuru/pkg/message"
	"ushuru/pkg/sheet"
	"ushuru/pkg/vehicle"
)

// The codes of the vetoes.
const (
	vetoFlood            = "flood"
	vetoOdometerTampered = "odometer_tampered"
	vetoOdometerUnknown  = "odometer_unknown"
	vetoGrade            = "grade"
	vetoFrameRepair      = "frame_repair"
	vetoRedFlags         = "red_flags"
	vetoSheetMismatch    = "sheet_mismatch"
	vetoSold             = "sold"
	vetoMatchUncertain   = "match_uncertain"
)

// vetoes returns the facts for which a car is never our advice, the gravest first.
func (s side) vetoes() []vehicle.Veto {
	vetoes := s.condition.vetoes()
	if s.hasWarning(warningSold) {
		vetoes = append(vetoes, veto(vetoSold, nil))
	}
	if least, most, far := s.taxSpread(); far {
		vetoes = append(vetoes, veto(vetoMatchUncertain, message.Values{"least": least.String(), "most": most.String()}))
	}
	for i := range vetoes {
		vetoes[i].Car = s.number
	}
	return vetoes
}

func veto(code string, values message.Values) vehicle.Veto {
	return vehicle.Veto{Code: code, Text: message.Say("veto/"+code, values)}
}

// vetoes returns the vetoes of a sheet; none without one.
func (c *Condition) vetoes() (vetoes []vehicle.Veto) {
	if c == nil {
		return nil
	}
	add := func(when bool, code string, values message.Values) {
		if when {
			vetoes = append(vetoes, veto(code, values))
		}
	}
	add(c.has(sheet.FlagFlood), vetoFlood, nil)
	add(c.MileageFlag == "tampered" || c.has(sheet.FlagMeterTampered), vetoOdometerTampered, nil)
	add(c.MileageFlag == "unknown" || c.has(sheet.FlagMeterUnknown), vetoOdometerUnknown, nil)
	add(c.hasWorstGrade(), vetoGrade, message.Values{"grade": c.OverallGrade})
	add(c.Repair == RepairYes || c.has(sheet.FlagFrame), vetoFrameRepair, nil)
	if flags := c.otherFlags(); flags.EN != "" {
		text := message.SayWith("veto/"+vetoRedFlags, nil, map[string]vehicle.Text{"flags": flags})
		vetoes = append(vetoes, vehicle.Veto{Code: vetoRedFlags, Text: text})
	}
	add(c.Mismatches > 0, vetoSheetMismatch, message.Values{"count": number(c.Mismatches)})
	return vetoes
}

// otherFlags returns the texts of the red flags that have no veto of their own;
// empty without one.
func (c *Condition) otherFlags() vehicle.Text {
	en, sw := make([]string, 0, len(c.Flags)), make([]string, 0, len(c.Flags))
	for _, flag := range c.Flags {
		switch flag.Rule {
		case sheet.FlagFlood, sheet.FlagMeterTampered, sheet.FlagMeterUnknown, sheet.FlagRepairGrade, sheet.FlagNotGraded,
			sheet.FlagRepairHistory, sheet.FlagFrame:
			continue
		}
		en, sw = append(en, flag.Text.EN), append(sw, flag.Text.SW)
	}
	return vehicle.Text{EN: strings.Join(en, ", "), SW: strings.Join(sw, ", ")}
}

// taxSpread returns the least and the most tax of the entries that the car may be,
// and whether they are far apart. Only a match of low confidence has such entries.
func (s side) taxSpread() (least, most decimal.Decimal, far bool) {
	if s.estimate.Matched.Confidence != vehicle.Low {
		return least, most, false
	}
	least = s.estimate.Tax.TotalTaxesInTZS.Decimal()
	most = least
	for _, c := range s.estimate.Matched.Candidates {
		if c.TotalTaxesInTZS != nil {
			least, most = decimal.Min(least, c.TotalTaxesInTZS.Decimal()), decimal.Max(most, c.TotalTaxesInTZS.Decimal())
		}
	}
	return least, most, least.IsPositive() && most.GreaterThan(least.Mul(scale["tax_spread"]))
}
