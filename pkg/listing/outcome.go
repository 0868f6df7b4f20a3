package listing

import (
	"bytes"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"ushuru/pkg/fetch"
	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/listing/sites"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
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
