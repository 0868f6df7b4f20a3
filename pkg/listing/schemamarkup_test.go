package listing

import (
	"strings"
	"testing"
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
