package schemaorg

import (
	"strings"
	"testing"

	"ushuru/pkg/listing/schemaorg/graph"
	"ushuru/pkg/money"
)

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
