package bill

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/cost"
	"ushuru/pkg/duty"
	"ushuru/pkg/localtime"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

func usd(text string) *money.Number {
	n := money.NewNumber(decimal.RequireFromString(text))
	return &n
}

// forester is a car from Japan of an answer of the authority that the formula reproduces.
func forester(country string) *vehicle.Estimate {
	b := duty.On(noon("2026-11-20")).Compute(duty.Vehicle{CC: 1998, Fuel: "PETROL", Age: 12}, decimal.NewFromInt(2439), decimal.RequireFromString("2565.98"))
	cents := func(a money.Amount) money.Amount { return money.New(a.Decimal().Round(2)) }
	return &vehicle.Estimate{
		AsOf: noon("2026-11-20").Format(time.RFC3339),
		Car:  vehicle.Car{Year: 2014, YearBasis: "manufacture", CFPriceUSD: usd("3000"), M3: usd("12"), LocatedIn: country},
		Tax: vehicle.Tax{
			ReferenceNumber: "SIM1", YOM: 2014, Country: country, FuelType: "PETROL", BodyType: "SUV", CIFInUSD: cents(b.CIF),
			ImportDutyInUSD: cents(b.ImportDuty), ExiseDutyInUSD: cents(b.Excise), ExiseDutyDueToAgeInUSD: cents(b.AgeExcise),
			VATInUSD: cents(b.VAT), CustomProcessingFeeInUSD: cents(b.ProcessingFee), RailwayDevLevyInUSD: cents(b.RailwayLevy),
			HIVRespLevy: b.HIVLevy, VehicleRegistrationFeeInTZS: b.Registration, TotalImportTaxesInUSD: cents(b.TotalUSD),
			TotalImportTaxesInTZS: cents(b.TotalTZS), TotalTaxesInTZS: cents(b.GrandTotalTZS),
		},
	}
}

func noon(date string) time.Time {
	day, err := time.ParseInLocation(time.DateOnly, date, localtime.Zone)
	if err != nil {
		panic(err)
	}
	return day.Add(12 * time.Hour)
}

// judged checks a bill of a car on a day.
func judged(t *testing.T, e *vehicle.Estimate, day, text string) Answer {
	t.Helper()
	check := Check{Tables: cost.Embedded(), Estimate: e, Day: noon(day)}
	if e != nil && e.Tax.Country == "JAPAN" {
		check.Terms.Costs = &vehicle.Costs{InspectionUSD: usd("150")}
	}
	answer, ok := check.Judge(FromText(text))
	if !ok {
		t.Fatalf("no amount in %q", text)
	}
	return answer
}

// fair returns a bill of amounts in the middle of what is owed, by code.
func fair(t *testing.T, e *vehicle.Estimate, day string) map[string]string {
	t.Helper()
	amounts := map[string]string{}
	for code, of := range (Check{Tables: cost.Embedded(), Estimate: e, Day: noon(day)}).ranges() {
		amounts[code] = of.likely.String()
	}
	return amounts
}

func TestAmountsAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"450,000": "450000", "TSh 450 000/=": "450000", "450.000": "450000", "USD 115.50": "115.5", "$1,115.50": "1115.5",
		"laki 4 na nusu": "450000", "milioni moja na laki mbili": "1200000", "1.2m": "1200000", "450k": "450000",
		"Tshs. 1,250,000.00": "1250000", "elfu 40": "40000", "7": "7", "2565.98": "2565.98",
	} {
		got, ok := amountIn(text)
		if !ok || got.value.String() != want || (got.currency == "USD") != strings.ContainsAny(text, "$U") {
			t.Errorf("%q is %s (%s, read %t), want %s", text, got.value, got.currency, ok, want)
		}
	}
	for _, text := range []string{"", "-", "free", "0", "1e9999999", "99999999999999999"} {
		if got, ok := amountIn(text); ok {
			t.Errorf("%q is read as %s", text, got.value)
		}
	}
}

// A line is in the currency of its own sum, and a sum that cannot be read is none.
func TestTheSumOfALine(t *testing.T) {
	t.Parallel()
	rate := decimal.NewFromInt(2650)
	for line, want := range map[Line]string{
		{"", "Shipping line USD 130 = TZS 344,500", ""}: "344500.00",
		{"", "Shipping line USD 130 = 344,500", ""}:     "344500.00",
		{"", "Shipping line TZS 344,500 (USD 130)", ""}: "344500.00",
		{"", "Shipping line (USD) 130", ""}:             "344500.00",
		{"Shipping line", "130", "USD"}:                 "344500.00",
		{"Shipping line", "USD 130", "TZS"}:             "344500.00",
		{"Shipping line", "TZS 344,500", "USD"}:         "344500.00",
		{"", "Import duty 3,000,000 (25%)", ""}:         "3000000.00",
		{"", "Freight ¥ 150,000", ""}:                   "",
		{"", "Freight 150,000 yen", ""}:                 "",
		{"", "Freight EUR 1,500", ""}:                   "",
		{"", "Freight 1,500 €", ""}:                     "",
		{"", "Handling KSh. 15,000", ""}:                "",
		{"", "Discount -50,000", ""}:                    "",
		{"", "Port charges 2450,567", ""}:               "",
		{"", "Sundries 1,2345", ""}:                     "",
		{"Handling", "-50,000", ""}:                     "",
		{"Handling", "1,2345", "USD"}:                   "",
	} {
		lines := []Line{line}
		if line.Name == "" {
			lines = FromText(line.Amount)
		}
		lines = append(lines, Line{Name: "Plates", Amount: "50,000"})
		answer, ok := Check{Tables: cost.Embedded(), Day: noon("2026-11-23"), Terms: vehicle.Terms{Rate: rate}}.Judge(lines)
		if !ok || len(answer.Lines) != 2 || answer.Lines[0].AmountTZS != want || want == "" && answer.Lines[0].Verdict != Unknown {
			t.Errorf("%+v: got %+v, want the amount %q", line, answer.Lines, want)
		}
	}
}

func TestNamesAsBillsWriteThem(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"1. Import Duty": "import_duty", "2) Wharfge": "wharfage", "WHARFAGE CHARGES": "wharfage", "D/O": "delivery_order", "DO fee": "delivery_order",
		"Delivery 0rder": "delivery_order", "Ushuru wa forodha": "import_duty", "Excise duty (age)": "excise_due_to_age", "Excise duty": "excise_duty",
		"R.D.L": "railway_levy", "RDL": "railway_levy", "CPF": "processing_fee", "Agency fee": "clearing_agent", "ada ya wakala": "clearing_agent",
		"Namba za gari": "plate", "Nunber plates": "plate", "THC": "handling", "Tozo ya reli": "railway_levy", "Bima ya lazima": "third_party_insurance",
		"Coffee for the office": "", "TBS inspection": "tbs_destination", "Facilitation": "",
		"Bima":            "comprehensive_insurance insurance third_party_insurance",
		"Tozo ya bandari": "green_port port_charges port_infrastructure wharfage",
	} {
		if got := strings.Join(candidates(name), " "); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

func TestAFairBillFits(t *testing.T) {
	t.Parallel()
	e := forester("JAPAN")
	amounts := fair(t, e, "2026-11-23")
	text := "Ankara ya gari\nImport taxes TZS " + amounts["import_taxes"] + "\nHIV levy " + amounts["hiv_levy"] + "\nRegistration fee " + amounts["registration"] +
		"\nWharfage: " + amounts["wharfage"] + "\nHandling " + amounts["handling"] + "\nCorridor levy " + amounts["corridor_levy"] +
		"\nAgency fee " + amounts["clearing_agent"] + "\nDelivery order " + amounts["delivery_order"]
	got := judged(t, e, "2026-11-23", text)
	for _, l := range got.Lines {
		if l.Verdict != Within || l.Code == "" || l.Issuer == "" || l.Pay == "" || len(l.Sources) == 0 || l.Text.SW == "" {
			t.Errorf("%+v", l)
		}
	}
	if got.Verdict != Fits || got.QuestionedTZS != "0.00" || len(got.Lines) != 8 {
		t.Errorf("%s, questioned %s, %d lines", got.Verdict, got.QuestionedTZS, len(got.Lines))
	}
	var missing []string
	for _, m := range got.Missing {
		missing = append(missing, m.Code)
	}
	for _, code := range []string{"port_infrastructure", "plate", "third_party_insurance"} {
		if !slices.Contains(missing, code) {
			t.Errorf("%s is not said to be missing: %v", code, missing)
		}
	}
	for _, code := range []string{"wharfage", "import_duty", "freight", "car_price", "comprehensive_insurance"} {
		if slices.Contains(missing, code) {
			t.Errorf("%s is said to be missing", code)
		}
	}
}

func TestWhatABillMayNotHave(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		country, day, text string
		code, verdict      string
		whole              string
	}{
		"padded wharfage":                {"JAPAN", "2026-11-23", "Wharfage 900,000", "wharfage", Above, tooHigh},
		"an agent under the minimum":     {"JAPAN", "2026-11-23", "Agency fee 200,000", "clearing_agent", Below, ask},
		"a dear agent":                   {"JAPAN", "2026-11-23", "Agency fee 900,000", "clearing_agent", OwnPrice, Fits},
		"an agent before the minimum":    {"JAPAN", "2026-03-01", "Agency fee 250,000", "clearing_agent", Within, Fits},
		"the same charge twice":          {"JAPAN", "2026-11-23", "Wharfage 130,000\nWharfage fee 130,000", "wharfage", Duplicate, tooHigh},
		"a part beside its sum":          {"JAPAN", "2026-11-23", "TRA taxes 8,500,000\nImport duty 1,900,000", "import_duty", Duplicate, tooHigh},
		"TBS beside another inspection":  {"UNITED KINGDOM", "2026-11-23", "TBS fee 350,000\nRoadworthiness 350,000", "tbs_destination", Duplicate, tooHigh},
		"PID before its first day":       {"JAPAN", "2026-06-20", "PID 120,000", "port_infrastructure", NotOwed, tooHigh},
		"TBS for a car inspected before": {"JAPAN", "2026-11-23", "TBS inspection 350,000", "tbs_destination", NotOwed, tooHigh},
		"dear plates":                    {"JAPAN", "2026-11-23", "Number plates 150,000", "plate", OwnPrice, Fits},
		"cheap registration":             {"JAPAN", "2026-11-23", "Registration 100,000", "registration", Below, ask},
		"an unknown line":                {"JAPAN", "2026-11-23", "Facilitation 100,000", "", Unknown, ask},
		"an ambiguous one":               {"JAPAN", "2026-11-23", "Bima 7,000,000", "", Ambiguous, ask},
		"one that the amount settles":    {"JAPAN", "2026-11-23", "Bima 300,000", "comprehensive_insurance", Within, Fits},
	} {
		got := judged(t, forester(c.country), c.day, c.text)
		last := got.Lines[len(got.Lines)-1]
		if last.Code != c.code || last.Verdict != c.verdict || got.Verdict != c.whole {
			t.Errorf("%s: %s %s, the whole %s; want %s %s, %s: %+v", name, last.Code, last.Verdict, got.Verdict, c.code, c.verdict, c.whole, last)
		}
	}
}

func TestTheSumAndTheCurrencyOfABill(t *testing.T) {
	t.Parallel()
	e := forester("JAPAN")
	got := judged(t, e, "2026-11-23", "Delivery order USD 68\nAgency fee 400,000\nJumla 700,000")
	if len(got.Lines) != 2 || !slices.Contains(got.Lines[0].Also, inDollars) || got.Lines[0].Verdict != Within || got.Lines[1].Also != nil {
		t.Errorf("%+v", got.Lines)
	}
	// 68 dollars at 2,650 are 180,200 shillings.
	if got.BilledTZS != "580200.00" || got.StatedTZS != "700000.00" || got.SumDiffersTZS != "119800.00" || got.Verdict != ask {
		t.Errorf("%+v", got)
	}
	if right := judged(t, e, "2026-11-23", "Delivery order USD 68\nAgency fee 400,000\nGRAND TOTAL 580,200"); right.Verdict != Fits || right.SumDiffersTZS != "" {
		t.Errorf("%+v", right)
	}
}

// A total that cannot be read is named, however it is written; a date beside an amount is none.
func TestATotalThatCannotBeReadIsNamed(t *testing.T) {
	t.Parallel()
	for _, total := range []string{"Jumla 580.2.00", "TOTAL TSh 1,2345", "Grand total", "Amount due"} {
		got := judged(t, forester("JAPAN"), "2026-11-23", "Delivery order USD 68 on 12/05/2026\nAgency fee 400,000, 3 Mei 2026\n"+total)
		if got.BilledTZS != "580200.00" || got.StatedTZS != "" || len(got.Lines) != 3 || got.Lines[2].Text.Code != "no_total" || got.Verdict != ask {
			t.Errorf("%s: got %+v, want two lines that are read, and a total that is not", total, got)
		}
	}
}

// A heading that looks like the total is no line of a bill whose total is read, wherever it stands.
func TestAHeadingBesideTheTotalIsNoLine(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"Total\nDelivery order 180,200\nAgency fee 400,000\nTotal 580,200",
		"Delivery order 180,200\nAgency fee 400,000\nJUMLA 580,200\nAmount due:",
	} {
		got := judged(t, forester("JAPAN"), "2026-11-23", text)
		if len(got.Lines) != 2 || got.StatedTZS != "580200.00" || got.Verdict != Fits {
			t.Errorf("%q: got %+v, want two lines that fit", text, got)
		}
	}
	unread := judged(t, forester("JAPAN"), "2026-11-23", "Delivery order 180,200\nAgency fee 400,000\nTotal 580,200\nGrand total 1,2345")
	if len(unread.Lines) != 3 || unread.Verdict != ask {
		t.Errorf("got %+v, want that the second total is said not to be read", unread)
	}
}

// The invoice is above TRA's value: the taxes range from its own figure to that on the invoice.
func TestTaxesOnTheInvoiceAreNotTooHigh(t *testing.T) {
	t.Parallel()
	e := forester("JAPAN")
	parts := map[string]cost.TaxPart{}
	terms := vehicle.Terms{Landing: &vehicle.LandingDays{From: "2026-11-23", To: "2026-11-23"}}
	for _, p := range cost.Embedded().TaxParts(*e, terms, noon("2026-11-23")) {
		parts[p.Code] = p
	}
	own := e.Tax.ImportDutyInUSD.Decimal().Mul(decimal.RequireFromString("2565.98"))
	onInvoice := decimal.RequireFromString("3045").Mul(decimal.RequireFromString("0.25")).Mul(decimal.RequireFromString("2565.98"))
	if p := parts["import_duty"]; p.Low.GreaterThan(own.Add(decimal.NewFromInt(1))) || p.High.LessThan(onInvoice.Sub(decimal.NewFromInt(1))) {
		t.Errorf("import duty %s to %s, want %s to %s", p.Low, p.High, own, onInvoice)
	}
	sum := decimal.Zero
	for _, code := range taxParts {
		sum = sum.Add(parts[code].High)
	}
	if sum.Sub(parts["import_taxes"].High).Abs().GreaterThan(decimal.NewFromInt(50)) {
		t.Errorf("the parts come to %s, their sum is %s", sum, parts["import_taxes"].High)
	}
	for _, amount := range []string{parts["import_taxes"].Low.Round(0).String(), parts["import_taxes"].High.Round(0).String()} {
		if got := judged(t, e, "2026-11-23", "TRA taxes "+amount).Lines[0]; got.Verdict != Within || got.Code != "import_taxes" {
			t.Errorf("%s: %+v", amount, got)
		}
	}
	if got := judged(t, e, "2026-11-23", "TRA taxes "+parts["taxes_total"].High.Round(0).String()).Lines[0]; got.Verdict != Within || got.Code != "taxes_total" {
		t.Errorf("%+v", got)
	}
}

func TestABillWithoutACarHasOnlyWhatNeedsNone(t *testing.T) {
	t.Parallel()
	got := judged(t, nil, "2026-11-23", "Wharfage 900,000\nAgency fee 200,000\nAgency fee 200,000")
	if got.Verdict != ask || got.Lines[0].Verdict != Unknown || !strings.HasPrefix(got.Lines[0].Text.EN, "Tell us the car") ||
		got.Lines[1].Verdict != Below || got.Lines[2].Verdict != Duplicate || len(got.Missing) != 0 {
		t.Errorf("%+v", got)
	}
	if fits := judged(t, nil, "2026-11-23", "Agency fee 400,000"); fits.Verdict != Fits {
		t.Errorf("%+v", fits)
	}
	if _, ok := (Check{Tables: cost.Embedded(), Day: noon("2026-11-23")}).Judge(FromText("Dear buyer\nthank you")); ok {
		t.Error("a letter is a bill")
	}
}

func TestABillIsKnownByItsLines(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Wharfage 900,000\nDO fee 150,000":                           "Wharfage 900,000\nDO fee 150,000",
		"Wharfage 900,000 DO fee 150,000":                            "Wharfage 900,000\nDO fee 150,000",
		"Import duty 1,200,000 VAT 18% 900,000 ada ya wakala laki 4": "Import duty 1,200,000\nVAT 18% 900,000\nada ya wakala laki 4",
		"Duty 1,200,000 (25%) VAT 900,000":                           "Duty 1,200,000\n(25%) VAT 900,000",
		"Duty 1,200,000 Wharfage 2450,567 VAT 900,000":               "Duty 1,200,000\nWharfage 2450,567\nVAT 900,000",
		"Freight Dec 2026 USD 1300 Wharfage May 2026 TSh 900,000":    "Freight Dec 2026 USD 1300\nWharfage May 2026 TSh 900,000",
		"Storage 14 days May 2000/= Wharfage 900,000":                "Storage 14 days May 2000/=\nWharfage 900,000",
		"Registration T 007 300,000 Wharfage 900,000":                "Registration T 007 300,000\nWharfage 900,000",
	} {
		got, isBill := Lines(text)
		var rows []string
		for row := range strings.Lines(got) {
			if row = strings.TrimSpace(row); row != "" {
				rows = append(rows, row)
			}
		}
		if got := strings.Join(rows, "\n"); !isBill || got != want {
			t.Errorf("%q: a bill: %t\n%s\nwant\n%s", text, isBill, got, want)
		}
	}
	for _, text := range []string{"", "toyota axio 2019", "https://cars.example/1 for 900,000", "Wharfage 900,000", "milioni 30", "Toyota Passo 2015 USD 3,500 2016 USD 4,000", strings.Repeat("Wharfage 9000 ", MaxLines+1)} {
		if _, isBill := Lines(text); isBill {
			t.Errorf("%.99q is taken for a bill", text)
		}
	}
}
