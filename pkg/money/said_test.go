package money_test

import (
	"strings"
	"testing"

	"ushuru/pkg/money"
)

func TestSumsAsPeopleSayThem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"30000000": "30000000", "30,000,000": "30000000", "30.000.000": "30000000", "30 000 000": "30000000",
		"TSh 30,000,000/=": "30000000 TZS", "Tsh. 30m": "30000000 TZS", "30M": "30000000", "32.5 mil": "32500000",
		"milioni 30": "30000000", "Milioni thelathini": "30000000", "milioni thelathini na tano": "35000000",
		"milioni 30 na nusu": "30500000", "milioni moja na laki mbili": "1200000", "milioni 30 na laki 5": "30500000",
		"milioni 2 laki 3 na elfu 50": "2350000", "milioni 2 na 500,000": "2500000", "laki 5": "500000", "laki tano na nusu": "550000",
		"elfu 40": "40000", "elfu mia tano": "500000", "elfu kumi na tano": "15000", "nusu milioni": "500000",
		"30 million": "30000000", "thirty five million": "35000000", "half a million": "500000", "one and a half million": "1500000",
		"five hundred thousand": "500000", "30 million 500 thousand": "30500000", "1.250 million": "1250000",
		"USD 5,000": "5000 USD", "$5,000.50": "5000.5 USD", "5.000 USD": "5000 USD", "US$ 4500": "4500 USD", "dola 4,500": "4500 USD",
		"dola za Marekani 4500": "4500 USD", "5.000,50": "5000.5", "4'500": "4500", "5k": "5000", "1,200k": "1200000",
		"¥ 850,000": "850000 JPY", "kama milioni 30 tu": "30000000", "about 30 million shillings": "30000000 TZS", "2565.98": "2565.98",
		"0.125 million": "125000", "0.75": "0.75", "2565.9834": "2565.9834", "Tsh.30m": "30000000 TZS", "TSh.450,000": "450000 TZS",
		"450\u00a0000": "450000", "1\u202f450\u202f000": "1450000", "1500 k": "1500000",
	} {
		got, err := money.ParseSaid(text)
		said := got.Value.String()
		if got.Currency != "" {
			said += " " + got.Currency
		}
		if err != nil || said != want {
			t.Errorf("%q is %s (%v), want %s", text, said, err, want)
		}
	}
}

func TestWhatIsNotOneSum(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "0", "-5", "free", "milioni", "nusu", "tano", "30-35 million", "milioni 2 na 5", "laki 5 milioni 2", "30 40",
		"1,2345", "30,00,000", "1,250 million", "milioni 2 500", "USD 5,000 TSh", "1e9", "999999999999999999", "laki tano na hamsini",
		"milioni 30 x", "5000 or 6000", "2,500.000.000",
		"2450,567", "12345,678", "1500,000", "1,23,456", "1,500,00", "1500.000", "1.2345", "12.3456", "155.1234", ".5m", ".75", "$.75", "tsh .5",
		"0,125", "0.125.000", "050,000", "007", "elfu 50,000", "50,000 elfu", "50.000 elfu", "50,000 thousand", "1.250k", "1.250.000 million", "elfu 50000", "laki 500000",
		"450 0005", "2450 567", "1,500 000", "milioni 2 na 1,2345 elfu", "450''000",
	} {
		if got, err := money.ParseSaid(text); err == nil {
			t.Errorf("%q is read as %s, want it refused", text, got.Value)
		}
	}
}

func TestTheLastSumOfAText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"Wharfage 1.6% 900,000":           {"900000", "Wharfage 1.6% "},
		"Delivery order 2 150,000":        {"150000", "Delivery order 2 "},
		"Ada ya wakala: laki 4 na nusu":   {"450000", "Ada ya wakala: "},
		"1. Import duty TSh 1,200,000.00": {"1200000 TZS", "1. Import duty TSh "},
		"Plates one pair":                 {"", ""},
		"Delivery order 2 150000":         {"150000", "Delivery order 2 "},
		"HIV levy 2.5 450 000":            {"450000", "HIV levy 2.5 "},
		"Handling 450\u00a0000":           {"450000", "Handling "},
		"Import duty 3,000,000 (25%)":     {"3000000", "Import duty "},
		"Kodi 2,000,000 asilimia 18":      {"2000000", "Kodi "},
		"VAT 3 450 000 18 percent":        {"3450000", "VAT "},
		"VAT 18 per cent":                 {"", ""},
		"Shipping USD 130 = TZS 344,500":  {"344500 TZS", "Shipping USD 130 = TZS "},
		"Shipping TZS 344,500 (130 USD)":  {"130 USD", "Shipping TZS 344,500 ("},
		"Freight Tshs. 900,000":           {"900000 TZS", "Freight Tshs. "},
		"Freight ¥ 150,000":               {"150000 JPY", "Freight ¥ "},
		"Wharfage-450,000":                {"450000", "Wharfage-"},
		"Wharfage - 450,000":              {"450000", "Wharfage - "},
		"Wharfage.....450,000":            {"450000", "Wharfage....."},
		"Wharfage 150000 M/V fee":         {"150000", "Wharfage "},
	} {
		got, at, _, ok := money.LastSaid(text)
		switch said := strings.TrimSpace(got.Value.String() + " " + got.Currency); {
		case ok != (want[0] != ""):
			t.Errorf("%q: a sum is found: %t, want %t", text, ok, !ok)
		case ok && (said != want[0] || text[:at] != want[1]):
			t.Errorf("%q: got %s after %q, want %s after %q", text, said, text[:at], want[0], want[1])
		}
	}
}

// TestADateIsNoSum: neither its year nor a piece of it. What stands before it is.
func TestADateIsNoSum(t *testing.T) {
	t.Parallel()
	for _, date := range []string{
		"12/05/2026", "12-05-2026", "12.05.2026", "1/5/26", "2026-05-12", "2026/05/12", "12/05/2026 10:45", "2026-05-12T10:45:10",
		"12 May 2026", "12-May-2026", "12th May 2026", "12 Mei 2026", "May 12, 2026", "Agosti 2026", "3 Desemba 2026",
	} {
		if got, from, to, ok := money.LastSaid("Wharfage 450,000 " + date); !ok || got.Value.String() != "450000" || from != 9 || to != 16 {
			t.Errorf("%s: got %s at %d to %d (%t), want 450000 at 9 to 16", date, got.Value, from, to, ok)
		}
		if got, _, to, ok := money.LastSaid("Invoice of " + date); ok || to != 0 {
			t.Errorf("%s alone: got %s (%t), want no number", date, got.Value, ok)
		}
	}
}

// TestASumAfterAMonthIsNoYear where a currency follows it. Where that may be of another sum, there is none.
func TestASumAfterAMonthIsNoYear(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Storage 14 days May 2000/=":           "2000 TZS",
		"Storage 14 days May 2000/-":           "2000 TZS",
		"Freight 40ft Dec 2000 USD":            "2000 USD",
		"Freight 40ft Dec. 2000 dollars":       "2000 USD",
		"Freight 40ft Dec 2000$":               "2000 USD",
		"Storage 7 days Juni 2050 tshs":        "2050 TZS",
		"Storage 7 days Juni 1950 yen":         "1950 JPY",
		"Storage 450,000/= May 2026":           "450000 TZS",
		"Freight USD 2,000 Dec 2026":           "2000 USD",
		"Freight 12 Dec 2026 USD 2000":         "2000 USD",
		"USD 2000 Dec 2026":                    "2000 USD",
		"Storage 450,000 May 2026 only":        "450000",
		"Storage 7 days May 2000/= + 18%":      "2000 TZS",
		"Storage 7 days May 2000 TSh, VAT 18%": "2000 TZS",
		"Freight Dec 2026 USD 130":             "130 USD",
		"Freight Dec 2026 USD 2000":            "2000 USD",
		"Freight Dec 2026 Tsh. 450,000":        "450000 TZS",
		"Freight 450,000 Dec 2026 USD":         "0",
		"Freight USD 900 Dec 2026 USD":         "0",
	} {
		got, _, _, ok := money.LastSaid(text)
		if said := strings.TrimSpace(got.Value.String() + " " + got.Currency); ok != (want != "0") || ok && said != want {
			t.Errorf("%q: got %s (%t), want %s, where 0 is none", text, said, ok, want)
		}
	}
}

// A number that cannot be read is said to be there: neither a piece of it nor a number before it is
// the sum.
func TestALastNumberThatIsNoSum(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"Port charges 2450,567", "Port charges 1,2345", "Port charges 12345,678", "Port charges 1500,000", "Port charges 1500.000",
		"Port charges 450 0005", "Port charges 2450 567", "Wharfage 1.6% 900,0000", "Plates 2 x 1,2345", "Storage 14 days 0.00",
		"Handling .75", "Handling .5m", "Handling 0,125", "Handling elfu 50,000", "Handling 50,000 elfu", "Handling 1,250 million",
		"Handling milioni 2 na 5", "Handling laki tano na hamsini", "Discount -50,000", "Discount TSh -50,000", "Discount -TSh 50,000",
		"Discount −50,000", "Storage 300,000-400,000", "Handling 1e9", "Handling 32.11.2026",
	} {
		if got, from, to, ok := money.LastSaid(text); ok || to == 0 || !strings.ContainsAny(text[from:to], "0123456789o") {
			t.Errorf("%q: got %s in %q (%t), want a number that is no sum", text, got.Value, text[from:to], ok)
		}
	}
}
