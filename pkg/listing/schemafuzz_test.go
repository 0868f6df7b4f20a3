package listing

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"ushuru/pkg/money"
)

// readTwice reads a page by its schema.org data and fails when the answer is
// not clean, or another one the second time.
func readTwice(t *testing.T, page string) {
	doc, err := parse(FromFile([]byte(page), dealerURL))
	if err != nil {
		return
	}
	var first *Listing
	for range 2 {
		found := &claims{}
		readSchema(doc, found)
		l := settle(found, doc)
		if first != nil && !reflect.DeepEqual(l, first) {
			t.Fatalf("%+v\n%+v", first, l)
		}
		first = l
	}
	for _, f := range first.Fields {
		if f.Value != clean(f.Value) || f.Rank != RankSchema && f.Source != "" {
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
		g := &graph{left: maxJSONSteps}
		_, ok := (&jsonReader{s: block, g: g}).block()
		if !ok && json.Valid([]byte(block)) && strings.Count(block, "{")+strings.Count(block, "[") < maxSchemaDepth && len(block) < 10_000 {
			t.Errorf("good JSON is refused: %q", block)
		}
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

func FuzzSchemaPrice(f *testing.F) {
	for _, seed := range []string{"24.500,00 €", "US$ 2,567", "24'500.-", "¥1,705,000", "007", "0.50"} {
		f.Add(seed, "USD", false)
	}
	f.Fuzz(func(t *testing.T, text, declared string, number bool) {
		priced := pricedIn(value{text: text, number: number}, declared)
		if priced == "" {
			return
		}
		currency, amount, _ := strings.Cut(priced, " ")
		parsed, err := money.ParseNumber(amount)
		if err != nil || !parsed.Decimal().IsPositive() || len(currency) != 3 || strings.HasPrefix(amount, ".") {
			t.Errorf("%q in %q is %q", text, declared, priced)
		}
	})
}
