package listing

import (
	"regexp"
	"slices"
	"strings"
)

// maxOffers is the most offers of one car that are compared.
const maxOffers = 100

// claimOffers claims the one price of a car. Prices that differ within a syntax
// are none; across syntaxes JSON-LD wins, since a copy can be older.
func claimOffers(car *schemaCar, c *claims) {
	stated := false
	for _, syntax := range []string{sourceJSONLD, sourceMicrodata, sourceRDFa} {
		found := offered{prices: map[string]bool{}, seen: map[*node]bool{}}
		for _, n := range car.copies {
			if n.syntax == syntax {
				found.read(n, "")
			}
		}
		for _, offer := range car.offers {
			if offer.syntax == syntax {
				found.read(offer, "")
			}
		}
		c.source = syntax
		if !stated {
			stated = found.claimState(c)
		}
		if !found.claimPrice(c) {
			return
		}
	}
}

// offered is what the offers of a car say.
type offered struct {
	prices map[string]bool // "USD 6180"
	states []string        // availability, squashed
	seen   map[*node]bool
}

// claimPrice claims the price; false when there are several, and a copy in
// another syntax cannot decide between them.
func (o *offered) claimPrice(c *claims) bool {
	all := make([]string, 0, len(o.prices))
	for price := range o.prices {
		all = append(all, price)
	}
	slices.Sort(all)
	if len(all) > 1 || len(o.seen) >= maxOffers {
		c.reject(fieldPrice, strings.Join(all[:min(len(all), 5)], ", "), "several prices")
		return false
	}
	for _, price := range all {
		c.add(fieldPrice, price)
	}
	return true
}

// claimState notes a car that is sold, reserved or still to come; it reports
// whether the offers say anything of it.
func (o *offered) claimState(c *claims) bool {
	sold := len(o.states) > 0
	slices.Sort(o.states)
	for _, state := range slices.Compact(o.states) {
		switch state {
		case "SOLDOUT", "SOLD", "OUTOFSTOCK", "DISCONTINUED":
			continue
		case "RESERVED":
			c.note("The car is reserved.")
		case "PREORDER", "BACKORDER", "PRESALE":
			c.note("The car is not in stock yet.")
		}
		sold = false
	}
	c.sold = c.sold || sold
	return len(o.states) > 0
}

// read reads an offer, or a car that carries offers or a price of its own.
// currency is that of the node around it.
func (o *offered) read(n *node, currency string) {
	if o.seen[n] || len(o.seen) >= maxOffers || isOther(n) {
		return
	}
	o.seen[n] = true
	if own := n.word("priceCurrency"); own != "" {
		currency = own
	}
	if state := squash(n.word("availability")); state != "" {
		o.states = append(o.states, state)
	}
	o.addOne(n.props["price"], currency)
	if low, high := n.only("lowPrice"), n.only("highPrice"); low != "" && low == high {
		o.addOne(n.props["lowPrice"], currency)
	}
	for _, part := range n.nodesOf("priceSpecification", "offers") {
		o.read(part, currency)
	}
}

// priceParts are the types of nodes that can hold the price of a car.
var priceParts = append([]string{
	"Offer", "AggregateOffer", "OfferForPurchase", "Product", "IndividualProduct",
	"PriceSpecification", "UnitPriceSpecification", "CompoundPriceSpecification",
}, vehicleTypes...)

// instalmentSigns are properties of an amount that is paid again and again, or
// lent.
var instalmentSigns = []string{
	"billingDuration", "billingIncrement", "referenceQuantity", "annualPercentageRate", "loanTerm",
}

// isOther reports an amount that is not the price of the car: a loan, an
// instalment, a rent, the price before a reduction, or another thing's.
func isOther(n *node) bool {
	if n.typed && !n.is(priceParts...) {
		return true
	}
	for _, property := range instalmentSigns {
		if len(n.props[property]) > 0 {
			return true
		}
	}
	if kind := squash(n.word("priceType")); kind != "" && kind != "SALEPRICE" {
		return true
	}
	for _, offered := range n.nodesOf("itemOffered") {
		if offered.typed && !isVehicle(offered) && !isProduct(offered) {
			return true
		}
	}
	return !isVehicle(n) && !isProduct(n) && namesInstalment(n)
}

// instalmentWords are what sellers and GoodRelations call amounts that are not
// the price.
var instalmentWords = regexp.MustCompile(`(?i)\b(?:month(?:s|ly)?|week(?:s|ly)?|per day|leas(?:e|ing|eout)|rent(?:als?)?|` +
	`loans?|financ\w*|instal\w*|deposit|down payment|credit)\b`)

// namesInstalment looks for them in what an offer is called, and for the code of
// a span of time in its unit.
func namesInstalment(n *node) bool {
	words := strings.Join([]string{
		n.word("name"), n.word("unitText"), n.word("category"), n.firstText("businessFunction"),
	}, " ")
	return instalmentWords.MatchString(words) || slices.Contains([]string{"MON", "WEE", "DAY", "ANN"}, n.word("unitCode"))
}

// firstText returns the first value of a property as written.
func (n *node) firstText(property string) string {
	for _, v := range n.props[property] {
		return start(v.address())
	}
	return ""
}

func (o *offered) addOne(values []value, currency string) {
	for _, v := range values {
		if len(o.prices) < maxOffers && v.node == nil {
			if price := pricedIn(v, currency); price != "" {
				o.prices[price] = true
			}
		}
	}
}
