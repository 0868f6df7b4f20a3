package schemaorg

import (
	"strings"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/schemaorg/graph"
)

// pricedIn returns an amount under its currency, "USD 6180"; "" when the text
// holds anything but one amount and marks of that currency.
func pricedIn(v graph.Value, declared string) string {
	rest := strings.ToUpper(v.Words())
	marked, ok := claim.ParseCurrency(rest)
	if !ok {
		return ""
	}
	anyDollar := marked == "USD" && !strings.Contains(rest, "US")
	rest = claim.CutCurrencies(rest)
	number, ok := wholeNumber(graph.Value{Text: rest, Number: v.Number})
	currency := oneCurrency(currencyCode(declared), marked, anyDollar)
	if !ok || currency == "" || strings.Trim(number, "0.") == "" {
		return ""
	}
	if strings.Contains(number, ".") {
		number = strings.TrimSuffix(strings.TrimRight(number, "0"), ".")
	}
	return currency + " " + number
}

// oneCurrency joins what is declared and what is marked; "" when they differ. A
// bare dollar sign may be any dollar, so it says nothing alone.
func oneCurrency(declared, marked string, anyDollar bool) string {
	switch {
	case declared == "" && anyDollar:
		return ""
	case declared == "":
		return marked
	case marked == "", marked == declared, anyDollar && strings.HasSuffix(declared, "D"):
		return declared
	}
	return ""
}

// currencyCode reads priceCurrency: a code, or a mark that is not any dollar's.
func currencyCode(declared string) string {
	declared = strings.ToUpper(declared)
	if len(declared) == 3 && strings.Trim(declared, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
		return declared
	}
	if declared == "$" {
		return ""
	}
	code, _ := claim.ParseCurrency(declared)
	return code
}
