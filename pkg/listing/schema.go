package listing

import (
	"mime"
	"net/url"
	"strings"

	"golang.org/x/net/html/atom"
)

// readSchema claims what the page's schema.org data says of its car.
func readSchema(doc *document, c *claims) {
	c.source, c.rank = "JSON-LD", RankSchema
	g := newGraph(blocks(doc))
	if car, ok := g.own(doc); ok {
		g.claim(car, c)
	}
}

// maxBlocks is the most JSON-LD blocks that are read.
const maxBlocks = 50

// blocks decodes the page's JSON-LD scripts; a bad one is skipped.
func blocks(doc *document) (values []any) {
	for _, script := range doc.tags[atom.Script] {
		kind, _, _ := mime.ParseMediaType(attr(script, "type"))
		if kind != "application/ld+json" || script.FirstChild == nil || len(values) >= maxBlocks {
			continue
		}
		if value, ok := decodeJSON(script.FirstChild.Data); ok {
			values = append(values, value)
		}
	}
	return values
}

// own returns the vehicle that the page is about: the one whose address or
// stock number is the page's, else the first, unless they are items of a list.
func (g *graph) own(doc *document) (thing, bool) {
	for _, t := range g.things {
		if g.isPage(t.node, doc) {
			return t, true
		}
	}
	if len(g.things) == 0 || g.things[0].list && len(g.things) > 1 {
		return thing{}, false
	}
	return g.things[0], true
}

func (g *graph) isPage(n node, doc *document) bool {
	for _, key := range []string{"url", "@id"} {
		link, _ := n[key].(string)
		if link != "" && (samePage(doc, link, doc.canonical) || samePage(doc, link, doc.page.FinalURL)) {
			return true
		}
	}
	sku := g.words(n["sku"])
	return len(sku) >= 5 && strings.Contains(strings.ToLower(doc.url.Path), strings.ToLower(sku))
}

// samePage compares two links without scheme, query and fragment.
func samePage(doc *document, a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	one, err1 := doc.base.Parse(a)
	two, err2 := doc.base.Parse(b)
	return err1 == nil && err2 == nil && place(one) == place(two) && strings.Trim(one.Path, "/") != ""
}

func place(u *url.URL) string { return strings.ToLower(u.Host + strings.TrimSuffix(u.Path, "/")) }

// claim claims the properties of a vehicle.
func (g *graph) claim(t thing, c *claims) {
	n := t.node
	c.add(fieldMake, firstOf(g.words(n["brand"]), g.words(n["manufacturer"])))
	c.add(fieldModel, g.words(n["model"]))
	c.add(fieldVersion, g.words(n["vehicleConfiguration"]))
	c.add(fieldFrame, g.words(n["vehicleIdentificationNumber"]))
	c.add(fieldBody, g.words(n["bodyType"]))
	c.add(fieldTransmission, g.words(n["vehicleTransmission"]))
	c.add(fieldSteering, strings.TrimSuffix(g.words(n["steeringPosition"]), "HandDriving"))
	c.add(fieldStock, g.words(n["sku"]))
	c.addCode(g.words(n["description"]))
	c.addCode(g.words(n["name"]))
	g.claimYear(n, c)
	g.claimEngine(n, c)
	c.add(fieldMileage, g.quantity(n["mileageFromOdometer"], map[string]string{"KMT": "km", "SMI": "miles"}))
	if p, ok := g.price(t); ok {
		c.add(fieldPrice, p)
	}
	c.sold = c.sold || g.soldOut(n)
	c.addImages(g.images(n["image"]))
}

func (g *graph) claimYear(n node, c *claims) {
	c.add(fieldManufacture, g.words(n["productionDate"]))
	c.add(fieldRegistration, g.words(n["dateVehicleFirstRegistered"]))
	c.add(fieldModelYear, firstOf(
		yearOf(g.words(n["vehicleModelDate"])), yearOf(g.words(n["modelDate"])),
		yearOf(g.words(n["releaseDate"])), yearOf(g.words(n["name"]))))
}

func (g *graph) claimEngine(n node, c *claims) {
	units := map[string]string{"CMQ": "cc", "LTR": "litres"}
	c.add(fieldEngine, g.quantity(n["engineDisplacement"], units))
	fuel := g.words(n["fuelType"])
	for _, value := range list(n["vehicleEngine"]) {
		part, ok := value.(node)
		if !ok {
			c.add(fieldEngine, g.words(value))
			continue
		}
		part = g.resolve(part)
		c.add(fieldEngine, g.quantity(part["engineDisplacement"], units))
		c.add(fieldEngine, g.words(part["name"]))
		if fuel == "" {
			fuel = g.words(part["fuelType"])
		}
	}
	c.add(fieldFuel, fuel)
}

// quantity returns "1490 cc" of a QuantitativeValue with a unit that is known,
// or the text of a plain string. A number without unit is nothing.
func (g *graph) quantity(value any, units map[string]string) string {
	if text, ok := value.(string); ok {
		if strings.Trim(text, "0123456789.,") == "" {
			return ""
		}
		return clean(text)
	}
	if many := list(value); len(many) > 1 {
		return ""
	} else if len(many) == 1 {
		value = many[0]
	}
	n, ok := value.(node)
	if !ok {
		return ""
	}
	n = g.resolve(n)
	unit := firstOf(units[g.words(n["unitCode"])], g.words(n["unitText"]))
	number := g.words(n["value"])
	if unit == "" || number == "" {
		return ""
	}
	if unit == "litres" && !strings.Contains(number, ".") {
		number += ".0"
	}
	return number + " " + unit
}

// images returns the links of one or several pictures.
func (g *graph) images(value any) (links []string) {
	for _, item := range list(value) {
		switch v := item.(type) {
		case string:
			links = append(links, v)
		case node:
			v = g.resolve(v)
			for _, key := range []string{"contentUrl", "url", "thumbnailUrl"} {
				if link, ok := v[key].(string); ok {
					links = append(links, link)
					break
				}
			}
		}
	}
	return links
}

func yearOf(s string) string {
	y, ok := year(s)
	if !ok {
		return ""
	}
	return y
}

func firstOf(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}
