package scripts

import (
	"regexp"
	"strings"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/money"
)

var (
	dollarsBefore = regexp.MustCompile(`(?i)(?:^|[^\p{L}\d])(?:US\$|USD|\$)\s*$`)
	dollarsAfter  = regexp.MustCompile(`(?i)^\s*USD(?:$|[^\p{L}])`)
	numberGoesOn  = regexp.MustCompile(`^[,.]?\d`)
	numberBefore  = regexp.MustCompile(`[\d.,]$`)
)

// shownInDollars reports whether the visible page writes an amount with a mark of
// US dollars. Script data often give a bare number; the same digits as part of
// another number, or without a mark, do not confirm it.
func shownInDollars(doc *page.Document, amount money.Number) bool {
	plain := amount.String()
	for _, written := range []string{money.Grouped(plain), plain} {
		rest := doc.Words()
		for range 200 {
			at := strings.Index(rest, written)
			if at < 0 {
				break
			}
			before, after := rest[max(0, at-12):at], rest[at+len(written):]
			after = after[:min(len(after), 12)]
			whole := !numberGoesOn.MatchString(after) && !numberBefore.MatchString(before)
			if whole && (dollarsBefore.MatchString(before) || dollarsAfter.MatchString(after)) {
				return true
			}
			rest = rest[at+len(written):]
		}
	}
	return false
}

// AddScriptPrice claims a price of script data. A price without currency is in
// dollars only when the page shows it in dollars.
func AddScriptPrice(c *claim.List, doc *page.Document, amount string) {
	p, ok := claim.ParsePrice(amount)
	switch {
	case !ok:
		c.Reject(claim.FieldPrice, amount, "not_one_amount")
	case p.Currency != "":
		c.Add(claim.FieldPrice, amount)
	case shownInDollars(doc, p.Amount):
		c.Add(claim.FieldPrice, "USD "+p.Amount.String())
	default:
		c.Reject(claim.FieldPrice, amount, "no_currency_shown")
	}
}
