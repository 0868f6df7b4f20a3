// Package schemaorg claims what a page's schema.org data say of its car. It
// finds the node that is the page's own car and reads its make, model, dates,
// engine, fuel, mileage, offers and pictures.
package schemaorg

import (
	"slices"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/listing/schemaorg/graph"
)

// Read claims what the page's schema.org data says of its car.
func Read(doc *page.Document, c *claim.List) {
	c.Source, c.Rank = graph.SourceJSONLD, claim.RankSchema
	found := findCars(graph.New(doc))
	for _, other := range found.removeOthers(doc, c) {
		other.reject(c)
	}
	c.Source = graph.SourceJSONLD
	car := found.own(doc)
	if car == nil && describesCar(c) {
		car = found.ownProduct()
	}
	if car == nil || car.isOther(doc, c) {
		c.Listed = len(found.cars)
		c.Results = slices.ContainsFunc(found.cars, func(car *carEntry) bool { return car.result })
		return
	}
	c.Named = car.place(doc) == thisPage && !car.listed
	c.Results = car.result && car.place(doc) != thisPage
	c.Typed = graph.IsTypedVehicle(car.copies[0])
	found.addCopies(car)
	for _, n := range car.copies {
		c.Source = n.Syntax
		claimNode(n, c)
	}
	claimFuel(car, c)
	claimOffers(car, c)
	c.Rank = claim.RankMeta
	for _, n := range car.copies {
		c.Source = n.Syntax
		page.ClaimName(doc, c, n.Word("name"))
	}
}

// Vehicles returns the vehicles that a page's schema.org data describe, each
// once, by the first node that describes it.
func Vehicles(doc *page.Document) (nodes []*graph.Node) {
	for _, car := range findCars(graph.New(doc)).cars {
		nodes = append(nodes, car.copies[0])
	}
	return nodes
}
