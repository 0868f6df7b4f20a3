package bill

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"ushuru/pkg/cost"
)

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

func TestTheTableOfChargesIsClosed(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, c := range charges {
		if !slices.Contains([]string{"control_number", "invoice", "receipt"}, c.pay) || c.issuer == "" ||
			!slices.Contains([]string{boundLaw, boundTariff, boundAuthority, boundEstimate}, c.bound) {
			t.Errorf("%s: got pay %q, bound %q, issuer %q, want those of the contract", c.code, c.pay, c.bound, c.issuer)
		}
		for _, name := range c.names {
			if other := seen[name]; other != "" || name == "" || name != strings.ToLower(strings.TrimSpace(name)) {
				t.Errorf("%s: got the name %q, also of %q, want one in lower case of one charge", c.code, name, other)
			}
			seen[name] = c.code
		}
	}
}
