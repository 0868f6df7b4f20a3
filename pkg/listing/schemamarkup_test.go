package listing

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"ushuru/pkg/fetch"
)

// wantAqua fails unless a page gives the car of these tests.
func wantAqua(t *testing.T, page string) {
	t.Helper()
	car := schemaOf(t, page, "https://cars.example.com/stock/1").Car
	if car.Make != "TOYOTA" || car.Model != "AQUA" || car.Year != 2016 || car.Fuel != "HYBRID" {
		t.Errorf("%s\n%+v", page, car)
	}
}

const (
	aquaMicrodata = `<span itemprop="brand">Toyota</span> <b itemprop="model">Aqua</b>
		<meta itemprop="vehicleModelDate" content="2016"><link itemprop="fuelType" href=" http://schema.org/Hybrid ">`
	aquaRDFa = `<span property="brand">Toyota</span> <b property="model">Aqua</b>
		<meta property="vehicleModelDate" content="2016"><link property="fuelType" href=" http://schema.org/Hybrid ">`
)

func TestMicrodata(t *testing.T) {
	car := func(attributes string) string { return "<div itemscope " + attributes + ">" + aquaMicrodata + "</div>" }
	for name, page := range map[string]string{
		"plain":            car(`itemtype="https://schema.org/Car"`),
		"spaces":           car(`itemtype=" http://schema.org/Car "`),
		"several types":    car(`itemtype="http://schema.org/Product http://schema.org/Car"`),
		"single quotes":    strings.ReplaceAll(car(`itemtype="https://schema.org/Car"`), `"`, `'`),
		"capitals":         strings.NewReplacer("itemprop", "ItemProp", "itemscope", "ITEMSCOPE").Replace(car(`itemtype="https://schema.org/Car"`)),
		"page without":     `<html itemscope itemtype="http://schema.org/"><span itemprop="name">x</span>` + car(`itemtype="https://schema.org/Car"`),
		"main entity":      `<body itemscope itemtype="http://schema.org/WebPage">` + car(`itemprop="mainEntity" itemtype="https://schema.org/Car"`),
		"main of no item":  car(`itemprop="mainEntity" itemtype="https://schema.org/Car"`),
		"itemref":          `<div itemscope itemtype="http://schema.org/Car" itemref="none a b a"></div><p id="a">` + aquaMicrodata + `</p><i id="b" itemprop="color">red</i>`,
		"itemref to a car": `<div itemscope itemtype="http://schema.org/Offer" itemref="c"></div>` + car(`id="c" itemprop="itemOffered" itemtype="https://schema.org/Car"`),
		"itemref in a circle": `<div id="x" itemscope itemtype="http://schema.org/Car" itemref="y x">` + aquaMicrodata +
			`</div><div id="y" itemprop="isRelatedTo" itemscope itemref="x y"></div>`,
		"left open":       `<ul><li itemscope itemtype="http://schema.org/Car">` + aquaMicrodata + `<li itemscope itemtype="http://schema.org/Thing"><i itemprop="model">Vitz</i>`,
		"several names":   strings.Replace(car(`itemtype="https://schema.org/Car"`), `"model"`, `"name model"`, 1),
		"full names":      strings.Replace(car(`itemtype="https://schema.org/Car"`), `"model"`, `"http://schema.org/model"`, 1),
		"nested items":    strings.Replace(car(`itemtype="https://schema.org/Car"`), `<span itemprop="brand">Toyota</span>`, `<div itemprop="brand" itemscope itemtype="https://schema.org/Brand"><i itemprop="name">Toyota</i></div>`, 1),
		"content":         strings.Replace(car(`itemtype="https://schema.org/Car"`), `>Toyota<`, ` content="Toyota">Our Toyota<`, 1),
		"link with text":  strings.Replace(car(`itemtype="https://schema.org/Car"`), `<b itemprop="model">Aqua</b>`, `<a itemprop="model" href="/toyota/aqua">Aqua</a>`, 1),
		"data and time":   `<div itemscope itemtype="http://schema.org/Car"><data itemprop="brand" value="Toyota">T</data><meter itemprop="model" value="Aqua"></meter><time itemprop="vehicleModelDate" datetime="2016-01">last year</time><i itemprop="fuelType">Hybrid</i></div>`,
		"beside other's":  `<div itemscope itemtype="http://schema.org/Organization"><i itemprop="brand">Us</i></div>` + car(`itemtype="https://schema.org/Car"`),
		"mixed with RDFa": car(`itemtype="https://schema.org/Car" property="og:x"`),
		"in a list alone": `<ol itemscope itemtype="http://schema.org/ItemList"><li itemprop="itemListElement" itemscope itemtype="http://schema.org/ListItem">` + car(`itemprop="item" itemtype="https://schema.org/Car"`) + `</ol>`,
	} {
		t.Run(name, func(t *testing.T) { wantAqua(t, page) })
	}
}

func TestRDFa(t *testing.T) {
	car := func(attributes string) string { return "<div " + attributes + ">" + aquaRDFa + "</div>" }
	for name, page := range map[string]string{
		"plain":           car(`vocab="https://schema.org/" typeof="Car"`),
		"capitals":        strings.NewReplacer("property", "PROPERTY", "typeof", "typeOf").Replace(car(`VOCAB="http://schema.org/" typeof="Car"`)),
		"vocab above":     `<body vocab="http://schema.org">` + car(`typeof="Product Car"`),
		"prefix":          `<div prefix="og: http://ogp.me/ns# s: http://schema.org/" typeof="s:Car">` + strings.ReplaceAll(aquaRDFa, `property="`, `property="s:`) + `</div>`,
		"known prefix":    `<div typeof="schema:Car">` + strings.ReplaceAll(aquaRDFa, `property="`, `property="schema:`) + `</div>`,
		"main entity":     `<body vocab="http://schema.org/" typeof="WebPage">` + car(`property="mainEntity" typeof="Car"`),
		"main of no item": car(`vocab="http://schema.org/" property="mainEntity" typeof="Car"`),
		"resource":        `<div vocab="http://schema.org/"><div resource="#c" typeof="Car"></div><div resource="#c">` + aquaRDFa + `</div></div>`,
		"reference": `<div vocab="http://schema.org/"><div typeof="Offer"><i property="itemOffered" resource="#c"></i></div>` +
			car(`resource="#c" typeof="Car"`) + `</div>`,
		"name by content": strings.Replace(car(`vocab="http://schema.org/" typeof="Car"`), `>Aqua<`, ` content="Aqua">the Aqua<`, 1),
		"other metas":     `<meta property="og:title" content="x">` + car(`vocab="http://schema.org/" typeof="Car"`),
	} {
		t.Run(name, func(t *testing.T) { wantAqua(t, page) })
	}
}

func TestMarkupThatIsNoVehicleOfThePage(t *testing.T) {
	const car = `itemscope itemtype="http://schema.org/Car">` + aquaMicrodata + `</div>`
	for name, page := range map[string]string{
		"similar":              `<div itemscope itemtype="http://schema.org/Product"><div itemprop="isSimilarTo" ` + car + `</div>`,
		"similar to nothing":   `<div itemprop="isRelatedTo" ` + car,
		"in an aside":          `<aside><div ` + car + `</aside>`,
		"in a carousel":        `<div class="similar-cars"><div ` + car + `</div>`,
		"in a template":        `<template><div ` + car + `</template>`,
		"JSON-LD in one":       `<template>` + schemaPage(with("")) + `</template>`,
		"no scope":             `<div itemtype="http://schema.org/Car">` + aquaMicrodata + `</div>`,
		"another vocabulary":   `<div itemscope itemtype="http://example.com/Car">` + aquaMicrodata + `</div>`,
		"a word for a type":    `<div itemscope itemtype="Car">` + aquaMicrodata + `</div>`,
		"RDFa without vocab":   `<div typeof="Car">` + aquaRDFa + `</div>`,
		"RDFa of another":      `<div vocab="http://example.com/" typeof="Car">` + aquaRDFa + `</div>`,
		"another's prefix":     `<div prefix="s: http://example.com/" typeof="s:Car">` + aquaRDFa + `</div>`,
		"two cars of a list":   `<div itemscope itemtype="http://schema.org/ItemList"><div itemprop="itemListElement" ` + car + `<div itemprop="itemListElement" ` + car + `</div>`,
		"breadcrumb to a car":  `<div itemscope itemtype="http://schema.org/BreadcrumbList"><div itemprop="itemListElement" ` + car + `</div>`,
		"nested in a property": `<div itemscope itemtype="http://schema.org/Review"><div itemprop="itemReviewed" ` + car + `</div>`,
	} {
		if l := schemaOf(t, page, ""); len(l.Fields) != 0 {
			t.Errorf("%s: %+v", name, l.Fields)
		}
	}
}

func TestPicturesOfMarkup(t *testing.T) {
	const page = `<base href="https://img.example.com/cars/"><div itemscope itemtype="http://schema.org/Car">` + aquaMicrodata + `
		<img itemprop="image" src=" 1.jpg
		"><img itemprop="image" src="data:image/gif;base64,AA" data-src="//cdn.example.com/2.jpg"><img itemprop="image" href="/3.png">
		<link itemprop="image" href=" 4.jpg "><a itemprop="image" href="5.jpg">large</a><meta itemprop="image" content="6.jpg">
		<img itemprop="image" src="data:image/gif;base64,AA"><div itemprop="image" itemscope itemtype="http://schema.org/ImageObject">
		<img itemprop="contentUrl" src="7.jpg"></div>
		<div itemprop="offers" itemscope><div itemprop="seller" itemscope><img itemprop="image" src="seller.jpg"></div></div></div>`
	const want = "https://img.example.com/cars/1.jpg https://cdn.example.com/2.jpg https://img.example.com/3.png https://img.example.com/cars/4.jpg " +
		"https://img.example.com/cars/5.jpg https://img.example.com/cars/6.jpg https://img.example.com/cars/7.jpg"
	if got := strings.Join(schemaOf(t, page, dealerURL).Car.Images, " "); got != want {
		t.Errorf("%s", got)
	}
	media := `<div itemscope itemtype="http://schema.org/Car">` + aquaMicrodata + `<video itemprop="associatedMedia" src="/v.mp4"></video></div>`
	if got := schemaOf(t, media, dealerURL).Car.Images; len(got) != 1 {
		t.Errorf("media %q", got)
	}
}

func TestStruckPricesOfMarkupAreNone(t *testing.T) {
	const page = `<div itemscope itemtype="http://schema.org/Car">` + aquaMicrodata + `<div itemprop="offers" itemscope itemtype="http://schema.org/Offer">
		<meta itemprop="priceCurrency" content="USD"><s>$<b itemprop="price">2,080</b></s> <del itemprop="price">2,000</del> $<span itemprop="price">1,300</span></div></div>`
	if got := amountOf(schemaOf(t, page, "").Car.FOBPriceUSD); got != "1300" {
		t.Errorf("FOB %s", got)
	}
}

// thing is a node of schema.org data with its properties in their order: texts and things.
type thing struct {
	kind  string
	props []any // name, value, name, value …
}

func of(kind string, props ...any) thing { return thing{kind, props} }

func (n thing) each(write func(name string, value any)) {
	for i := 0; i < len(n.props); i += 2 {
		write(n.props[i].(string), n.props[i+1])
	}
}

func (n thing) jsonLD() string {
	parts := []string{fmt.Sprintf(`"@type":%q`, n.kind)}
	all, order := map[string][]string{}, []string{}
	n.each(func(name string, value any) {
		text := fmt.Sprintf("%q", value)
		if child, ok := value.(thing); ok {
			text = child.jsonLD()
		}
		if all[name] == nil {
			order = append(order, name)
		}
		all[name] = append(all[name], text)
	})
	for _, name := range order {
		value := all[name][0]
		if len(all[name]) > 1 {
			value = "[" + strings.Join(all[name], ",") + "]"
		}
		parts = append(parts, fmt.Sprintf("%q:%s", name, value))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// markup writes the node as elements: attributes begins it, property names what it is of
// the node around it.
func (n thing) markup(begin, property, of string) string {
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, `<div%s %s>`, of, fmt.Sprintf(begin, n.kind))
	n.each(func(name string, value any) {
		own := fmt.Sprintf(` %s="%s"`, property, name)
		switch value := value.(type) {
		case thing:
			b.WriteString(value.markup(begin, property, own))
		case string:
			if strings.HasPrefix(value, "http") {
				_, _ = fmt.Fprintf(&b, `<link%s href="%s">`, own, value)
			} else {
				_, _ = fmt.Fprintf(&b, `<p><span%s>%s</span></p>`, own, value)
			}
		}
	})
	b.WriteString("</div>")
	return b.String()
}

// The facts of schema.org's published examples of cars, vehicles and offers of them, and of
// what sites write in their manner: the same car in three syntaxes, or the same refusal.
func TestThreeSyntaxesSayTheSame(t *testing.T) {
	t.Parallel()
	usd := func(price string) thing { return of("Offer", "price", price, "priceCurrency", "USD") }
	golf := func(props ...any) thing {
		return of("Car", append([]any{
			"name", "2009 Volkswagen Golf V GTI MY09 Direct-Shift Gearbox", "color", "Black", "numberOfForwardGears", "6",
			"vehicleEngine", of("EngineSpecification", "name", "4 cylinder Petrol Turbo Intercooled 2.0 L (1984 cc)"),
		}, props...)...)
	}
	demio := []any{
		"name", "2013 Mazda Demio 13C", "brand", of("Brand", "name", "Mazda"), "model", "Demio", "vehicleModelDate", "2013",
		"mileageFromOdometer", of("QuantitativeValue", "value", "71300", "unitCode", "KMT"), "fuelType", "Petrol",
		"vehicleEngine", of("EngineSpecification", "engineDisplacement", of("QuantitativeValue", "value", "1348", "unitCode", "CMQ")),
	}
	const wantDemio = "make=MAZDA; model=DEMIO; year=2013; engine_cc=1348; fuel=PETROL; mileage_km=71300; fobPriceUSD="
	for name, c := range map[string]struct {
		node thing
		want string
	}{
		"a person's offer": {
			of("Person", "name", "Brent", "makesOffer", of("Offer", "priceSpecification",
				of("UnitPriceSpecification", "priceCurrency", "USD", "price", "18000"), "itemOffered", golf())),
			"make=VOLKSWAGEN; model=GOLF; year=2009; engine_cc=1984; fuel=PETROL; fobPriceUSD=18000; colour=Black",
		},
		"a car with its offer":   {golf("offers", usd("18000")), "make=VOLKSWAGEN; model=GOLF; year=2009; engine_cc=1984; fobPriceUSD=18000"},
		"a car by its facts":     {of("Car", append(demio, "offers", usd("3500"))...), wantDemio + "3500"},
		"a vehicle by its facts": {of("Vehicle", append(demio, "offers", usd("3500"))...), wantDemio + "3500"},
		"an offer of a car":      {of("Offer", "price", "3500", "priceCurrency", "USD", "itemOffered", of("Car", demio...)), wantDemio + "3500"},
		"a page's main entity":   {of("WebPage", "mainEntity", of("Car", append(demio, "offers", usd("3500"))...)), wantDemio + "3500"},
		"a range of prices":      {of("Car", append(demio, "offers", of("AggregateOffer", "lowPrice", "3000", "highPrice", "4000", "priceCurrency", "USD"))...), wantDemio},
		"two prices":             {of("Car", append(demio, "offers", usd("3500"), "offers", usd("3900"))...), wantDemio},
		"sold out":               {of("Car", append(demio, "offers", of("Offer", "price", "3500", "priceCurrency", "USD", "availability", "https://schema.org/SoldOut"))...), wantDemio + "; warning=listing_sold"},
		"an instalment":          {of("Car", append(demio, "offers", of("Offer", "priceSpecification", of("LoanOrCredit", "amount", "99")))...), wantDemio},
		"miles":                  {of("Car", "name", "2013 Mazda Demio", "fuelType", "Diesel", "mileageFromOdometer", of("QuantitativeValue", "value", "50000", "unitCode", "SMI")), "mileage_km=80467; make=MAZDA; fuel=DIESEL"},
		"a sale in the US": {of("Car", append(demio, "offers", of("Offer", "price", "13500", "priceCurrency", "USD", "seller",
			of("AutoDealer", "name", "Lakeside", "address", of("PostalAddress", "addressLocality", "Austin", "addressRegion", "TX", "addressCountry", "US"))))...), wantDemio + "; warning=retail_price"},
		"a list": {of("ItemList", "itemListElement", of("ListItem", "item", of("Car", append(demio, "offers", usd("3500"))...)),
			"itemListElement", of("ListItem", "item", golf("offers", usd("18000")))), "error=several_cars"},
		"a rental": {of("RentalCarReservation", "reservationNumber", "546323", "reservationFor",
			of("Car", "name", "Economy Class Car", "model", "Civic", "brand", of("Brand", "name", "Honda"))), "error=not_a_listing"},
		"consumption of a vehicle": {of("Vehicle", "name", "Compact class", "fuelConsumption", of("QuantitativeValue", "value", "5.6", "unitText", "L/100 km")), "error=not_a_listing"},
		"seats of a vehicle":       {of("Vehicle", "name", "Bus", "vehicleSeatingCapacity", "40", "vehicleSpecialUsage", "CommercialVehicle"), "error=not_a_listing"},
		"a guide":                  {of("Guide", "name", "Buying a used car", "about", of("Car", "name", "Used cars")), "error=not_a_listing"},
	} {
		said := ""
		for syntax, markup := range map[string]string{
			"microdata": c.node.markup(`itemscope itemtype="https://schema.org/%s"`, "itemprop", ""),
			"RDFa":      c.node.markup(`vocab="https://schema.org/" typeof="%s"`, "property", ""),
			"JSON-LD":   `<script type="application/ld+json">{"@context":"https://schema.org",` + c.node.jsonLD()[1:] + `</script>`,
		} {
			checkHostile(t, []hostileCase{{name + " in " + syntax, "https://cars.example.com/", "<title>Kaze Motors</title>" + markup, c.want}})
			if got := outcomeOf(t, markup); said == "" {
				said = got
			} else if got != said {
				t.Errorf("%s in %s: got %s, want %s as in another syntax", name, syntax, got, said)
			}
		}
	}
}

// outcomeOf returns all that is read of a page, or its refusal, as one text.
func outcomeOf(t *testing.T, markup string) string {
	t.Helper()
	l, err := Read(t.Context(), FromFile([]byte("<title>Kaze Motors</title>"+markup), "https://cars.example.com/"))
	if failure, ok := errors.AsType[*fetch.Error](err); ok {
		return failure.Message
	}
	if err != nil {
		t.Fatal(err)
	}
	got := flatten(&l.Car)
	maps.DeleteFunc(got, func(_, value string) bool { return value == "" })
	for _, w := range l.Warnings {
		got["warning "+w.Code] = "said"
	}
	return fmt.Sprint(got)
}
