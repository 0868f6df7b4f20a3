package listing

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"ushuru/pkg/fetch"
)

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
