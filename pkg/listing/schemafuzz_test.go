package listing

import (
	"reflect"
	"strings"
	"testing"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/listing/schemaorg"
	"ushuru/pkg/money"
)

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
