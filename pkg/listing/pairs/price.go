package pairs

import (
	"regexp"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
)

// The reasons why the value of a price's label is not the price.
const (
	reasonStruck = "struck_out"
	reasonRange  = "price_range"
)

// Sold are the words for a car that has been sold or is reserved.
var Sold = claim.NewPhrases(`\bsold\b|\bout of stock\b|\bunder offer\b|\breserved\b|売約済|売り?切れ?|成約|` +
	`\bimeuzwa\b|\bvendu|\bvendid|\bverkauft|продан|تم البيع|판매 ?완료|ขายแล้ว`)

// ofNow matches a label for the price that holds after a discount.
var ofNow = regexp.MustCompile(`(?i)\b(?:now|you pay|after discount|` +
	`(?:new|current|sale|special|offer|discount(?:ed)?|reduced|net|final) (?:fob )?price)\b`)

// IsOfNow reports a price that makes the other prices beside it former ones.
func (p *Pair) IsOfNow() bool {
	return p.Field == claim.FieldPrice && ofNow.MatchString(p.Label) && claim.ValueOf(p.Value) != ""
}

// NotThePrice returns the reason why a value does not hold, "" for none. discounted says that another
// price holds after a discount.
func (p *Pair) NotThePrice(discounted bool) string {
	switch {
	case p.Field == claim.FieldPrice && discounted && !ofNow.MatchString(p.Label):
		return claim.ReasonFormer
	case p.Field == claim.FieldStatus:
		return ""
	case p.Struck:
		return reasonStruck
	case p.isOfFilter():
		return reasonRange
	}
	return ""
}

// IsInstalment reports whether a price is only a part of what the car costs.
func (p *Pair) IsInstalment() bool {
	price := p.Field == claim.FieldPrice || p.Field == claim.FieldCF
	return price && instalment.In(p.Label+" "+p.Value+" "+textAfter(p.Node))
}

// maxAfter bounds the text after a value that is examined.
const maxAfter = 40

// textAfter returns the short text that follows the value of a label: the element
// after the next, when it continues the line.
func textAfter(label *html.Node) string {
	after := dom.Next(dom.Next(label))
	if s := dom.Text(after); len(s) <= maxAfter && claim.FieldOf(s) == "" {
		return s
	}
	return ""
}

// instalment matches words for an amount that is paid repeatedly.
var instalment = claim.NewPhrases(`\b(?:per|a|each|/)\s*(?:month|week|day)\b|\bmonthly\b|\bweekly\b|\bp\.?\s?[mw]\b|` +
	`/\s?(?:mo|month|day|week)\b|\bdaily\b|\bpcm\b|\binstal\w*|\bdeposit\b|\bdown payment\b|\brent(?:al)?\b`)

// perDay matches words for a price of a rental.
var perDay = regexp.MustCompile(`(?i)(?:\b(?:per|a|each)\s|/)\s*day\b|\bdaily\b`)

// IsPerDay reports an instalment that is paid for a day.
func (p *Pair) IsPerDay() bool {
	return perDay.MatchString(p.Label + " " + p.Value + " " + textAfter(p.Node))
}

// withheld matches the words that stand in place of a price.
var withheld = regexp.MustCompile(`(?i)^\W*(?:ask|poa|p\.o\.a\.?|tba|call|contact|enquire|inquire|` +
	`on (?:request|application)|please\b|price on|sold|under offer|reserved)\b|` +
	`お?問い?合わ?せ|応談|по запросу|sur demande|auf anfrage|consultar|uliza`)

// IsWithheld reports a label of a price with words, a dash or an empty cell in place of it.
func (p *Pair) IsWithheld() bool {
	if p.Field != claim.FieldPrice {
		return false
	}
	value := claim.ValueOf(p.Value)
	_, isPrice := claim.ParsePrice(value)
	if p.Value == "" && (p.Loose || p.Struck) {
		return false // the value may stand elsewhere
	}
	return value == "" || value == "0" || Sold.In(value) || !isPrice && withheld.MatchString(value)
}

// filterWords are words of the classes and ids of boxes in which a visitor chooses cars.
var filterWords = claim.NewWords("filter", "search", "slider", "range", "refine", "facet", "finder", "budget", "calculator")

// maxFilterDepth is how many elements around a label are examined.
const maxFilterDepth = 4

// isOfFilter reports a price that is the end of a range from which a visitor chooses: it
// stands in such a box, or another sum of its currency follows it.
func (p *Pair) isOfFilter() bool {
	if p.Field != claim.FieldPrice || p.Node == nil {
		return false
	}
	for at, up := p.Node, 0; at != nil && at.DataAtom != atom.Body && up < maxFilterDepth; at, up = at.Parent, up+1 {
		if dom.IsNamed(at, filterWords) {
			return true
		}
	}
	return p.isRange()
}

// isRange reports a price that another sum of its currency follows.
func (p *Pair) isRange() bool {
	value := dom.Next(p.Node)
	after := dom.Next(value)
	if after == nil || dom.IsStruck(value) || dom.IsStruck(after) || !dom.IsShort(after, maxAfter) {
		return false
	}
	one, isOne := claim.ParsePrice(p.Value)
	two, isTwo := claim.ParsePrice(dom.Text(after))
	return isOne && isTwo && one.Currency == two.Currency && !one.Amount.Decimal().Equal(two.Amount.Decimal())
}
