package bill

import (
	"fmt"
	"math/rand/v2"
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

// written are names of charges as agents write them, in English and Kiswahili.
var written = map[string][]string{
	"import_duty":           {"Customs Import Duty (25%)", "Ushuru wa Forodha 25%", "Imp. duty", "Duty - import", "Ushuru forodha"},
	"excise_duty":           {"Exise duty", "Ushuru wa bidhaa 10%", "Excise tax 10%", "Excise"},
	"excise_due_to_age":     {"Excise duty - old age 30%", "Age excise duty", "Uchakavu 30%", "Dumping fee", "Ushuru wa uchakavu"},
	"vat":                   {"V.A.T 18%", "Kodi ya ongezeko la thamani (VAT)", "VAT kwa TRA", "Kodi VAT"},
	"processing_fee":        {"C.P.F", "Customs processing fee 0.6%", "Processing fee TRA"},
	"railway_levy":          {"R.D.L 2%", "Railway Dev. Levy", "Tozo ya maendeleo ya reli", "RDL TRA"},
	"hiv_levy":              {"HIV/AIDS levy", "Mchango wa UKIMWI", "HIV response levy 2.5"},
	"registration":          {"M/V registration fee", "Usajili wa gari", "Ada ya usajili wa chombo"},
	"wharfage":              {"Wharfage charges TPA", "Whafage", "Gharama za gati", "Wharfage 1.6% CIF"},
	"handling":              {"Shorehandling", "Terminal Handling Charges (THC)", "Kushusha gari melini", "Stevedoring"},
	"corridor_levy":         {"Central corridor levy", "Corridor"},
	"port_infrastructure":   {"P.I.D", "PID levy TPA", "Port infrastructure dev levy", "Tozo ya miundombinu ya bandari"},
	"delivery_order":        {"D.O. charges", "Shipping line D/O", "Hati ya kutolea", "Delivery 0rder"},
	"clearing_agent":        {"Agency fees", "Wakala wa forodha", "Ada ya kutoa gari", "Professional fee", "Commission ya wakala"},
	"plate":                 {"Vibao vya namba", "Number plates (2)", "Plate no."},
	"third_party_insurance": {"Bima third party", "TPO insurance", "Third party ins."},
}

// asWritten returns an amount as one of the ways in which people write it.
func asWritten(r *rand.Rand, amount decimal.Decimal) string {
	digits := amount.StringFixed(0)
	grouped := func(by string) string {
		var parts []string
		for ; len(digits) > 3; digits = digits[:len(digits)-3] {
			parts = append([]string{digits[len(digits)-3:]}, parts...)
		}
		return strings.Join(append([]string{digits}, parts...), by)
	}
	switch r.IntN(5) {
	case 0:
		return grouped(",") + "/="
	case 1:
		return "TSh " + grouped(" ")
	case 2:
		return grouped(",") + ".00"
	case 3:
		return "Tshs. " + grouped(",")
	}
	return digits
}

// scanned replaces one letter of a long word, as a scan does.
func scanned(name string) string {
	for _, swap := range [][2]string{{"rfa", "rla"}, {"ndli", "ndii"}, {"istra", "istro"}, {"roces", "rocos"}, {"iver", "lver"}} {
		if strings.Contains(name, swap[0]) {
			return strings.Replace(name, swap[0], swap[1], 1)
		}
	}
	return name
}

// Sixty bills with names, amounts and mistakes of all kinds: no fair line is said to be
// above, at least 95 of 100 lines are named, and every mistake is found.
func TestSixtyBills(t *testing.T) {
	t.Parallel()
	named, all := 0, 0
	for number := range 60 {
		r := rand.New(rand.NewPCG(uint64(number), 28)) // the same bills each time
		e := forester([]string{"JAPAN", "UNITED KINGDOM"}[number%2])
		const day = "2026-11-23"
		ranges := Check{Tables: cost.Embedded(), Estimate: e, Day: noon(day)}.ranges()
		var codes []string
		for code := range written {
			if of, ok := ranges[code]; ok && of.high.IsPositive() {
				codes = append(codes, code)
			}
		}
		slices.Sort(codes)
		r.Shuffle(len(codes), func(i, j int) { codes[i], codes[j] = codes[j], codes[i] })
		codes = codes[:8+r.IntN(len(codes)-8)]
		firm := slices.IndexFunc(codes, func(code string) bool {
			return slices.Contains([]string{boundTariff, boundAuthority}, chargeOf(code).bound) && code != "hiv_levy"
		})
		fault := []string{"none", "padded", "twice", "cheap", "forged sum", "scan"}[number%6]
		var lines []string
		var sum decimal.Decimal
		wrong := -1
		add := func(name string, amount decimal.Decimal) {
			amount = amount.Round(0)
			sum = sum.Add(amount)
			lines = append(lines, fmt.Sprintf("%d. %s  %s", len(lines)+1, name, asWritten(r, amount)))
		}
		for i, code := range codes {
			of := ranges[code]
			amount := of.low.Add(of.high.Sub(of.low).Mul(decimal.NewFromFloat(r.Float64()))).Ceil()
			if amount.GreaterThan(of.high) {
				amount = of.high
			}
			if code == "clearing_agent" {
				amount = of.high // the minimum is judged apart
			}
			name := written[code][r.IntN(len(written[code]))]
			switch {
			case fault == "padded" && i == firm:
				amount, wrong = of.high.Mul(decimal.RequireFromString("1.3")).Add(decimal.NewFromInt(1)), len(lines)
			case fault == "cheap" && i == firm:
				amount, wrong = of.low.Mul(decimal.RequireFromString("0.7")), len(lines)
			case fault == "scan":
				name = scanned(name)
			}
			add(name, amount)
		}
		if fault == "twice" {
			wrong = len(lines)
			add(written[codes[firm]][0], ranges[codes[firm]].low)
		}
		stated := sum
		if fault == "forged sum" {
			stated = sum.Add(decimal.NewFromInt(120_000))
		}
		text := strings.Join(lines, "\n") + "\nJumla kuu " + asWritten(r, stated)
		got := judged(t, e, day, text)
		if len(got.Lines) != len(lines) {
			t.Errorf("bill %d: got %d lines, want %d\n%s", number, len(got.Lines), len(lines), text)
			continue
		}
		for i, l := range got.Lines {
			all++
			if l.Code != "" {
				named++
			}
			if i < len(codes) && l.Code != codes[i] && l.Code != "" {
				t.Errorf("bill %d: %s is called %s, want %s", number, lines[i], l.Code, codes[i])
			}
			want := map[string]string{"padded": Above, "twice": Duplicate, "cheap": Below}[fault]
			if i == wrong && l.Verdict != want {
				t.Errorf("bill %d (%s): %s is %s, want %s", number, fault, lines[i], l.Verdict, want)
			}
			if i != wrong && slices.Contains([]string{Above, Duplicate, NotOwed, Below}, l.Verdict) {
				t.Errorf("bill %d (%s): the fair line %s is %s (%s to %s)", number, fault, lines[i], l.Verdict, l.LowTZS, l.HighTZS)
			}
		}
		if isForged := fault == "forged sum"; (got.SumDiffersTZS != "") != isForged {
			t.Errorf("bill %d (%s): the sum differs by %q", number, fault, got.SumDiffersTZS)
		}
	}
	if named*100 < all*95 {
		t.Errorf("%d of %d lines are named, want 95 of 100", named, all)
	}
	t.Logf("%d of %d lines are named", named, all)
}
