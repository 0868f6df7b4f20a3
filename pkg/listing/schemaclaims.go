package listing

import (
	"regexp"
	"slices"
	"strings"
)

// claimNode claims the properties of a vehicle but for fuel and price, which
// depend on all its copies.
func claimNode(n *node, c *claims) {
	maker := makeOf(n)
	model := modelOf(n, maker)
	c.add(fieldMake, maker)
	c.add(fieldModel, model)
	c.add(fieldVersion, versionOf(n, maker, model))
	c.add(fieldFrame, frameOf(n))
	c.add(fieldBody, n.word("bodyType"))
	c.add(fieldColour, n.word("color"))
	c.add(fieldTransmission, n.word("vehicleTransmission"))
	c.add(fieldSteering, strings.TrimSuffix(n.word("steeringPosition"), "HandDriving"))
	c.add(fieldStock, n.word("sku", "productID"))
	claimAdditional(n, c)
	c.addCode(n.word("description"))
	c.addCode(n.word("name"))
	claimYear(n, model, c)
	claimEngine(n, c)
	claimMileage(n, c)
	c.addImages(imagesOf(n))
}

// makeOf returns the brand or manufacturer: of several names the first that is
// a known make, since sites put the model or the seller beside it.
func makeOf(n *node) string {
	var names []string
	for _, property := range []string{"brand", "manufacturer"} {
		for _, v := range n.props[property] {
			if name := v.words(); name != "" {
				names = append(names, name)
			}
		}
	}
	for _, name := range names {
		if makes[squash(name)] != "" {
			return name
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return isSeller(n, name) })
	return firstOf(names...)
}

// isSeller reports whether a name is that of the seller in the car's offers.
func isSeller(n *node, name string) bool {
	for _, offer := range n.nodesOf("offers") {
		if seller := offer.word("seller", "offeredBy"); seller != "" && squash(seller) == squash(name) {
			return true
		}
	}
	return false
}

// modelOf returns the model without the make before it. An address as a model
// counts when the car's name has its last part.
func modelOf(n *node, maker string) string {
	model := n.only("model")
	if model == "" && len(n.props["model"]) == 1 {
		link := strings.TrimRight(n.props["model"][0].address(), "/")
		last := strings.NewReplacer("_", " ", "-", " ").Replace(link[strings.LastIndexAny(link, "/#")+1:])
		if isAddress(link) && squash(last) != "" && strings.Contains(squash(n.word("name")), squash(last)) {
			model = last
		}
	}
	if len(maker) < len(model) && strings.EqualFold(model[:len(maker)], maker) && model[len(maker)] == ' ' {
		model = strings.TrimSpace(model[len(maker):])
	}
	if isAddress(model) {
		return ""
	}
	return model
}

// versionOf returns the configuration, unless it only repeats the model.
func versionOf(n *node, maker, model string) string {
	version := n.only("vehicleConfiguration")
	if key := squash(version); key == squash(model) || key == squash(maker+model) || key == squash(n.word("name")) {
		return ""
	}
	return version
}

// frameOf returns the identification number when it has the length and a digit
// of one; masked ones count.
func frameOf(n *node) string {
	vin := n.word("vehicleIdentificationNumber")
	if len(squash(vin)) < 5 || len(vin) > 30 || !strings.ContainsAny(vin, "0123456789") {
		return ""
	}
	return vin
}

// claimAdditional reads additionalProperty, where sites put what schema.org has
// no name for, by the labels of listing pages. Prices there have no meaning.
func claimAdditional(n *node, c *claims) {
	for _, property := range n.nodesOf("additionalProperty") {
		field := fieldOf(property.word("name", "propertyID"))
		if field != "" && field != fieldPrice && field != fieldCF {
			c.add(field, strings.TrimSpace(property.only("value")+" "+property.word("unitText")))
		}
	}
}

// modelYears are names of models that look like years.
var modelYears = regexp.MustCompile(`(?i)peugeot\s+2008|bmw\s+2002`)

// claimYear claims both dates, and the model year; where no property gives it,
// it is the year in the name that is not part of the model's.
func claimYear(n *node, model string, c *claims) {
	c.add(fieldManufacture, n.only("productionDate"))
	c.add(fieldRegistration, n.only("dateVehicleFirstRegistered"))
	for _, property := range []string{"vehicleModelDate", "modelDate", "releaseDate"} {
		if found := yearOf(n.only(property)); found != "" {
			c.add(fieldModelYear, found)
			return
		}
	}
	name := modelYears.ReplaceAllString(n.word("name"), "")
	if yearOf(model) != "" {
		name = strings.Replace(strings.ToUpper(name), strings.ToUpper(model), "", 1)
	}
	c.add(fieldModelYear, yearOf(name))
}

// imagesOf returns the links of the pictures, the full ones before thumbnails.
func imagesOf(n *node) (links []string) {
	for _, property := range []string{"image", "photo", "associatedMedia", "primaryImageOfPage", "thumbnailUrl"} {
		for _, v := range n.props[property] {
			if link := v.address(); link != "" && !strings.HasPrefix(strings.ToLower(link), "data:") {
				links = append(links, link)
			}
		}
		if len(links) > 0 && property != "image" && property != "photo" {
			break
		}
	}
	return links
}
