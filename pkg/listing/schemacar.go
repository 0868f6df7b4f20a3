package listing

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// schemaCar is a vehicle found in schema.org data: all nodes that describe it,
// and the offers that it hangs on when they do not hang on it.
type schemaCar struct {
	copies []*node
	offers []*node
	listed bool // an item of a list, or one of several offers of a seller
	beside bool // in a part of the page that holds other cars
}

// maxSchemaCars is the most vehicles that are told apart.
const maxSchemaCars = 200

// carFinder collects the vehicles of a page.
type carFinder struct {
	cars     []*schemaCar
	byNode   map[*node]*schemaCar
	seen     map[*node]bool
	products []*node // products without a sign of a vehicle
}

// findCars goes through the graph in document order, JSON-LD first.
func findCars(g *graph) *carFinder {
	f := &carFinder{byNode: map[*node]*schemaCar{}, seen: map[*node]bool{}}
	for _, root := range g.roots {
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

// collect goes down the containers from a node; offer is the last one on the way.
func (f *carFinder) collect(n, offer *node, listed bool, depth int) {
	n = n.full()
	if isVehicle(n) {
		f.keep(n, offer, listed)
		return
	}
	if f.seen[n] || depth > maxSchemaDepth || n.is("BreadcrumbList") || n.is("ItemList") && othersOf.MatchString(n.word("name")) {
		return
	}
	f.seen[n] = true
	if n.is("Offer") {
		offer = n
	}
	if isProduct(n) && len(f.products) < maxSchemaCars {
		f.products = append(f.products, n)
	}
	for _, property := range containers {
		children := n.nodesOf(property)
		several := property == "itemListElement" || property != "@graph" && len(children) > 1
		for _, child := range children {
			f.collect(child, offer, listed || several, depth+1)
		}
	}
}

// keep adds a vehicle once, however often it is referred to.
func (f *carFinder) keep(n, offer *node, listed bool) {
	car := f.byNode[n]
	if car == nil {
		if len(f.cars) >= maxSchemaCars || n.from != nil && ancestor(n.from, isTemplate) {
			return
		}
		car = &schemaCar{copies: []*node{n}, beside: n.from != nil && ancestor(n.from, besides)}
		f.byNode[n] = car
		f.cars = append(f.cars, car)
	}
	car.listed = car.listed || listed
	if offer != nil && len(car.offers) < maxOffers && !slices.Contains(car.offers, offer) {
		car.offers = append(car.offers, offer)
	}
}

func isTemplate(el *html.Node) bool { return el.DataAtom == atom.Template }

// vehicleTypes are those of schema.org, and one that sites have made up.
var vehicleTypes = []string{"Car", "Vehicle", "MotorVehicle", "Motorcycle", "MotorizedBicycle", "BusOrCoach"}

// isVehicle accepts the vehicle types, and a Product or a thing without type
// that has a sign of a vehicle.
func isVehicle(n *node) bool {
	if n.is(vehicleTypes...) || slices.Contains(vehicleTypes, n.word("additionalType")) {
		return true
	}
	if n.typed && !isProduct(n) {
		return false
	}
	for property := range n.props {
		if strings.HasPrefix(property, "vehicle") || property == "mileageFromOdometer" {
			return true
		}
	}
	return false
}

func isProduct(n *node) bool { return n.is("Product", "IndividualProduct") }

// join makes one car of several nodes that describe the same.
func (f *carFinder) join() {
	var cars []*schemaCar
	for _, car := range f.cars {
		at := slices.IndexFunc(cars, func(other *schemaCar) bool { return sameCar(other, car) })
		if at < 0 {
			cars = append(cars, car)
			continue
		}
		first := cars[at]
		first.copies = append(first.copies, car.copies...)
		first.offers = append(first.offers, car.offers...)
		first.listed, first.beside = first.listed && car.listed, first.beside && car.beside
	}
	f.cars = cars
}

// sameCar compares the first nodes of two cars: by VIN, else by stock number or
// address, else, across syntaxes, by name.
func sameCar(a, b *schemaCar) bool {
	one, two := a.copies[0], b.copies[0]
	if one.vin() != "" && two.vin() != "" {
		return one.vin() == two.vin()
	}
	sameName := squash(one.word("name")) == squash(two.word("name"))
	crossing := one.syntax != two.syntax || isVehicle(one) != isVehicle(two)
	for _, property := range []string{"sku", "url"} {
		x, y := one.key(property), two.key(property)
		if x != "" && y != "" && x != y {
			return false
		}
		if x != "" && x == y && (sameName || crossing) {
			return true
		}
	}
	return one.syntax != two.syntax && sameName && one.word("name") != ""
}

// vin returns the identification number for comparing; "" for a masked one.
func (n *node) vin() string {
	vin := n.word("vehicleIdentificationNumber")
	if strings.ContainsAny(vin, "*xX…") && strings.ContainsAny(vin, "*…") || len(squash(vin)) < 5 {
		return ""
	}
	return squash(vin)
}

// key returns a property that names one car of a site, for comparing.
func (n *node) key(property string) string {
	if property == "url" {
		for _, v := range n.props["url"] {
			if link := strings.TrimSuffix(v.address(), "/"); link != "" && !strings.HasPrefix(link, "#") {
				return link
			}
		}
		return ""
	}
	return squash(n.word(property))
}
