package money_test

import (
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
		"1. Import duty TSh 1,200,000.00": {"1200000", "1. Import duty TSh "},
		"Plates one pair":                 {"", ""},
	} {
		got, at, _, ok := money.LastSaid(text)
		switch {
		case ok != (want[0] != ""):
			t.Errorf("%q: a sum is found: %t, want %t", text, ok, !ok)
		case ok && (got.Value.String() != want[0] || text[:at] != want[1]):
			t.Errorf("%q: got %s after %q, want %s after %q", text, got.Value, text[:at], want[0], want[1])
		}
	}
}
