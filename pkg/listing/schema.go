package listing

import "golang.org/x/net/html"

// The names of the three syntaxes, as sources of values.
const (
	sourceJSONLD    = "JSON-LD"
	sourceMicrodata = "microdata"
	sourceRDFa      = "RDFa"
)

// readSchema claims what the page's schema.org data says of its car.
func readSchema(doc *document, c *claims) {
	c.source, c.rank = sourceJSONLD, RankSchema
	found := findCars(newGraph(doc))
	car := found.own(doc)
	if car == nil && c.describesCar() {
		car = found.ownProduct()
	}
	if car == nil || car.place(doc) != thisPage && c.contradicts(car.copies[0]) {
		return
	}
	found.addCopies(car)
	for _, n := range car.copies {
		c.source = n.syntax
		claimNode(n, c)
	}
	claimFuel(car, c)
	claimOffers(car, c)
}

// markedUp are the elements of a page that begin an item, in document order.
type markedUp struct {
	scopes []*html.Node // microdata: itemscope
	typed  []*html.Node // RDFa: typeof or resource
}

// mark remembers an element by one of its attributes.
func (m *markedUp) mark(el *html.Node, attribute string) {
	switch attribute {
	case "itemscope":
		m.scopes = append(m.scopes, el)
	case "typeof", "resource":
		if len(m.typed) == 0 || m.typed[len(m.typed)-1] != el {
			m.typed = append(m.typed, el)
		}
	}
}
