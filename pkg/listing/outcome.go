package listing

import (
	"bytes"
	_ "embed"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"ushuru/pkg/datatable"
	"ushuru/pkg/fetch"
	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/listing/sites"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// checkStatus returns the error that the status of a page means. Only 200 is read,
// because a challenge of AWS WAF has status 202.
func checkStatus(page *fetch.Page) error {
	switch page.Status {
	case http.StatusOK:
		return nil
	case http.StatusNotFound, http.StatusGone:
		return fetch.Fail("error/listing_gone", nil)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return &fetch.Error{
			Notice: message.New("error/listing_blocked.moment", nil), Retryable: true,
			Wait: page.Pause(), Paused: page.AsksForPause(),
		}
	}
	if page.Status >= 500 || page.Status < 200 || page.Status >= 300 && page.Status < 400 {
		return page.StatusError()
	}
	return fetch.Fail("error/listing_blocked", nil)
}

// challenges are the marks of pages that ask for proof of a person (AWS WAF,
// Cloudflare, DataDome, reCAPTCHA redirects). They count only on a page without a
// car, because a contact form can have a captcha too.
var challenges = []string{
	"awsWafCookieDomainList", "gokuProps", "token.awswaf.com", "challenge-container", "challenge.js",
	"cf-challenge", "challenges.cloudflare.com", "Just a moment", "/recaptcha?url=", "captcha-delivery", "Access Denied",
}

// checkNotice handles a page that says that its car has been sold, or is no longer
// there. When the page still describes the car that its title names, the car counts as
// sold; otherwise what the page describes may be a similar car.
func checkNotice(l *Listing, c *claim.List, doc *page.Document, sold bool) error {
	named, _ := doc.NamesCar(c, l.Car.Make, l.Car.Model)
	switch {
	case named && complete(&l.Car):
		c.Sold = true
		return nil
	case isChallenge(doc):
		return fetch.Fail("error/listing_blocked", nil)
	case sold:
		return fetch.Fail("error/listing_sold", nil)
	}
	return fetch.Fail("error/listing_gone", nil)
}

// checkListing returns nil for a listing, and for any other page the error that
// describes it.
func checkListing(l *Listing, c *claim.List, doc *page.Document) error {
	list := sync.OnceValues(func() ([]vehicle.ListedCar, []*html.Node) { return listedCars(doc) })
	several := listsCars(l, c, doc, list)
	if isCar(l, doc) && !several {
		if kind := notForSale(l, c, doc); kind != "" {
			return &fetch.Error{Notice: message.New("error/not_a_listing.kind", message.Values{"kind": kind})}
		}
		if !c.Sold {
			return nil
		}
		if complete(&l.Car) {
			l.setSold()
			return nil
		}
		return fetch.Fail("error/listing_sold", nil)
	}
	switch {
	case isChallenge(doc):
		return fetch.Fail("error/listing_blocked", nil)
	case several:
		listed, _ := list()
		return severalCars(listed)
	case c.Sold, announces(doc, salePhrase):
		return fetch.Fail("error/listing_sold", nil)
	case announces(doc, removalPhrase):
		return fetch.Fail("error/listing_gone", nil)
	case strings.Contains(strings.ToLower(doc.URL.Path), "login"):
		return fetch.Fail("error/not_a_listing.members", nil)
	case redirectedAway(doc):
		return fetch.Fail("error/listing_blocked.redirect", nil)
	case len(doc.Page.Body) < sites.Named(sites.NameOf(doc.URL.Hostname())).MinSize:
		return fetch.Fail("error/listing_blocked.small", nil)
	case isAppShell(doc):
		return fetch.Fail("error/not_a_listing.script", nil)
	}
	return notOneCar(l)
}

// notOneCar returns the error of a page that describes no car, with the fields that
// were not found, when others were.
func notOneCar(l *Listing) error {
	var names []string
	for _, field := range []struct{ name, value string }{
		{"make", l.Car.Make},
		{"model", l.Car.Model},
		{"year", yearText(l.Car.Year)},
		{"chassis_code_or_engine_size", l.Car.ModelCode + l.field(claim.FieldEngine).Value},
	} {
		if field.value == "" {
			names = append(names, field.name)
		}
	}
	if len(names) == 0 || len(names) > 3 {
		return fetch.Fail("error/not_a_listing", nil)
	}
	found := message.Values{"fields": strings.Join(names, ", ")}
	return &fetch.Error{Notice: message.New("error/not_a_listing.missing", found)}
}

// yearText returns a year as text, "" for none.
func yearText(year int) string {
	if year == 0 {
		return ""
	}
	return strconv.Itoa(year)
}

// setSold marks the car as sold. The price of a car that has been sold is not taken.
func (l *Listing) setSold() {
	l.Sold = true
	car := &l.Car
	car.FOBPriceUSD, car.CFPriceUSD, car.AskingPrice, car.Currency = nil, nil, nil, ""
	for _, name := range []string{claim.FieldPrice, claim.FieldFOB, claim.FieldCF} {
		l.discard(name, "the car has been sold")
	}
	l.warn(Sold, nil)
}

// isCar reports whether enough was read for a listing: a make or model, and two of
// the facts that only a listing gives, one of them from a better source than the
// page's title.
func isCar(l *Listing, doc *page.Document) bool {
	car := &l.Car
	if car.Make == "" && car.Model == "" {
		return false
	}
	facts, firm := 0, false
	for _, f := range l.Fields {
		switch f.Name {
		case claim.FieldCode, claim.FieldFrame, claim.FieldManufacture, claim.FieldRegistration,
			claim.FieldModelYear, claim.FieldTitleYear, claim.FieldEngine, claim.FieldPrice, claim.FieldMileage, claim.FieldFuel:
			if f.Source != "" {
				facts++
				firm = firm || f.Rank < claim.RankMeta
			}
		}
	}
	return facts >= 2 && firm && !strings.Contains(doc.URL.Path, "/recaptcha")
}

// redirectedAway reports whether the site redirected the URL of a listing to its
// home page or to a list above it.
func redirectedAway(doc *page.Document) bool {
	asked, err := url.Parse(doc.Page.URL)
	if err != nil {
		return false
	}
	from, to := strings.TrimSuffix(asked.Path, "/"), strings.TrimSuffix(doc.URL.Path, "/")
	return from != to && strings.HasPrefix(from, to+"/")
}

// isAppShell reports whether a page has scripts, and neither text nor a vehicle in its data.
func isAppShell(doc *page.Document) bool {
	b := page.Body(doc)
	return len(doc.Tags[atom.Script]) > 0 && (b == nil || dom.Text(b) == "") && !hasTyped(doc, carType)
}

func isChallenge(doc *page.Document) bool {
	if strings.Contains(doc.URL.Path, "/recaptcha") {
		return true
	}
	for _, mark := range challenges {
		if bytes.Contains(doc.Page.Body, []byte(mark)) {
			return true
		}
	}
	return false
}

// announces reports whether a phrase of a kind is in the title, in the first
// heading or, on a short page, at the beginning of its text.
func announces(doc *page.Document, kind string) bool {
	said := doc.Title
	if h1 := doc.Tags[atom.H1]; len(h1) > 0 {
		said += " " + dom.Text(h1[0])
	}
	if b := page.Body(doc); b != nil && len(doc.Page.Body) < 20_000 {
		said += " " + dom.Text(b)
	}
	return says(kind, said)
}

// Codes of the errors of this package; they come as *fetch.Error.
const (
	Blocked     = "listing_blocked" // the site answered with a challenge; temporary for 429 and 503
	Gone        = "listing_gone"    // removed
	Sold        = "listing_sold"    // sold, and nothing left to estimate from
	NotAListing = "not_a_listing"   // a home page, a list, an empty shell

	PageUnreadable = page.PageUnreadable // costs too much to read; temporary when it took too long
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
	isGone, isMark, examined := phrases[gonePhrase], phrases[markPhrase], 0
	for _, tag := range []atom.Atom{atom.H1, atom.H2, atom.H3, atom.P, atom.Span, atom.Strong, atom.B, atom.Div} {
		for _, n := range doc.Tags[tag] {
			if examined++; examined > maxNotices {
				return sold, gone
			}
			s := dom.OwnText(n, maxNotice)
			isNotice := isGone.In(s) && !says(ifPhrase, s)
			if !isNotice && !isMark.In(s) || doc.IsForeign(n) || !dom.IsVisible(n) {
				continue
			}
			isSold := !isNotice || soldNotice.MatchString(s)
			sold, gone = sold || isSold, gone || !isSold
		}
	}
	return sold, gone
}
