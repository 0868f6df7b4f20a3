// Package schemaorg claims what a page's schema.org data say of its car. It
// finds the node that is the page's own car and reads its make, model, dates,
// engine, fuel, mileage, offers and pictures.
package schemaorg

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

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

// claimNode claims the properties of a vehicle but for fuel and price, which
// depend on all its copies.
func claimNode(n *graph.Node, c *claim.List) {
	maker := makeOf(n)
	model := modelOf(n, maker)
	c.Add(claim.FieldMake, maker)
	c.Add(claim.FieldModel, model)
	c.Add(claim.FieldVersion, versionOf(n, maker, model))
	c.Add(claim.FieldFrame, frameOf(n))
	c.Add(claim.FieldBody, n.Word("bodyType"))
	c.Add(claim.FieldColour, n.Word("color"))
	c.Add(claim.FieldTransmission, n.Word("vehicleTransmission"))
	c.Add(claim.FieldSteering, strings.TrimSuffix(n.Word("steeringPosition"), "HandDriving"))
	c.Add(claim.FieldStock, n.Word("sku", "productID"))
	claimAdditional(n, c)
	c.AddCode(n.Word("description"))
	c.AddCode(n.Word("name"))
	claimYear(n, model, c)
	claimEngine(n, c)
	claimMileage(n, c)
	claimPlace(n, c)
	c.AddImages(imagesOf(n))
}

// makeOf returns the brand or manufacturer: of several names the first that is
// a known make, since sites put the model or the seller beside it.
func makeOf(n *graph.Node) string {
	var names []string
	for _, property := range []string{"brand", "manufacturer"} {
		for _, v := range n.Props[property] {
			if name := v.Words(); name != "" {
				names = append(names, name)
			}
		}
	}
	for _, name := range names {
		if _, known := page.KnownMake(name); known {
			return name
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return isSeller(n, name) })
	return cmp.Or(names...)
}

// isSeller reports whether a name is that of the seller in the car's offers.
func isSeller(n *graph.Node, name string) bool {
	for _, offer := range n.NodesOf("offers") {
		if seller := offer.Word("seller", "offeredBy"); seller != "" && claim.Squash(seller) == claim.Squash(name) {
			return true
		}
	}
	return false
}

// modelOf returns the model without the make before it. An address as a model
// counts when the car's name has its last part.
func modelOf(n *graph.Node, maker string) string {
	model := n.Only("model")
	if model == "" && len(n.Props["model"]) == 1 {
		link := strings.TrimRight(n.Props["model"][0].Address(), "/")
		last := strings.NewReplacer("_", " ", "-", " ").Replace(link[strings.LastIndexAny(link, "/#")+1:])
		key := claim.Squash(last)
		if graph.IsAddress(link) && key != "" && strings.Contains(claim.Squash(n.Word("name")), key) {
			model = last
		}
	}
	if len(maker) < len(model) && strings.EqualFold(model[:len(maker)], maker) && model[len(maker)] == ' ' {
		model = strings.TrimSpace(model[len(maker):])
	}
	if graph.IsAddress(model) {
		return ""
	}
	return model
}

// versionOf returns the configuration, unless it only repeats the model.
func versionOf(n *graph.Node, maker, model string) string {
	version := n.Only("vehicleConfiguration")
	switch claim.Squash(version) {
	case claim.Squash(model), claim.Squash(maker + model), claim.Squash(n.Word("name")):
		return ""
	}
	return version
}

// frameOf returns the identification number when it has the length and a digit
// of one; masked ones count.
func frameOf(n *graph.Node) string {
	vin := n.Word("vehicleIdentificationNumber")
	if len(claim.Squash(vin)) < 5 || len(vin) > 30 || !strings.ContainsAny(vin, "0123456789") {
		return ""
	}
	return vin
}

// claimAdditional reads additionalProperty, where sites put what schema.org has
// no name for, by the labels of listing pages. Prices there have no meaning.
func claimAdditional(n *graph.Node, c *claim.List) {
	for _, property := range n.NodesOf("additionalProperty") {
		field := claim.FieldOf(property.Word("name", "propertyID"))
		if field != "" && field != claim.FieldPrice && field != claim.FieldCF {
			c.Add(field, strings.TrimSpace(property.Only("value")+" "+property.Word("unitText")))
		}
	}
}

// modelYears are names of models that look like years.
var modelYears = regexp.MustCompile(`(?i)peugeot\s+2008|bmw\s+2002`)

// claimYear claims both dates, and the model year. Where no property gives it, the
// year in the name, without the name of the model, is claimed as a title's. The
// release date is often that of the advertisement.
func claimYear(n *graph.Node, model string, c *claim.List) {
	c.Add(claim.FieldManufacture, n.Only("productionDate"))
	c.Add(claim.FieldRegistration, n.Only("dateVehicleFirstRegistered"))
	for _, property := range []string{"vehicleModelDate", "modelDate"} {
		if found := claim.YearIn(n.Only(property)); found != "" {
			c.Add(claim.FieldModelYear, found)
			return
		}
	}
	name := modelYears.ReplaceAllString(n.Word("name"), "")
	if claim.YearIn(model) != "" {
		name = strings.Replace(strings.ToUpper(name), strings.ToUpper(model), "", 1)
	}
	named := claim.YearIn(name)
	c.Add(claim.FieldTitleYear, named)
	released := claim.YearIn(n.Only("releaseDate"))
	if named != released {
		c.Reject(claim.FieldModelYear, released, "release_date")
		return
	}
	c.Add(claim.FieldModelYear, released)
}

// claimPlace claims where the car is, or else its seller: the first address in its offers.
func claimPlace(n *graph.Node, c *claim.List) {
	for _, offer := range append(n.NodesOf("offers"), n) {
		for _, place := range append(offer.NodesOf("availableAtOrFrom", "seller", "offeredBy"), offer) {
			for _, address := range place.NodesOf("address") {
				var parts []string
				for _, property := range []string{"addressLocality", "addressRegion", "addressCountry"} {
					if part := address.Word(property); part != "" {
						parts = append(parts, part)
					}
				}
				if len(parts) > 0 {
					c.Add(claim.FieldLocation, strings.Join(parts, ", "))
					return
				}
			}
			if address := place.Word("address"); address != "" {
				c.Add(claim.FieldLocation, address)
				return
			}
		}
	}
}

// imagesOf returns the links of the pictures, the full ones before thumbnails.
func imagesOf(n *graph.Node) (links []string) {
	for _, property := range []string{"image", "photo", "associatedMedia", "primaryImageOfPage", "thumbnailUrl"} {
		for _, v := range n.Props[property] {
			if link := v.Address(); link != "" && !strings.HasPrefix(strings.ToLower(link), "data:") {
				links = append(links, link)
			}
		}
		if len(links) > 0 && property != "image" && property != "photo" {
			break
		}
	}
	return links
}
