package listing

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/listing/schemaorg"
)

// BenchmarkSchema reads a page of 600 KB that is full of schema.org data: one
// item around all of it, a car in two syntaxes and sixty similar ones.
func BenchmarkSchema(b *testing.B) {
	const car = `itemscope itemtype="http://schema.org/Car"><b itemprop="name">2016 Toyota Aqua S</b>` + aquaMicrodata + `<div itemprop="offers" itemscope
		itemtype="http://schema.org/Offer"><b itemprop="price">5,000</b><meta itemprop="priceCurrency" content="USD"></div></div>`
	filler := `<div class="menu"><ul><li><a href="/stocklist/make=1/" class="a b">A make <i class="icon"></i></a></li></ul></div><p>Some words.</p>`
	block := schemaPage(with(`,"name":"2016 Toyota Aqua S","description":"` + strings.Repeat("A clean car. ", 100) + `","offers":{"price":5000,"priceCurrency":"USD"}`))
	markup := []byte(`<body itemscope itemtype="http://schema.org/WebPage">` + block + `<div itemprop="mainEntity" ` + car +
		strings.Repeat(strings.Repeat(filler, 60)+`<div itemprop="isRelatedTo" `+car, 60))
	b.Run("parse only", func(b *testing.B) {
		b.SetBytes(int64(len(markup)))
		for b.Loop() {
			_, _ = html.Parse(bytes.NewReader(markup))
		}
	})
	b.Run("schema only", func(b *testing.B) {
		doc, err := page.Parse(nil, FromFile(markup, dealerURL))
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(markup)))
		for b.Loop() {
			found := &claim.List{}
			if schemaorg.Read(doc, found); len(found.All) == 0 {
				b.Fatal("no car")
			}
		}
	})
}
