package cost_test

import (
	"testing"

	"ushuru/pkg/cost"
	"ushuru/pkg/vehicle"
)

// An operator's file stands over the storage and the landing times, and its own words
// are shown in both languages.
func TestAFileStandsOverStorageAndLanding(t *testing.T) {
	t.Parallel()
	tables, err := cost.Parse([]byte(`{
		"landings": [{"countries": ["JAPAN"], "from_days": 20, "to_days": 30, "standing": "quoted", "source": "our line", "date": "2026-11"}],
		"storage": {"free_days": 3, "free_days_most": 3, "per_day": "2.00", "days": 10, "per_day_later": "4.00", "removal": "0", "vat": "0",
			"standing": "official", "source": "our port", "date": "2026-11"},
		"lines": [{"code": "plate", "fees": [{"amount": {"value": "50000", "unit": "TZS"}, "basis": {"en": "our words", "sw": "maneno yetu"},
			"standing": "quoted", "source": "our shop", "date": "2026-11"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	days := 15
	e := vehicle.Estimate{
		Tax: answer(november, 2019, 1496, "PETROL", "3199"),
		Car: vehicle.Car{FOBPriceUSD: number("4000"), M3: number("10"), LocatedIn: "JAPAN"},
	}
	a := tables.Calculate(e, vehicle.Terms{Costs: &vehicle.Costs{DaysInPort: &days}}, november)
	if l := a.Summary.Landing; l.From != dayOf(november.AddDate(0, 0, 20)) || l.To != dayOf(november.AddDate(0, 0, 30)) ||
		l.Basis.Values["source"] != "our line" {
		t.Errorf("landing %+v", l)
	}
	// 12 days after the free ones: 10 at 2 and 2 at 4 dollars for each of 10 m³.
	storage := lineOf(a.DriveAway, "port_storage")
	if storage.AmountUSD.String() != "280.00" || storage.LowUSD.String() != storage.HighUSD.String() || storage.Source != "our port" ||
		storage.Standing != vehicle.Official {
		t.Errorf("storage %+v", storage)
	}
	if want := "15 days in the port; USD 2 per cubic metre and day after 3 free days (by older sources 3); USD 4 after 10 days"; storage.Basis != want {
		t.Errorf("basis %q", storage.Basis)
	}
	if plate := lineOf(a.DriveAway, "plate"); plate.BasisText.SW != "TSh 50,000.00 kwa gari moja; maneno yetu" {
		t.Errorf("plate %+v", plate.BasisText)
	}
	without := tables.Calculate(e, vehicle.Terms{}, november).Summary.NotIncluded[0]
	if without.Code != "port_storage" || *without.PerDayUSD != 20 || without.Text.Values["free"] != "3" {
		t.Errorf("not included %+v", without)
	}
	for name, bad := range map[string]string{
		"landing backwards": `{"landings": [{"countries": ["JAPAN"], "from_days": 30, "to_days": 20, "standing": "quoted", "source": "s", "date": "2026"}]}`,
		"no source":         `{"storage": {"free_days": 3, "free_days_most": 3, "per_day": "1", "per_day_later": "1", "removal": "0", "vat": "0", "standing": "official"}}`,
		"one language": `{"lines": [{"code": "plate", "fees": [{"amount": {"value": "1", "unit": "TZS"}, "basis": {"en": "x"},
			"standing": "quoted", "source": "s", "date": "2026"}]}]}`,
		"an unknown remark": `{"lines": [{"code": "plate", "fees": [{"amount": {"value": "1", "unit": "TZS"}, "remark": "none",
			"standing": "quoted", "source": "s", "date": "2026"}]}]}`,
	} {
		if _, err := cost.Parse([]byte(bad)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
