package schemaorg

import (
	"regexp"
	"slices"
	"strings"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/listing/schemaorg/graph"
)

// carEntry is a vehicle found in schema.org data: all nodes that describe it, and the offers that
// name it as their item and are not among its properties.
type carEntry struct {
	copies []*graph.Node
	offers []*graph.Node
	listed bool // an item of a list, or one of several offers of a seller
	result bool // what a search has found, or an item of a catalogue
	beside bool // in a part of the page that holds other cars
}

// maxCars is the maximum number of vehicles that are distinguished.
const maxCars = 200

// carFinder collects the vehicles of a page.
type carFinder struct {
	cars     []*carEntry
	byNode   map[*graph.Node]*carEntry
	seen     map[*graph.Node]bool
	products []*graph.Node // products without a sign of a vehicle
	inList   bool          // below a list, a catalogue or the results of a search
}

// findCars goes through the graph in document order, JSON-LD first.
func findCars(g *graph.Graph) *carFinder {
	f := &carFinder{byNode: map[*graph.Node]*carEntry{}, seen: map[*graph.Node]bool{}}
	for _, root := range g.Roots {
		f.collect(root, nil, false, 0)
	}
	f.join()
	return f
}

// containers are the properties under which a page's own car can stand; it
// never stands under isSimilarTo, isRelatedTo and the like. A car inside another
// car is no listing.
var containers = []string{
	"@graph", "mainEntity", "mainEntityOfPage", "itemOffered", "makesOffer", "offers", "itemListElement", "item",
}

// othersOf are names of lists of other cars.
var othersOf = regexp.MustCompile(`(?i)similar|related|recommend|recently|also like|other (?:cars|vehicles)`)

// isOfOthers reports a node below which no car is the page's own.
func isOfOthers(n *graph.Node) bool {
	return n.Is("BreadcrumbList") || n.Is("ItemList") && othersOf.MatchString(n.Word("name"))
}

// collect goes down the containers from a node; offer is the last one on the way.
func (f *carFinder) collect(n, offer *graph.Node, listed bool, depth int) {
	n = n.Full()
	if graph.IsVehicle(n) {
		f.keep(n, offer, listed)
		return
	}
	if f.seen[n] || depth > graph.MaxDepth || isOfOthers(n) {
		return
	}
	f.seen[n] = true
	if n.Is("ItemList", "OfferCatalog", "SearchResultsPage") && !f.inList {
		f.inList = true
		defer func() { f.inList = false }()
	}
	if n.Is("Offer") {
		offer = n
	}
	if graph.IsProduct(n) && len(f.products) < maxCars {
		f.products = append(f.products, n)
	}
	for _, property := range containers {
		children := n.NodesOf(property)
		several := property == "itemListElement" || property != "@graph" && len(children) > 1
		for _, child := range children {
			f.collect(child, offer, listed || several, depth+1)
		}
	}
}

// keep adds a vehicle once, however often it is referred to.
func (f *carFinder) keep(n, offer *graph.Node, listed bool) {
	car := f.byNode[n]
	if car == nil {
		if len(f.cars) >= maxCars || n.From != nil && dom.AnyAncestor(n.From, dom.IsTemplate) {
			return
		}
		car = &carEntry{copies: []*graph.Node{n}, beside: n.From != nil && dom.AnyAncestor(n.From, page.IsAside)}
		f.byNode[n] = car
		f.cars = append(f.cars, car)
	}
	car.listed, car.result = car.listed || listed, car.result || f.inList
	if offer != nil && len(car.offers) < maxOffers && !slices.Contains(car.offers, offer) {
		car.offers = append(car.offers, offer)
	}
}

// join makes one car of several nodes that describe the same.
func (f *carFinder) join() {
	var cars []*carEntry
	for _, car := range f.cars {
		at := slices.IndexFunc(cars, func(other *carEntry) bool { return sameCar(other, car) })
		if at < 0 {
			cars = append(cars, car)
			continue
		}
		first := cars[at]
		first.copies = append(first.copies, car.copies...)
		first.offers = append(first.offers, car.offers...)
		first.listed, first.beside = first.listed && car.listed, first.beside && car.beside
		first.result = first.result && car.result
	}
	f.cars = cars
}

// sameCar compares the first nodes of two cars: by VIN, else by stock number or
// address, else, across syntaxes, by name.
func sameCar(a, b *carEntry) bool {
	one, two := a.copies[0], b.copies[0]
	if vinOf(one) != "" && vinOf(two) != "" {
		return vinOf(one) == vinOf(two)
	}
	sameName := claim.Squash(one.Word("name")) == claim.Squash(two.Word("name"))
	crossing := one.Syntax != two.Syntax || graph.IsVehicle(one) != graph.IsVehicle(two)
	for _, property := range []string{"sku", "url"} {
		x, y := keyOf(one, property), keyOf(two, property)
		if x != "" && y != "" && x != y {
			return false
		}
		if x != "" && x == y && (sameName || crossing) {
			return true
		}
	}
	return one.Syntax != two.Syntax && sameName && one.Word("name") != ""
}

// leastToRepeat is the number of properties from which two nodes that say the same are one
// car.
const leastToRepeat = 3

// repeats reports a node that says word for word what another says.
func repeats(one, two *graph.Node) bool {
	for property := range one.Props {
		if one.Word(property) != two.Word(property) {
			return false
		}
	}
	return len(one.Props) == len(two.Props) && len(one.Props) >= leastToRepeat
}

// vinOf returns the identification number for comparing; "" for a masked one.
func vinOf(n *graph.Node) string {
	vin := n.Word("vehicleIdentificationNumber")
	if strings.ContainsAny(vin, "*xX…") && strings.ContainsAny(vin, "*…") || len(claim.Squash(vin)) < 5 {
		return ""
	}
	return claim.Squash(vin)
}

// keyOf returns a property that names one car of a site, for comparing.
func keyOf(n *graph.Node, property string) string {
	if property == "url" {
		for _, v := range n.Props["url"] {
			if link := strings.TrimSuffix(v.Address(), "/"); link != "" && !strings.HasPrefix(link, "#") {
				return link
			}
		}
		return ""
	}
	return claim.Squash(n.Word(property))
}
