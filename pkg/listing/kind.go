package listing

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html/atom"

	"ushuru/pkg/datatable"
	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/vehicle"
)

// phraseTable lists the phrases of pages that are not listings.
//
//go:embed phrases.csv
var phraseTable string

// The kinds of phrases in phraseTable.
const (
	partPhrase     = "part" // before the name of a car
	solePhrase     = "sole" // a part for sale, wherever it stands
	registerPhrase = "register"
	reportPhrase   = "report"
	articlePhrase  = "article"
	retailPhrase   = "retail"
	exportPhrase   = "export"
	markPhrase     = "mark"
	gonePhrase     = "gone"
	headPhrase     = "head"
	ifPhrase       = "if"
	removalPhrase  = "removal"
	salePhrase     = "sale"
	resultPhrase   = "result"
	searchPhrase   = "search"
)

// abbreviations stand for parts of phrases: what follows the name of a part for sale,
// and the words for a listing with what may follow them.
var abbreviations = strings.NewReplacer(
	"PART", `\s*(?:$|for sale|assembly|assy|set|used|only|-|\||,|:)`,
	"NOUN", `\b(?:vehicle|car|listing|item|page|stock|ad|advert|advertisement|unit)\b.{0,40}`,
)

var phrases = func() map[string]*claim.Phrases {
	all := map[string][]string{}
	for _, row := range datatable.Lines(phraseTable, 2) {
		all[row[0]] = append(all[row[0]], abbreviations.Replace(row[1]))
	}
	compiled := map[string]*claim.Phrases{}
	for kind, list := range all {
		compiled[kind] = claim.NewPhrases(list...)
	}
	return compiled
}()

// says reports whether a text has a phrase of a kind.
func says(kind, text string) bool { return phrases[kind].In(text) }

// notForSale returns the word for what a page about a car is, when it is not a listing of a car for
// sale; "" for a listing.
func notForSale(l *Listing, c *claim.List, doc *page.Document) string {
	head := headOf(doc)
	car := &l.Car
	isSale, isUsed := isForSale(car), car.MileageKM != nil || car.FrameNumber != "" || car.Auction != nil
	switch kind := kindBySubject(head, c, car.AskingPrice != nil); {
	case kind != "":
		return kind
	case !c.Typed && sellsPart(head):
		return "part"
	case says(reportPhrase, head), !isSale && (says(registerPhrase, head) || c.Kinds["register"] >= minKindLabels):
		return "register"
	case (!isSale || !isUsed) && isArticle(doc, head):
		return "article"
	}
	return ""
}

// kindBySubject returns the kind of a page by what its heading names, or by labels that no
// listing has, "" for none.
func kindBySubject(head string, c *claim.List, isPriced bool) string {
	for _, kind := range []string{"rental", "wanted", "insurance", "duty", "invoice"} {
		if says(kind, head) || c.Kinds[kind] >= minKindLabels || c.Kinds[kind] > 0 && !isPriced {
			return kind
		}
	}
	return ""
}

// minKindLabels is the number of labels that only pages of another kind have from which a
// page with a price is of that kind.
const minKindLabels = 2

// ownPart matches a part in the description of a car: "2012 Toyota Vitz 5-speed manual gearbox".
var ownPart = regexp.MustCompile(`(?i)\b(?:\d[- ]?speed|manual|automatic|auto|turbo(?:charged)?|petrol|diesel|hybrid|new|` +
	`(?:\d\.\d ?l?|\d{3,4} ?cc)(?: [\w-]+){0,2}) ` +
	`(?:engine|motor|gearbox|transmission)\b`)

// features matches what a car comes with.
var features = regexp.MustCompile(`(?i)\b(?:with|has|incl(?:uding|\.)?)\s.*`)

// sellsPart reports a title or heading of which a part of a car is the subject: it stands
// before the name of the car, or where only the thing that is sold does.
func sellsPart(head string) bool {
	for line := range strings.Lines(head) {
		words := strings.Fields(line)
		at := slices.IndexFunc(words, page.NamesMake)
		before := strings.Join(words[:max(at, 0)], " ")
		if says(partPhrase, before) {
			return true
		}
		if at >= 0 {
			line = ownPart.ReplaceAllString(features.ReplaceAllString(line, ""), "")
		}
		if says(solePhrase, line) {
			return true
		}
	}
	return false
}

// isForSale reports a car with a price, a stock number or an auction.
func isForSale(car *vehicle.Car) bool {
	return car.AskingPrice != nil || car.FOBPriceUSD != nil || car.CFPriceUSD != nil || car.StockNo != "" || car.Auction != nil
}

// isArticle reports a page that calls itself an article, or has the heading or the URL
// of one.
func isArticle(doc *page.Document, head string) bool {
	path := strings.ToLower(doc.URL.Path)
	return doc.Meta["og:type"] == "article" || hasTyped(doc, articleType) ||
		strings.Contains(path, "/blog/") || strings.Contains(path, "/news/") || says(articlePhrase, head)
}

var articleType = regexp.MustCompile(`"@type"\s*:\s*\[?\s*"(?:Article|NewsArticle|BlogPosting|TechArticle|Review)"`)

// carType matches a vehicle anywhere in structured data.
var carType = regexp.MustCompile(`"@type"\s*:\s*(?:\[[^\]]*)?"(?:https?://schema\.org/)?(?:Car|Vehicle|MotorVehicle)"`)

// hasTyped reports structured data with a thing of a type.
func hasTyped(doc *page.Document, kind *regexp.Regexp) bool {
	for _, script := range doc.Tags[atom.Script] {
		if strings.Contains(dom.Attr(script, "type"), "ld+json") && script.FirstChild != nil &&
			kind.MatchString(script.FirstChild.Data) {
			return true
		}
	}
	return false
}

// headOf returns the heading of a page and the part of its title before the name of the
// site.
func headOf(doc *page.Document) string {
	title := doc.Title
	for _, separator := range []string{" | ", " - ", " – ", " :: "} {
		title, _, _ = strings.Cut(title, separator)
	}
	heads := []string{title}
	for _, h1 := range doc.Tags[atom.H1] {
		if !doc.IsForeign(h1) && dom.IsVisible(h1) {
			own, _, _ := strings.Cut(dom.Text(h1), " | ")
			heads = append(heads, own[:min(len(own), maxHead)])
		}
	}
	return strings.Join(heads, "\n")
}

// maxHead is the most bytes of a heading that are read.
const maxHead = 400

// soldHeading matches SOLD in a title or heading, also joined to the name.
var soldHeading = regexp.MustCompile(`(?:SOLD(?: ?OUT)?|Sold(?: Out)?)\W*(?:$|\n)|^\W*(?:SOLD|Sold)\b|\bSOLD OUT\b|` +
	`\[SOLD\]|\(SOLD\)|売約済|売り切れ|成約済`)

// maxNotice is the maximum length of a notice in bytes.
const maxNotice = 200

// maxNotices bounds the elements that are examined for a notice.
const maxNotices = 4000

var soldNotice = regexp.MustCompile(`(?i)\bsold\b`)

// hasSoldPicture reports a picture that marks the page's own car as sold.
func hasSoldPicture(doc *page.Document) bool {
	for _, img := range doc.Tags[atom.Img][:min(len(doc.Tags[atom.Img]), maxNotices)] {
		if alt := dom.Attr(img, "alt"); alt != "" && len(alt) < maxNotice && says(markPhrase, alt) &&
			!doc.IsForeign(img) && dom.IsVisible(img) {
			return true
		}
	}
	return false
}

// notices returns what the page's own elements say of the car: a ribbon or a sentence
// that marks it as sold, or a sentence that it is no longer there.
func notices(doc *page.Document) (sold, gone bool) {
	head := headOf(doc)
	sold = soldHeading.MatchString(head) || says(headPhrase, head) || hasSoldPicture(doc)
	examined := 0
	for _, tag := range []atom.Atom{atom.H1, atom.H2, atom.H3, atom.P, atom.Span, atom.Strong, atom.B, atom.Div} {
		for _, n := range doc.Tags[tag] {
			if examined++; examined > maxNotices {
				return sold, gone
			}
			s := dom.OwnText(n, maxNotice)
			isNotice := says(gonePhrase, s) && !says(ifPhrase, s)
			if !isNotice && !says(markPhrase, s) || doc.IsForeign(n) || !dom.IsVisible(n) {
				continue
			}
			isSold := !isNotice || soldNotice.MatchString(s)
			sold, gone = sold || isSold, gone || !isSold
		}
	}
	return sold, gone
}
