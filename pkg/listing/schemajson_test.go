package listing

import (
	"fmt"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/listing/schemaorg"
	"ushuru/pkg/listing/schemaorg/graph"
	"ushuru/pkg/money"
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

// readTwice reads a page by its schema.org data and fails when the answer is
// not clean, or another one the second time.
func readTwice(t *testing.T, markup string) {
	doc, err := page.Parse(nil, FromFile([]byte(markup), dealerURL))
	if err != nil {
		return
	}
	var first *Listing
	for range 2 {
		found := &claim.List{}
		schemaorg.Read(doc, found)
		l := resolve(found, doc)
		if first != nil && !reflect.DeepEqual(l, first) {
			t.Fatalf("%+v\n%+v", first, l)
		}
		first = l
	}
	for _, f := range first.Fields {
		if f.Value != claim.Clean(f.Value) || f.Rank != claim.RankSchema && f.Source != "" {
			t.Errorf("%+v", f)
		}
	}
	for _, amount := range []*money.Number{first.Car.FOBPriceUSD, first.Car.AskingPrice} {
		if amount != nil && !amount.Decimal().IsPositive() {
			t.Errorf("price %s", amount)
		}
	}
	for _, image := range first.Car.Images {
		if !strings.HasPrefix(image, "http") {
			t.Errorf("image %q", image)
		}
	}
}

func FuzzJSONLD(f *testing.F) {
	for _, seed := range []string{
		with(""), "// c\n[" + with(`,"offers":{"@id":"#o"},"x":"\u0040\ud83d\ude97\'"`) + `,{"@id":"#o","price":"24.500,00 €"},]`,
		`<![CDATA[{"@graph":[{"@id":"#a","mainEntity":{"@id":"#a"}}]}]]>`, `{&quot;@type&quot;:&quot;Car&quot;}`,
		`{"@type":["Product","schema:Car"],"vehicleEngine":[{"engineDisplacement":{"value":1.5,"unitCode":"LTR"}}],"image":{"@list":["a"]}}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, block string) {
		if !strings.Contains(block, "<") {
			readTwice(t, schemaPage(block))
		}
	})
}

func FuzzMicrodata(f *testing.F) {
	for _, seed := range []string{
		`<div itemscope itemtype="http://schema.org/Car" itemref="a b">` + aquaMicrodata + `</div><p id="a" itemprop="offers" itemscope itemref="a"><s itemprop="price">5`,
		`<html itemscope itemtype="http://schema.org/"><li itemscope itemprop="itemOffered" itemtype="http://schema.org/Product http://schema.org/Car"><img itemprop=image data-src=/x><li>`,
		`<template itemscope itemtype="http://schema.org/Car"><svg itemprop="name"><meta itemprop="priceCurrency" content="USD"><time itemprop="price" datetime="5">`,
	} {
		f.Add(seed)
	}
	f.Fuzz(readTwice)
}

func FuzzRDFa(f *testing.F) {
	for _, seed := range []string{
		`<div vocab="http://schema.org/" typeof="Car" resource="#c">` + aquaRDFa + `</div><div resource="#c" vocab="http://schema.org/"><i property="offers" typeof="Offer"><b property="price" content="5">`,
		`<p prefix="s: http://schema.org/ og: http://ogp.me/ns#" typeof="s:Offer"><a property="s:itemOffered" resource="#c" href="x">y</a><i typeof="schema:Car" resource="#c" property="s:item schema:name">`,
	} {
		f.Add(seed)
	}
	f.Fuzz(readTwice)
}

// hostileSchemas are pages that could make a reader of schema.org data go on
// for ever, or take all the memory there is.
func hostileSchemas() map[string]string {
	many := func(n int, each func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(each(i))
		}
		return b.String()
	}
	const item = `<div itemscope itemtype="http://schema.org/Car" `
	laughs := many(20, func(i int) string {
		refs := strings.TrimSuffix(strings.Repeat(`{"@id":"#`+strconv.Itoa(i+1)+`"},`, 100), ",")
		return `{"@id":"#` + strconv.Itoa(i) + `","@graph":[` + refs + `],"itemListElement":[` + refs + `]},`
	})
	return map[string]string{
		"5,000 objects deep":       schemaPage(strings.Repeat(`{"@graph":`, 5000) + with("") + strings.Repeat(`}`, 5000)),
		"5,000 arrays deep":        schemaPage(strings.Repeat(`[`, 5000) + with("") + strings.Repeat(`]`, 5000)),
		"a million braces":         schemaPage(strings.Repeat(`{"a":[`, 1_000_000)),
		"a million offers":         schemaPage(`{"@type":"Car","model":"x","offers":[` + strings.Repeat(`{"@type":"Offer","price":1},`, 1_000_000) + `]}`),
		"a million cars":           schemaPage(`[` + strings.Repeat(`{"@type":"Car"},`, 1_000_000) + `]`),
		"a million commas":         schemaPage(`{` + strings.Repeat(`,`, 1_000_000) + `}`),
		"a million comments":       schemaPage(strings.Repeat(`/**/`, 1_000_000)),
		"a million quotes escaped": schemaPage(`{&quot;` + strings.Repeat(`&quot;`, 1_000_000)),
		"12 MB of one string":      schemaPage(`{"@type":"Car","model":"` + strings.Repeat(`a`, 12_000_000) + `"}`),
		"12 MB of escapes":         schemaPage(`{"@type":"Car","model":"` + strings.Repeat(`\"`, 6_000_000) + `"}`),
		"12 MB of digits":          schemaPage(`{"@type":"Car","model":` + strings.Repeat(`1`, 12_000_000)),
		"12 MB of a key":           schemaPage(`{"` + strings.Repeat(`a`, 12_000_000) + `":1}`),
		"a thousand blocks":        strings.Repeat(schemaPage(`{"@type":"Car","model":`), 1000),
		"references to references": schemaPage(`[` + laughs + `{"@id":"#20"}]`),
		"a chain of references": schemaPage(`[` + many(30_000, func(i int) string {
			return `{"@id":"` + strconv.Itoa(i) + `","mainEntity":{"@id":"` + strconv.Itoa(i+1) + `"}},`
		}) + `]`),
		"one id for all": schemaPage(`[` + many(20_000, func(i int) string {
			return `{"@id":"#","name":"` + strconv.Itoa(i) + `","x":{"@id":"#"}},`
		}) + `]`),
		"items nested": strings.Repeat(item+`itemprop="offers">`, 400),
		"a chain of itemref": many(50_000, func(i int) string {
			return item + `id="` + strconv.Itoa(i) + `" itemref="` + strconv.Itoa(i+1) + `"></div>`
		}),
		"itemref to all":        `<div id="a"><p>` + strings.Repeat(item+`itemref="a"></div>`, 20_000) + `</div>`,
		"itemref of a megabyte": item + `itemref="` + strings.Repeat("a ", 1_000_000) + `"></div><p id="a"><b itemprop="x">1</b></p>`,
		"itemref of many":       item + `itemref="` + many(50_000, func(i int) string { return strconv.Itoa(i) + " " }) + `"></div>` + many(50_000, func(i int) string { return `<p id="` + strconv.Itoa(i) + `" itemprop="offers" itemscope></p>` }),
		"properties nested":     item + `>` + strings.Repeat(`<span itemprop="name">`, 400) + strings.Repeat(`<i>x</i>`, 50_000),
		"property names":        item + `><b itemprop="` + strings.Repeat("a ", 1_000_000) + `">x</b>`,
		"many properties":       item + `>` + strings.Repeat(`<b itemprop="price">1</b>`, 200_000),
		"many items":            strings.Repeat(item+`></div>`, 200_000),
		"many typed":            `<div vocab="http://schema.org/" ` + strings.Repeat("a ", 100_000) + `>` + strings.Repeat(`<div typeof="Car"></div>`, 100_000),
		"typed nested":          `<div vocab="http://schema.org/">` + strings.Repeat(`<div typeof="Car" property="offers">`, 400),
		"many resources":        `<div vocab="http://schema.org/">` + strings.Repeat(`<div resource="#a"><p property="offers" resource="#a">`, 200),
		"prefixes":              `<div prefix="` + strings.Repeat("a: http://schema.org/ ", 100_000) + `" typeof="a:Car"></div>`,
	}
}

// What the reading of schema.org data may cost beyond the tree of the page. Both
// are far above what is measured, and far below what endless work would take.
const (
	maxHostileBytes = 64 << 20
	maxHostileTime  = 20 * time.Second
)

// schemaDocument is the document of a page. A page that is a single block is put
// together without the parser, which is not what is measured, and takes minutes
// for all of them when races are looked for.
func schemaDocument(t *testing.T, markup string) *page.Document {
	t.Helper()
	const mark = "the block"
	before, after, _ := strings.Cut(schemaPage(mark), mark)
	block, begins := strings.CutPrefix(markup, before)
	block, ends := strings.CutSuffix(block, after)
	if !begins || !ends || strings.Contains(block, "</script") {
		return parsed(t, markup, "")
	}
	doc := parsed(t, schemaPage(mark), "")
	doc.Page = FromFile([]byte(markup), "")
	doc.Tags[atom.Script][0].FirstChild.Data = block
	return doc
}

func TestHostileSchemasEnd(t *testing.T) {
	for name, markup := range hostileSchemas() {
		t.Run(name, func(t *testing.T) {
			doc := schemaDocument(t, markup)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began := time.Now()
			found := &claim.List{}
			schemaorg.Read(doc, found)
			settled := resolve(found, doc)
			took := time.Since(began)
			runtime.ReadMemStats(&after)
			t.Logf("%d MB in %s", (after.TotalAlloc-before.TotalAlloc)>>20, took)
			if taken := after.TotalAlloc - before.TotalAlloc; taken > maxHostileBytes || took > maxHostileTime {
				t.Errorf("took %d MB and %s", taken>>20, took)
			}
			for _, f := range settled.Fields {
				if len(f.Value) > claim.MaxText {
					t.Errorf("%s has %d bytes", f.Name, len(f.Value))
				}
			}
		})
	}
}

func TestDeepMarkupGivesAClearError(t *testing.T) {
	for _, tag := range []string{`<div itemscope itemprop="offers">`, `<div typeof="Car" property="offers">`} {
		_, err := Read(t.Context(), FromFile([]byte(strings.Repeat(tag, 5000)), ""))
		wantOutcome(t, err, page.PageUnreadable)
	}
}

func TestABlockTooLargeDoesNotSinkAGoodOne(t *testing.T) {
	markup := schemaPage(`[`+strings.Repeat(`{"@type":"Car"},`, 100_000)+`]`) + schemaPage(with(""))
	if car := schemaOf(t, markup, "").Car; car.Model != "AQUA" {
		t.Errorf("%+v", car)
	}
}

func TestMarkupThatIsTooLargeIsNotReadInPart(t *testing.T) {
	const car = `<div itemscope itemtype="http://schema.org/Car">` + aquaMicrodata
	if l := schemaOf(t, car+strings.Repeat(`<b itemprop="color">1</b>`, 20_000)+"</div>", ""); len(l.Fields) != 0 {
		t.Errorf("%+v", l.Fields)
	}
	if l := schemaOf(t, car+strings.Repeat(`<b itemprop="color">1</b>`, 1000)+"</div>", ""); len(l.Fields) == 0 {
		t.Error("a long page is not read")
	}
}
