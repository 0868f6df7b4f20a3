package scripts

import (
	"regexp"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/money"
)

// shownInDollars reports whether the visible page writes an amount with a mark of
// US dollars. Script data often give a bare number; the same digits as part of
// another number, or without a mark, do not confirm it.
func shownInDollars(doc *page.Document, amount money.Number) bool {
	plain := amount.String()
	number := `(?:` + regexp.QuoteMeta(money.Grouped(plain)) + `|` + regexp.QuoteMeta(plain) + `)`
	shown := regexp.MustCompile(`(?i)(?:^|[^\p{L}\d])(?:US\$|USD|\$)\s*` + number + `(?:$|[^\d,.]|[,.](?:$|\D))|` +
		`(?:^|[^\d.,])` + number + `\s*USD(?:$|\P{L})`)
	return shown.MatchString(doc.Words())
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
