package cost

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/duty"
	"ushuru/pkg/localtime"
	"ushuru/pkg/money"
	"ushuru/pkg/testenv"
	"ushuru/pkg/vehicle"
)

// printed makes an answer of figures as an output prints them.
func printed(figures map[string]string) vehicle.Tax {
	get := func(name string) money.Amount {
		if figures[name] == "" {
			return money.Amount{}
		}
		return money.New(decimal.RequireFromString(figures[name]))
	}
	return vehicle.Tax{
		CIFInUSD: get("cif_usd"), ImportDutyInUSD: get("import_duty_usd"), ExiseDutyInUSD: get("excise_usd"),
		ExiseDutyDueToAgeInUSD: get("age_excise_usd"), VATInUSD: get("vat_usd"),
		CustomProcessingFeeInUSD: get("processing_fee_usd"), RailwayDevLevyInUSD: get("railway_levy_usd"),
		HIVRespLevy: get("hiv_levy_tzs"), VehicleRegistrationFeeInTZS: get("registration_tzs"),
		TotalImportTaxesInUSD: get("total_usd"), TotalImportTaxesInTZS: get("total_tzs"), TotalTaxesInTZS: get("grand_total_tzs"),
	}
}

// outputs are the full breakdowns of docs/sources.md (Taxes) that are known.
var outputs = map[int]map[string]string{
	1: {
		"cif_usd": "2450.00", "import_duty_usd": "612.50", "excise_usd": "153.13", "age_excise_usd": "459.38",
		"vat_usd": "661.50", "total_usd": "1887", "total_tzs": "3783391", "grand_total_tzs": "3783391",
	},
	2: {
		"cif_usd": "5164.00", "import_duty_usd": "1291.00", "excise_usd": "322.75", "age_excise_usd": "968.25",
		"vat_usd": "1394.28", "total_usd": "3976", "total_tzs": "7128968", "grand_total_tzs": "7128968",
	},
	3: {
		"cif_usd": "2553.86", "import_duty_usd": "638.47", "excise_usd": "159.62", "age_excise_usd": "958.00",
		"vat_usd": "819.83", "processing_fee_usd": "15.32", "railway_levy_usd": "38.31", "total_usd": "2629.24",
		"total_tzs": "5681787.64", "registration_tzs": "420000.00", "grand_total_tzs": "6101787.64",
	},
	4: {
		"cif_usd": "2439.00", "import_duty_usd": "609.75", "excise_usd": "152.44", "age_excise_usd": "914.63",
		"vat_usd": "797.86", "processing_fee_usd": "14.63", "railway_levy_usd": "48.78", "hiv_levy_tzs": "150000.00",
		"total_usd": "2538.08", "total_tzs": "6512672.49", "registration_tzs": "500000.00", "grand_total_tzs": "7162672.49",
	},
}

// The rates and the exchange rate of each output are found from the output
// itself. Output 3 does not follow the formula: its VAT lies between that
// without the registration fee and that with it.
func TestRatesOfTheWorkedOutputs(t *testing.T) {
	for n, want := range map[int]struct {
		fx, age string
		formula bool
	}{1: {"2004.98", "0.15", true}, 2: {"1793", "0.15", true}, 3: {"2161", "0.3", false}, 4: {"2565.98", "0.3", true}} {
		s := impliedRatesOf(printed(outputs[n]), DefaultRate)
		age := s.rules.AgeExcise[0].Rate
		if s.fx.String() != want.fx || age.String() != want.age || s.formula != want.formula || !s.derived {
			t.Errorf("output %d: FX %s, age excise %s, formula %v; want %+v", n, s.fx, age, s.formula, want)
		}
		if r := s.rules; r.ImportDuty.String() != "0.25" || r.Excise[0].Rate.String() != "0.05" || r.VAT.String() != "0.18" {
			t.Errorf("output %d: %s, %s, %s", n, r.ImportDuty, r.Excise[0].Rate, r.VAT)
		}
	}
}

func TestTheKnownGapOfOutput3(t *testing.T) {
	s := impliedRatesOf(printed(outputs[3]), DefaultRate)
	computed := s.rules.Compute(duty.Vehicle{}, decimal.RequireFromString("2553.86"), s.fx)
	if got := computed.VAT.String(); got != "820.37" { // printed 819.83
		t.Errorf("VAT with the whole fee %s", got)
	}
	if got := computed.AgeExcise.String(); got != "957.70" { // printed 958.00
		t.Errorf("age excise %s", got)
	}
	// So a higher value is taxed in proportion, and nothing jumps at the edge.
	if got := rounded(s.on(decimal.RequireFromString("5107.72")).usd).String(); got != "5,258.48" {
		t.Errorf("at twice the value %s", got)
	}
}

// The formula reproduces the complete modern output in every field, from the
// rates that the output itself shows.
func TestOutput4ToTheCent(t *testing.T) {
	tax := printed(outputs[4])
	s := impliedRatesOf(tax, DefaultRate)
	b := s.rules.Compute(duty.Vehicle{}, tax.CIFInUSD.Decimal(), s.fx)
	for name, pair := range map[string][2]money.Amount{
		"duty": {b.ImportDuty, tax.ImportDutyInUSD}, "excise": {b.Excise, tax.ExiseDutyInUSD},
		"age": {b.AgeExcise, tax.ExiseDutyDueToAgeInUSD}, "vat": {b.VAT, tax.VATInUSD},
		"fee": {b.ProcessingFee, tax.CustomProcessingFeeInUSD}, "railway": {b.RailwayLevy, tax.RailwayDevLevyInUSD},
		"usd": {b.TotalUSD, tax.TotalImportTaxesInUSD}, "tzs": {b.TotalTZS, tax.TotalImportTaxesInTZS},
		"hiv": {b.HIVLevy, tax.HIVRespLevy}, "registration": {b.Registration, tax.VehicleRegistrationFeeInTZS},
		"grand": {b.GrandTotalTZS, tax.TotalTaxesInTZS},
	} {
		if pair[0].String() != pair[1].String() {
			t.Errorf("%s is %s, printed %s", name, pair[0], pair[1])
		}
	}
}

// Vectors B: the same car with a higher invoice.
func TestTheInvoiceFloorGivesTheComputedVectors(t *testing.T) {
	for cif, want := range map[string]vehicle.Recomputed{
		"3000": recomputed("750.00", "187.50", "1125.00", "970.89", "18.00", "60.00", "3111.39", "7983755.82", "8633755.82"),
		"5000": recomputed("1250.00", "312.50", "1875.00", "1587.75", "30.00", "100.00", "5155.25", "13228259.71", "13878259.71"),
	} {
		got := impliedRatesOf(printed(outputs[4]), DefaultRate).on(decimal.RequireFromString(cif)).recomputed()
		if gotJSON, wantJSON := asJSON(t, got), asJSON(t, want); gotJSON != wantJSON {
			t.Errorf("CIF %s:\n%s, want\n%s", cif, gotJSON, wantJSON)
		}
	}
}

func recomputed(figures ...string) vehicle.Recomputed {
	a := make([]money.Amount, len(figures))
	for i, figure := range figures {
		a[i] = money.New(decimal.RequireFromString(figure))
	}
	return vehicle.Recomputed{
		ImportDutyInUSD: a[0], ExciseDutyInUSD: a[1], ExciseDutyDueToAgeInUSD: a[2], VATInUSD: a[3],
		CustomProcessingFeeInUSD: a[4], RailwayDevLevyInUSD: a[5], TotalImportTaxesInUSD: a[6],
		TotalImportTaxesInTZS: a[7], TotalTaxesInTZS: a[8],
	}
}

func asJSON(t *testing.T, value any) string {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Output 6: the port charges of a Murano, 15.066 m³ at a CIF of USD 3,470.
func TestPortChargesOfOutput6(t *testing.T) {
	m3 := money.NewNumber(decimal.RequireFromString("15.066"))
	drive := Embedded().Calculate(vehicle.Estimate{
		Car: vehicle.Car{M3: &m3}, Tax: printed(map[string]string{"cif_usd": "3470"}),
	}, vehicle.Terms{}, time.Date(2026, 11, 21, 12, 0, 0, 0, localtime.Zone)).DriveAway
	want := map[string]string{"handling": "124.45", "corridor_levy": "5.33", "wharfage": "55.52"}
	for _, l := range drive.Lines {
		if amount, ok := want[l.Code]; ok && l.AmountUSD.String() != amount {
			t.Errorf("%s: %s, want %s", l.Code, l.AmountUSD, amount)
		}
		delete(want, l.Code)
	}
	if len(want) > 0 {
		t.Errorf("no lines for %v", want)
	}
}

// Output 11: the report of the floor. 4,819 by the calculator, 7,300 on the
// invoice: 7,300 was taxed.
func TestTheHigherValueIsTaxed(t *testing.T) {
	b := &calculation{implied: impliedRatesOf(printed(outputs[4]), DefaultRate), tables: Embedded(), rate: DefaultRate}
	b.window = b.tables.windowOf(nil, "", time.Date(2026, 11, 21, 12, 0, 0, 0, localtime.Zone))
	b.implied.own = decimal.NewFromInt(4819)
	for price, want := range map[int64]string{7300: "7409.5", 4000: "4819"} { // with 1.5 % insurance
		cf := money.NewNumber(decimal.NewFromInt(price))
		b.car = vehicle.Car{CFPriceUSD: &cf}
		if got := b.invoiceOf().base.amount.String(); got != want {
			t.Errorf("C&F %d: %s is taxed, want %s", price, got, want)
		}
	}
}

// The figures above are those of the research data, where it lies beside the
// repository.
func TestTheWorkedOutputsAreThoseOfTheSharedData(t *testing.T) {
	data, err := os.ReadFile(testenv.Reference(t, "authority", "worked_examples.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Examples []struct {
			N       int                        `json:"n"`
			Printed map[string]json.RawMessage `json:"printed"`
		} `json:"examples"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, example := range file.Examples {
		for name, raw := range example.Printed {
			want, known := outputs[example.N][name]
			if !known {
				continue
			}
			if compared++; string(raw) != `"`+want+`"` {
				t.Errorf("output %d: %s is %s here, %s there", example.N, name, want, raw)
			}
		}
	}
	if compared < 35 {
		t.Errorf("only %d figures were compared", compared)
	}
}
