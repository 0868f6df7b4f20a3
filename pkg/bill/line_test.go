package bill

import (
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"ushuru/pkg/cost"
	"ushuru/pkg/vehicle"
)

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
