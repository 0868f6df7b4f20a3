package cost_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/cost"
	"ushuru/pkg/duty"
	"ushuru/pkg/localtime"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"

	"ushuru/pkg/golden"
)

func dec(text string) decimal.Decimal { return decimal.RequireFromString(text) }

func number(text string) *money.Number {
	n := money.NewNumber(dec(text))
	return &n
}

func amount(text string) money.Amount {
	a, err := money.Parse(text)
	if err != nil {
		panic(err)
	}
	return a
}

// november is a day after July 2026, and summer one before.
var (
	november = time.Date(2026, 11, 21, 9, 0, 0, 0, localtime.Zone)
	autumn   = time.Date(2025, 11, 15, 9, 0, 0, 0, localtime.Zone)
)

// forester is the authority's only complete modern output (2025 Q4). Its year
// of manufacture is not known; 2014 fits the excise it was charged.
var forester = vehicle.Tax{
	ReferenceNumber: "25264120160", BodyType: "SUV", YOM: 2014, Country: "JAPAN", FuelType: "PETROL",
	EngineCapacity: "1501 - 2000 CC", CIFInUSD: amount("2,439.00"), ImportDutyInUSD: amount("609.75"),
	ExiseDutyInUSD: amount("152.44"), ExiseDutyDueToAgeInUSD: amount("914.63"), VATInUSD: amount("797.86"),
	CustomProcessingFeeInUSD: amount("14.63"), RailwayDevLevyInUSD: amount("48.78"), HIVRespLevy: amount("150,000.00"),
	TotalImportTaxesInUSD: amount("2,538.08"), TotalImportTaxesInTZS: amount("6,512,672.49"),
	VehicleRegistrationFeeInTZS: amount("500,000.00"), TotalTaxesInTZS: amount("7,162,672.49"), Quarter: 4, Year: 2025,
}

// answer is what the authority would say by the rules of a day.
func answer(on time.Time, yom, cc int, fuel, cif string) vehicle.Tax {
	b := duty.On(on).Compute(duty.Vehicle{CC: cc, Fuel: fuel, Age: duty.Age(on, yom)}, dec(cif), dec("2565.98"))
	tax := vehicle.Tax{
		ReferenceNumber: "SIM", BodyType: "HATCHBACK", YOM: yom, Country: "JAPAN", FuelType: fuel, CIFInUSD: b.CIF,
		ImportDutyInUSD: b.ImportDuty, ExiseDutyInUSD: b.Excise, ExiseDutyDueToAgeInUSD: b.AgeExcise, VATInUSD: b.VAT,
		CustomProcessingFeeInUSD: b.ProcessingFee, RailwayDevLevyInUSD: b.RailwayLevy, IndDevLevy: b.IndustrialLevy,
		HIVRespLevy: b.HIVLevy, TotalImportTaxesInUSD: b.TotalUSD, TotalImportTaxesInTZS: b.TotalTZS,
		VehicleRegistrationFeeInTZS: b.Registration, TotalTaxesInTZS: b.GrandTotalTZS,
	}
	for _, a := range []*money.Amount{
		&tax.CIFInUSD, &tax.ImportDutyInUSD, &tax.ExiseDutyInUSD, &tax.ExiseDutyDueToAgeInUSD, &tax.VATInUSD,
		&tax.CustomProcessingFeeInUSD, &tax.RailwayDevLevyInUSD, &tax.TotalImportTaxesInUSD, &tax.TotalImportTaxesInTZS,
		&tax.TotalTaxesInTZS,
	} {
		*a = money.New(a.Decimal().Round(2)) // as printed
	}
	return tax
}

func TestGolden(t *testing.T) {
	m3 := number("10.553")
	for name, c := range map[string]struct {
		estimate vehicle.Estimate
		rate     string
		now      time.Time
	}{
		"price-below":   {vehicle.Estimate{Car: vehicle.Car{FOBPriceUSD: number("500"), M3: m3}, Tax: forester}, "2650", autumn},
		"price-above":   {vehicle.Estimate{Car: vehicle.Car{CFPriceUSD: number("6180"), M3: m3}, Tax: forester}, "2650", autumn},
		"at-the-edge":   {vehicle.Estimate{Car: vehicle.Car{FOBPriceUSD: number("1200"), M3: m3}, Tax: forester}, "2700", autumn},
		"no-price":      {vehicle.Estimate{Car: vehicle.Car{Currency: "JPY", AskingPrice: number("900000")}, Tax: forester}, "2650", autumn},
		"age-step":      {vehicle.Estimate{Car: vehicle.Car{FOBPriceUSD: number("2000"), M3: m3}, Tax: answer(november, 2016, 1320, "PETROL", "4000")}, "2650", november},
		"electric":      {vehicle.Estimate{Car: vehicle.Car{CFPriceUSD: number("9500")}, Tax: answer(november, 2018, 0, "ELECTRIC", "7000")}, "2650", november},
		"of-the-german": {vehicle.Estimate{Car: vehicle.Car{FOBPriceUSD: number("3000")}, Tax: germany(answer(november, 2019, 1400, "PETROL", "8000"))}, "2650", november},
	} {
		t.Run(name, func(t *testing.T) {
			answer := cost.Embedded().Calculate(c.estimate, vehicle.Terms{Rate: dec(c.rate)}, c.now)
			got, err := json.MarshalIndent(struct {
				Summary   vehicle.Summary   `json:"summary"`
				DriveAway vehicle.DriveAway `json:"driveAway"`
				Warnings  []vehicle.Warning `json:"warnings"`
			}{answer.Summary, answer.DriveAway, answer.Warnings}, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden.Check(t, "testdata/"+name+".json", string(got)+"\n")
		})
	}
}

func germany(tax vehicle.Tax) vehicle.Tax {
	tax.Country = "GERMANY"
	return tax
}

func BenchmarkDriveAway(b *testing.B) {
	estimate := vehicle.Estimate{Car: vehicle.Car{FOBPriceUSD: number("6180"), M3: number("10.553")}, Tax: forester}
	for b.Loop() {
		landed(cost.Embedded(), estimate, cost.DefaultRate, autumn)
	}
}

// Every line of a cost is among the codes that a table has columns for.
func TestCodesNameEveryLine(t *testing.T) {
	t.Parallel()
	e := vehicle.Estimate{
		Tax: answer(november, 2016, 1496, "PETROL", "3199"), Car: vehicle.Car{FOBPriceUSD: number("4000"), M3: number("11")},
	}
	known := map[string]bool{}
	var taxes []string
	for _, c := range cost.Embedded().Codes() {
		known[c.Code] = true
		if c.Tax {
			taxes = append(taxes, c.Code)
		}
	}
	for _, l := range cost.Embedded().Calculate(e, onDays(cost.DefaultRate, november, november), november).DriveAway.Lines {
		if !known[l.Code] {
			t.Errorf("no column for %s", l.Code)
		}
	}
	if got := strings.Join(taxes, " "); got != "import_taxes hiv_levy registration" {
		t.Errorf("got taxes %s", got)
	}
}
