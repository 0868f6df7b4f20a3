package listing

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"ushuru/pkg/listing/page"
	"ushuru/pkg/listing/schemaorg/graph"
)

// schemaPage is a page with one JSON-LD block.
func schemaPage(block string) string {
	return `<title>x</title><script type="application/ld+json">` + block + `</script>`
}

// schemaBlock is a car; %s stands for more properties.
const schemaBlock = `{"@type":"Car","brand":"Toyota","model":"Aqua","vehicleModelDate":"2016","fuelType":"Hybrid"%s}`

// with is the car with more properties.
func with(more string) string { return fmt.Sprintf(schemaBlock, more) }

func TestBrokenBlocks(t *testing.T) {
	good := with("")
	for name, markup := range map[string]string{
		"a bad one first":          schemaPage(`{"@type": "Car", `) + schemaPage(good),
		"a bad one with the id":    schemaPage(`{"@id":"#x","@type":"Car","model":"Bad" "x"`) + schemaPage(with(`,"@id":"#x"`)),
		"null, false and text":     schemaPage(`null`) + schemaPage(`false`) + schemaPage(`"x"`) + schemaPage(``) + schemaPage(` `) + schemaPage(good),
		"comments":                 schemaPage("// a\n" + good[:1] + "/* b */" + good[1:] + "\n// c"),
		"comment before the brace": schemaPage(strings.TrimSuffix(good, "}") + ", // \"x\": \"\"\n}"),
		"comment without end":      schemaPage(good + "/* never closed"),
		"trailing comma":           schemaPage(strings.TrimSuffix(good, "}") + ", }"),
		"several commas":           schemaPage("{,," + good[1:len(good)-1] + ",,}"),
		"trailing comma in a list": schemaPage(`[` + good + `,]`),
		"trailing brace":           schemaPage(good + "}}"),
		"semicolon":                schemaPage(good + ";"),
		"two values":               schemaPage(`{"@type":"WebPage"},` + good),
		"raw line break":           schemaPage(with(",\"description\":\"a\n\tb\"")),
		"comment inside a string":  schemaPage(with(`,"description":"a // b <!-- c --> /* d */"`)),
		"address in a string":      schemaPage(with(`,"sameAs":"https://example.com/a//b"`)),
		"byte order mark":          schemaPage("\ufeff" + good),
		"space that does not part": schemaPage("\u00a0" + strings.Replace(good, ",", ",\u00a0", 1)),
		"CDATA":                    schemaPage("<![CDATA[" + good + "]]>"),
		"CDATA in a line comment":  schemaPage("//<![CDATA[\n" + good + "\n//]]>"),
		"CDATA in a comment":       schemaPage("/*<![CDATA[*/" + good + "/*]]>*/"),
		"CDATA on one line":        schemaPage("//<![CDATA[ " + good + " //]]>"),
		"HTML comment around it":   schemaPage("<!--\n" + good + "\n-->"),
		"escaped key":              schemaPage(strings.Replace(good, "@type", `\u0040type`, 1)),
		"escape that is none":      schemaPage(with(`,"description":"Driver\'s car \x \ud83d\ude97 \u00"`)),
		"HTML-escaped block":       schemaPage(strings.ReplaceAll(good, `"`, "&quot;")),
		"entity inside a string":   schemaPage(with(`,"name":"12,3&quot;"`)),
		"value left out":           schemaPage(with(`,"price": ,"sku":}`)),
		"words that are no values": schemaPage(with(`,"sku":null,"url":undefined,"price":NaN,"x":true`)),
		"type in capitals":         strings.Replace(schemaPage(good), "application/ld+json", "Application/LD+JSON; charset=utf-8", 1),
		"type with a bad charset":  strings.Replace(schemaPage(good), "application/ld+json", " application/ld+json; charset", 1),
		"end in capitals":          strings.Replace(schemaPage(good), "</script>", "</SCRIPT >", 1),
		"self-closed script":       strings.Replace(schemaPage(good), `json">`, `json" />`, 1),
		"prefix of the type":       schemaPage(strings.Replace(good, `"Car"`, `"schema:Car"`, 1)),
		"prefixed properties":      schemaPage(strings.ReplaceAll(strings.ReplaceAll(good, `"brand"`, `"schema:brand"`), `"model"`, `"http://schema.org/model"`)),
		"type with www":            schemaPage(strings.Replace(good, `"Car"`, `"https://www.schema.org/Car"`, 1)),
		"alias of the type":        schemaPage(strings.Replace(good, `"@type"`, `"type"`, 1)),
		"several types":            schemaPage(strings.Replace(good, `"Car"`, `["Product","http://schema.org/Car"]`, 1)),
		"top-level array":          schemaPage("[" + `{"@type":"WebPage"},{"@graph":[` + good + `]}]`),
		"arrays in arrays":         schemaPage("[[[" + good + "]]]"),
		"value objects":            schemaPage(strings.Replace(good, `"Aqua"`, `{"@value":"Aqua","@language":"en"}`, 1)),
		"list objects":             schemaPage(strings.Replace(good, `"Aqua"`, `{"@list":["Aqua"]}`, 1)),
		"offered":                  schemaPage(`{"@type":"Person","makesOffer":{"@type":"Offer","itemOffered":` + good + `}}`),
		"main entity":              schemaPage(`{"@type":"WebPage","mainEntity":` + good + `}`),
		"twice":                    schemaPage(good) + schemaPage(good),
		"__proto__":                schemaPage(with(`,"__proto__":{"model":"x"},"constructor":1`)),
	} {
		t.Run(name, func(t *testing.T) {
			if car := read(t, markup, "").Car; car.Make != "TOYOTA" || car.Model != "AQUA" || car.Year != 2016 || car.Fuel != "HYBRID" {
				t.Errorf("%+v", car)
			}
		})
	}
}

func TestNothingIsTakenOfABlockThatCannotBeRead(t *testing.T) {
	for _, block := range []string{
		`{"@type":"Car","brand":"Toyota"`, `{"@type":"Car","brand":"Toyota}`, `{"@type":"Car" "brand"}`, `{"@type":"Car","brand":Toyota}`,
		`{"@type":"Car",brand:"Toyota"}`, `[{"@type":"Car","brand":"Toyota"}`, `[}`, `{"@type":"Car","price":1.2.3}`, `{"@type":"Car"]`, `{&quot;`,
	} {
		doc, err := page.Parse(nil, FromFile([]byte(schemaPage(block)), ""))
		if err != nil {
			t.Fatal(err)
		}
		if g := graph.New(doc); len(g.Roots) != 0 {
			t.Errorf("%s: %+v", block, g.Roots)
		}
	}
}

func TestStringsAreUnescapedOnceAfterParsing(t *testing.T) {
	for written, want := range map[string]string{
		`12,3&quot; \"x\"`: `12,3" "x"`, `\u00e9\ud83d\ude97`: "é🚗", `a\/b\\n`: `a/b\n`, `tab\tnew\nline`: "tab new line",
		`&amp;quot;`: "&quot;", `\ud83d`: "", `half \u12`: "half u12", `\u+123`: "u+123",
	} {
		l := schemaOf(t, schemaPage(with(`,"vehicleConfiguration":"`+written+` Z"`)), "")
		if got := strings.TrimSpace(strings.TrimSuffix(l.Car.Version, "Z")); got != want {
			t.Errorf("%s: %q, want %q", written, got, want)
		}
	}
}

func TestNoJSONLD(t *testing.T) {
	for name, markup := range map[string]string{
		"plain JSON":       strings.Replace(schemaPage(with("")), "ld+json", "json", 1),
		"commented out":    "<!--" + schemaPage(with("")) + "-->",
		"other vocabulary": schemaPage(strings.Replace(with(""), `"Car"`, `"https://example.com/Car"`, 1)),
		"unknown prefix":   schemaPage(strings.Replace(with(""), `"Car"`, `"gr:Car"`, 1)),
	} {
		if l := schemaOf(t, markup, ""); len(l.Fields) != 0 {
			t.Errorf("%s: %+v", name, l.Fields)
		}
	}
}

func TestReferencesAreFollowed(t *testing.T) {
	markup := schemaPage(`{"@graph":[
		{"@type":"WebPage","@id":"https://x.example.com/#page","mainEntity":{"@id":"#car"}},
		{"@type":"Car","@id":"#car","brand":{"@id":"#brand"},"vehicleModelDate":"2016","offers":{"@id":"#offer"},"image":{"@id":"#image"}},
		{"@type":"Offer","@id":"#offer","priceCurrency":"USD","price":"4100","itemOffered":{"@id":"#car"},"seller":{"@id":"#us"}},
		{"@type":"Brand","@id":"#brand","name":"Suzuki"},{"@type":"ImageObject","@id":"#image","contentUrl":"/1.jpg"}]}`) +
		schemaPage(`{"@id":"#car","@type":"Car","model":"Wagon R"}`)
	car := schemaOf(t, markup, "https://x.example.com/cars/1").Car
	want := []string{"SUZUKI", "WAGON R", "4100", "https://x.example.com/1.jpg"}
	if got := []string{car.Make, car.Model, amountOf(car.FOBPriceUSD), strings.Join(car.Images, " ")}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestNodesThatContradictEachOtherStayApartUnderOneID(t *testing.T) {
	markup := schemaPage(`{"@graph":[
		{"@type":"WebPage","@id":"#x","name":"Our page","description":"DBA-ZRE152"},
		{"@type":"Car","@id":"#x","name":"Toyota Vitz 2012","brand":"Toyota","model":"Vitz","vehicleModelDate":"2012"},
		{"@type":"Car","@id":"#x","name":"Toyota Noah","model":"Noah","vehicleConfiguration":"X","fuelType":"Petrol"}]}`)
	markup = strings.Replace(markup, "<title>x<", "<title>Toyota Vitz 2012<", 1)
	if car := schemaOf(t, markup, "").Car; car.Model != "VITZ" || car.Version != "" || car.Fuel != "" || car.ModelCode != "" {
		t.Errorf("%+v", car)
	}
}

func TestReferencesInCirclesEnd(t *testing.T) {
	for name, block := range map[string]string{
		"circle":           `{"@graph":[{"@id":"#a","mainEntity":{"@id":"#b"}},{"@id":"#b","mainEntity":{"@id":"#a"}}]}`,
		"itself":           `{"@id":"#a","offers":{"@id":"#a"}}`,
		"offer of a car":   `{"@type":"Offer","@id":"#a","itemOffered":{"@id":"#a"}}`,
		"model of itself":  `{"@type":"Car","@id":"#a","model":{"@id":"#a"},"brand":{"@id":"#a"},"image":{"@id":"#a"},"vehicleEngine":{"@id":"#a"}}`,
		"named by another": `{"@type":"Car","@id":"#a","model":{"@id":"#b"},"name":{"@id":"#b"}},{"@id":"#b","name":{"@id":"#a"}}`,
	} {
		if l := schemaOf(t, schemaPage(block), ""); l.Car.Model != "" {
			t.Errorf("%s: %+v", name, l.Car)
		}
	}
	markup := schemaPage(`{"@type":"Car","@id":"#a","brand":"Toyota","offers":{"@id":"#a","@type":"Offer","price":5000,"priceCurrency":"USD","itemOffered":{"@id":"#a"}}}`)
	if car := schemaOf(t, markup, "").Car; amountOf(car.FOBPriceUSD) != "5000" {
		t.Errorf("an offer with the id of its car: %+v", car)
	}
}
