package listing

import (
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/listing/schemaorg"
)

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
