package schemaorg

import (
	"regexp"
	"slices"
	"strings"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
	"ushuru/pkg/listing/schemaorg/graph"
)

// maxOffers bounds the offers of one car that are compared.
const maxOffers = 100

// claimOffers claims the price of a car. When the prices of one syntax differ, none
// is claimed; between syntaxes JSON-LD wins, because a copy can be older.
func claimOffers(car *carEntry, c *claim.List) {
	stated := false
	for _, syntax := range []string{graph.SourceJSONLD, graph.SourceMicrodata, graph.SourceRDFa} {
		found := offered{prices: map[string]bool{}, seen: map[*graph.Node]bool{}}
		for _, n := range car.copies {
			if n.Syntax == syntax {
				found.read(n, "")
			}
		}
		for _, offer := range car.offers {
			if offer.Syntax == syntax {
				found.read(offer, "")
			}
		}
		c.Source = syntax
		if !stated {
			stated = found.claimState(c)
		}
		if !found.claimPrice(c) {
			return
		}
	}
}

// offered is the content of a car's offers.
type offered struct {
	prices map[string]bool // "USD 6180"
	states []string        // availability, squashed
	seen   map[*graph.Node]bool
}

// claimPrice claims the price; false when there are several, and a copy in
// another syntax cannot decide between them.
func (o *offered) claimPrice(c *claim.List) bool {
	all := make([]string, 0, len(o.prices))
	for price := range o.prices {
		all = append(all, price)
	}
	slices.Sort(all)
	if len(all) > 1 || len(o.seen) >= maxOffers {
		c.Reject(claim.FieldPrice, strings.Join(all[:min(len(all), 5)], ", "), "several_prices")
		return false
	}
	for _, price := range all {
		c.Add(claim.FieldPrice, price)
	}
	return true
}

// claimState notes a car that is sold, reserved or still to come; it reports
// whether the offers say anything of it.
func (o *offered) claimState(c *claim.List) bool {
	sold := len(o.states) > 0
	slices.Sort(o.states)
	for _, state := range slices.Compact(o.states) {
		switch state {
		case "SOLDOUT", "SOLD", "OUTOFSTOCK", "DISCONTINUED":
			continue
		case "RESERVED":
			c.Note("reserved")
		case "PREORDER", "BACKORDER", "PRESALE":
			c.Note("not_in_stock")
		}
		sold = false
	}
	c.Sold = c.Sold || sold
	return len(o.states) > 0
}

// read reads an offer, or a car that carries offers or a price of its own.
// currency is that of the node around it.
func (o *offered) read(n *graph.Node, currency string) {
	if o.seen[n] || len(o.seen) >= maxOffers || isOther(n) {
		return
	}
	o.seen[n] = true
	if own := n.Word("priceCurrency"); own != "" {
		currency = own
	}
	if state := claim.Squash(n.Word("availability")); state != "" {
		o.states = append(o.states, state)
	}
	o.addOne(n.Props["price"], currency)
	if low, high := n.Only("lowPrice"), n.Only("highPrice"); low != "" && low == high {
		o.addOne(n.Props["lowPrice"], currency)
	}
	for _, part := range n.NodesOf("priceSpecification", "offers") {
		o.read(part, currency)
	}
}

// priceParts are the types of nodes that can hold the price of a car.
var priceParts = append([]string{
	"Offer", "AggregateOffer", "OfferForPurchase", "Product", "IndividualProduct",
	"PriceSpecification", "UnitPriceSpecification", "CompoundPriceSpecification",
}, graph.VehicleTypes...)

// instalmentSigns are properties of an amount that is paid repeatedly, or lent.
var instalmentSigns = []string{
	"billingDuration", "billingIncrement", "referenceQuantity", "annualPercentageRate", "loanTerm",
}

// isOther reports an amount that is not the price of the car: a loan, an
// instalment, a rent, the price before a reduction, or the price of another thing.
func isOther(n *graph.Node) bool {
	if n.Typed && !n.Is(priceParts...) {
		return true
	}
	for _, property := range instalmentSigns {
		if len(n.Props[property]) > 0 {
			return true
		}
	}
	if kind := claim.Squash(n.Word("priceType")); kind != "" && kind != "SALEPRICE" {
		return true
	}
	for _, offered := range n.NodesOf("itemOffered") {
		if offered.Typed && !graph.IsVehicle(offered) && !graph.IsProduct(offered) {
			return true
		}
	}
	return !graph.IsVehicle(n) && !graph.IsProduct(n) && namesInstalment(n)
}

// instalmentWords are the names that sellers and GoodRelations give amounts that
// are not the price.
var instalmentWords = regexp.MustCompile(`(?i)\b(?:month(?:s|ly)?|week(?:s|ly)?|per day|leas(?:e|ing|eout)|rent(?:als?)?|` +
	`loans?|financ\w*|instal\w*|deposit|down payment|credit)\b`)

// namesInstalment looks for them in what an offer is called, and for the code of
// a span of time in its unit.
func namesInstalment(n *graph.Node) bool {
	words := strings.Join([]string{
		n.Word("name"), n.Word("unitText"), n.Word("category"), firstText(n, "businessFunction"),
	}, " ")
	return instalmentWords.MatchString(words) || slices.Contains([]string{"MON", "WEE", "DAY", "ANN"}, n.Word("unitCode"))
}

// firstText returns the first value of a property as written.
func firstText(n *graph.Node, property string) string {
	for _, v := range n.Props[property] {
		return dom.Head(v.Address())
	}
	return ""
}

func (o *offered) addOne(values []graph.Value, currency string) {
	for _, v := range values {
		if len(o.prices) < maxOffers && v.Node == nil {
			if price := pricedIn(v, currency); price != "" {
				o.prices[price] = true
			}
		}
	}
}

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
