package drift_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/shopspring/decimal"

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

// Each line counts, not only those that change the totals with them. The
// import taxes in shillings make the exchange rate by which they are judged:
// it is the grand total that then does not follow.
func TestEveryLineOfAnAnswerIsCompared(t *testing.T) {
	on := day("2026-11-21")
	good := answer(duty.On(on), 9, 1500, "PETROL", "1001 - 1500 CC", on)
	for field := range reflect.TypeFor[vehicle.Tax]().Fields() {
		name := field.Tag.Get("json")
		if field.Type != reflect.TypeFor[money.Amount]() || name == "cifInUSD" {
			continue
		}
		tax := good
		amount := reflect.ValueOf(&tax).Elem().FieldByIndex(field.Index)
		amount.Set(reflect.ValueOf(money.New(amount.Interface().(money.Amount).Decimal().Add(dec("50")))))
		if name == "totalImportTaxesInTZS" {
			name = "totalTaxesInTZS"
		}
		if v := drift.Check(tax, on); !slices.ContainsFunc(v.Differences, func(d drift.Difference) bool { return d.Line == name }) {
			t.Errorf("50 more in %s: %+v", field.Name, v)
		}
	}
	if v := drift.Check(good, on); len(v.Differences) > 0 {
		t.Errorf("the answer as it should be: %+v", v)
	}
}

// The only complete modern output that is known agrees; its year of
// manufacture is not known and taken to be one that was charged 30 %.
func TestTheKnownOutputAgrees(t *testing.T) {
	get := func(text string) money.Amount {
		a, err := money.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	v := drift.Check(vehicle.Tax{
		YOM: 2014, FuelType: "PETROL", EngineCapacity: "1501 - 2000 CC", CIFInUSD: get("2,439.00"), ImportDutyInUSD: get("609.75"),
		ExiseDutyInUSD: get("152.44"), ExiseDutyDueToAgeInUSD: get("914.63"), VATInUSD: get("797.86"),
		CustomProcessingFeeInUSD: get("14.63"), RailwayDevLevyInUSD: get("48.78"), HIVRespLevy: get("150,000.00"),
		TotalImportTaxesInUSD: get("2,538.08"), TotalImportTaxesInTZS: get("6,512,672.49"),
		VehicleRegistrationFeeInTZS: get("500,000.00"), TotalTaxesInTZS: get("7,162,672.49"),
	}, day("2025-11-15"))
	if !v.Judged || len(v.Differences) > 0 {
		t.Errorf("%+v", v)
	}
}

func TestACentMoreIsNoDifferenceAndTwoAre(t *testing.T) {
	on := day("2026-11-21")
	for cents, want := range map[int64]int{0: 0, 1: 0, 2: 1} {
		tax := answer(duty.On(on), 3, 1500, "PETROL", "1001 - 1500 CC", on)
		tax.RailwayDevLevyInUSD = money.New(tax.RailwayDevLevyInUSD.Decimal().Add(decimal.New(cents, -2)))
		if got := drift.Check(tax, on).Differences; len(got) != want {
			t.Errorf("%d cents: %+v", cents, got)
		}
	}
}

func TestWhatTheRulesDoNotCoverIsNotJudged(t *testing.T) {
	on := day("2026-11-21")
	for name, change := range map[string]func(*vehicle.Tax){
		"a lorry":             func(tax *vehicle.Tax) { tax.BodyType = "TRUCK" },
		"a minibus by label":  func(tax *vehicle.Tax) { tax.ModelBody = "COASTER - XZB50 - MINIBUS" },
		"an unreadable band":  func(tax *vehicle.Tax) { tax.EngineCapacity = "ANY" },
		"no total":            func(tax *vehicle.Tax) { tax.TotalImportTaxesInUSD = money.Amount{} },
		"no year, hence none": func(tax *vehicle.Tax) { tax.YOM = 0 },
	} {
		tax := answer(duty.On(on), 3, 1500, "PETROL", "1001 - 1500 CC", on)
		change(&tax)
		if v := drift.Check(tax, on); v.Judged || len(v.Differences) > 0 {
			t.Errorf("%s: %+v", name, v)
		}
	}
}
