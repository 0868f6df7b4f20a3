package drift_test

import (
	"testing"

	"ushuru/pkg/drift"
	"ushuru/pkg/duty"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

func amount(text string) money.Amount { return money.New(dec(text)) }

func times(a money.Amount, factor string) money.Amount {
	return money.New(a.Decimal().Mul(dec(factor)))
}

func TestImplausibleAnswers(t *testing.T) {
	on := day("2026-11-21")
	for name, c := range map[string]struct {
		change      func(*vehicle.Tax)
		implausible bool
	}{
		"as the rules give it":           {func(*vehicle.Tax) {}, false},
		"a total of two shillings":       {func(tax *vehicle.Tax) { tax.TotalTaxesInTZS = amount("2") }, true},
		"all totals of two shillings":    {func(tax *vehicle.Tax) { setTotals(tax, "2", "2", "2") }, true},
		"no customs value":               {func(tax *vehicle.Tax) { tax.CIFInUSD = amount("0") }, true},
		"a customs value of two dollars": {func(tax *vehicle.Tax) { tax.CIFInUSD = amount("2") }, true},
		"no taxes":                       {func(tax *vehicle.Tax) { setTotals(tax, "0", "0", "450000") }, true},
		"a total of three times": {func(tax *vehicle.Tax) {
			setTotals(tax, times(tax.TotalImportTaxesInUSD, "3").Decimal().String(), times(tax.TotalImportTaxesInTZS, "3").Decimal().String(),
				times(tax.TotalTaxesInTZS, "3").Decimal().String())
		}, true},
		"a dollar of a shilling": {func(tax *vehicle.Tax) { tax.TotalImportTaxesInTZS = tax.TotalImportTaxesInUSD }, true},
		"a changed rate":         {func(tax *vehicle.Tax) { tax.TotalTaxesInTZS = times(tax.TotalTaxesInTZS, "1.3") }, false},
		"a cent":                 {func(tax *vehicle.Tax) { tax.ImportDutyInUSD = amount("0.01") }, false},
		"a tractor without taxes": {func(tax *vehicle.Tax) {
			tax.BodyType = "TRACTOR"
			setTotals(tax, "0", "0", "450000")
		}, false},
	} {
		tax := answer(duty.On(on), 9, 1500, "PETROL", "1001 - 1500 CC", on)
		c.change(&tax)
		if reason := drift.Implausible(tax, on); (reason != "") != c.implausible {
			t.Errorf("%s: %q", name, reason)
		}
	}
}

func setTotals(tax *vehicle.Tax, usd, tzs, total string) {
	tax.TotalImportTaxesInUSD, tax.TotalImportTaxesInTZS, tax.TotalTaxesInTZS = amount(usd), amount(tzs), amount(total)
}

// No answer that follows any dated rules is implausible, whatever the car.
func TestAnswersByAnyRulesArePlausible(t *testing.T) {
	on := day("2026-11-21")
	for rules, more := duty.On(on), true; more; rules, more = rules.Before() {
		for _, fuel := range []string{"PETROL", "DIESEL", "ELECTRIC", "PETROL & ELECTRIC"} {
			for age := range 40 {
				for band, cc := range map[string]int{"0 - 0 CC": 0, "501 - 1000 CC": 1000, "2001 - 2500 CC": 2500, "ABOVE 4000 CC": 4001} {
					tax := answer(rules, age, cc, fuel, band, on)
					if reason := drift.Implausible(tax, on); reason != "" {
						t.Errorf("%s, %s, %s, %d years: %s", rules.From, fuel, band, age, reason)
					}
				}
			}
		}
	}
}

func BenchmarkImplausible(b *testing.B) {
	on := day("2026-11-21")
	tax := answer(duty.On(on), 9, 1500, "PETROL", "1001 - 1500 CC", on)
	for b.Loop() {
		drift.Implausible(tax, on)
	}
}
