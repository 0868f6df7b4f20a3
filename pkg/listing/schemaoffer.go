package listing

import "strings"

// price returns the one price of a vehicle's offers, "USD 6180". Offers that
// differ, a range, an instalment and anything inside a loan are no price.
func (g *graph) price(t thing) (string, bool) {
	found := map[string]bool{}
	offers := list(t.node["offers"])
	if len(offers) == 0 && t.offer != nil {
		offers = []any{t.offer}
	}
	for _, value := range offers {
		offer, ok := value.(node)
		if !ok {
			continue
		}
		g.offerPrices(g.resolve(offer), found)
	}
	if len(found) != 1 {
		return "", false
	}
	for only := range found {
		return only, true
	}
	return "", false
}

func (g *graph) offerPrices(offer node, found map[string]bool) {
	if isType(offer, "LoanOrCredit", "MonetaryAmount", "FinancialProduct", "PaymentCard") {
		return
	}
	currency := g.words(offer["priceCurrency"])
	if isType(offer, "AggregateOffer") && g.words(offer["lowPrice"]) == g.words(offer["highPrice"]) {
		addPrice(found, g.words(offer["lowPrice"]), currency)
	}
	addPrice(found, g.words(offer["price"]), currency)
	for _, value := range list(offer["priceSpecification"]) {
		spec, ok := value.(node)
		if !ok {
			continue
		}
		spec = g.resolve(spec)
		if spec["billingDuration"] != nil || spec["billingIncrement"] != nil || spec["referenceQuantity"] != nil {
			continue
		}
		addPrice(found, g.words(spec["price"]), firstOf(g.words(spec["priceCurrency"]), currency))
	}
}

// addPrice adds an amount under its declared currency. Without one, only a
// currency word in the text counts; a bare dollar sign may be any dollar.
func addPrice(found map[string]bool, text, currency string) {
	p, ok := readPrice(text)
	if !ok {
		return
	}
	if currency != "" {
		p.currency = strings.ToUpper(currency)
	} else if p.currency == "USD" && !strings.Contains(strings.ToUpper(text), "US") {
		p.currency = ""
	}
	found[p.String()] = true
}

// soldOut reports an availability that means sold.
func (g *graph) soldOut(n node) bool {
	for _, value := range list(n["offers"]) {
		if offer, ok := value.(node); ok {
			switch g.words(g.resolve(offer)["availability"]) {
			case "SoldOut", "OutOfStock", "Discontinued":
				return true
			}
		}
	}
	return false
}
