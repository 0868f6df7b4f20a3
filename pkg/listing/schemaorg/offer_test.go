package schemaorg

import (
	"strings"
	"testing"

	"ushuru/pkg/listing/schemaorg/graph"
	"ushuru/pkg/money"
)

// TestAPriceOfZeroIsNoPrice: sellers who have none write 0.
func TestAPriceOfZeroIsNoPrice(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0": "", "0.0": "", "0.00": "", "000": "", "US$ 0": "", "USD 0.00": "", "0,00": "",
		"0.50": "USD 0.5", "US$ 100": "USD 100", "1,000": "USD 1000",
		"6180¹": "", "US$ 6180²": "", "6180½": "", // marks of footnotes
	} {
		for _, number := range []bool{false, true} {
			if got := pricedIn(graph.Value{Text: text, Number: number}, "USD"); got != want {
				t.Errorf("%q (a number: %v): got %q, want %q", text, number, got, want)
			}
		}
	}
}

func FuzzSchemaPrice(f *testing.F) {
	for _, seed := range []string{"24.500,00 €", "US$ 2,567", "24'500.-", "¥1,705,000", "007", "0.50"} {
		f.Add(seed, "USD", false)
	}
	f.Fuzz(func(t *testing.T, text, declared string, number bool) {
		priced := pricedIn(graph.Value{Text: text, Number: number}, declared)
		if priced == "" {
			return
		}
		currency, amount, _ := strings.Cut(priced, " ")
		parsed, err := money.ParseNumber(amount)
		if err != nil || !parsed.Decimal().IsPositive() || len(currency) != 3 || strings.HasPrefix(amount, ".") {
			t.Errorf("%q in %q is %q", text, declared, priced)
		}
	})
}
