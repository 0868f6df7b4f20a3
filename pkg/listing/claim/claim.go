// Package claim holds what the sources on a listing page say of a car: each
// source claims a field as text, with its name and its rank. The package also
// parses those texts: years, engine sizes, distances and prices. It knows labels
// (labels.csv) and no HTML.
package claim

import (
	"strings"
	"unicode"

	"ushuru/pkg/chassis"
	"ushuru/pkg/message"
)

// Rank is how much a source is trusted; 1 is the best.
type Rank int

// The ranks, in order of trust.
const (
	RankSite   Rank = 1 // the adapter of the site
	RankLabel  Rank = 2 // label and value in a table or a list
	RankSchema Rank = 3 // schema.org; label and value in plain text
	RankMeta   Rank = 4 // og: metas, title, URL
)

// The fields that sources claim. Prices are claimed with their currency:
// "USD 6180", "$6,180".
const (
	FieldMake         = "make"
	FieldModel        = "model"
	FieldCode         = "modelCode"
	FieldFrame        = "frameNumber"
	FieldVersion      = "version"
	FieldManufacture  = "manufacture"
	FieldRegistration = "registration"
	FieldModelYear    = "modelYear"
	FieldTitleYear    = "titleYear" // a year without a label, in a title, a heading or a URL
	FieldEngine       = "engine_cc"
	FieldFuel         = "fuel"
	FieldPrice        = "price"
	FieldCF           = "cfPriceUSD"
	FieldBody         = "bodyType"
	FieldColour       = "colour"
	FieldMileage      = "mileage_km"
	FieldTransmission = "transmission"
	FieldSteering     = "steering"
	FieldStock        = "stockNo"
	FieldLocation     = "location"
	FieldVolume       = "m3"
	FieldFOB          = "fobPriceUSD" // dollars that the page gives beside a price in another currency
	FieldHouse        = "auction.house"
	FieldDate         = "auction.date"
	FieldLot          = "auction.lotNo"
	FieldScore        = "auction.score"
	FieldCondition    = "condition" // judged by package condition, never a value of the car
	FieldStart        = "auction.startPriceJPY"
	FieldEnd          = "auction.endPriceJPY"

	// kindPrefix begins the fields of labels that only a page of another kind has: a
	// rental's, a quotation's of an insurance.
	kindPrefix = "kind."
	// fieldFormer is a price that no longer holds: of before a discount.
	fieldFormer = "formerPrice"
	// FieldStatus is whether the car is for sale.
	FieldStatus = "status"
	// FieldChassis is a label that means a code on one site and a frame number
	// on another; the shape of the value decides.
	FieldChassis = "chassis"
	// FieldDrive is a label that means driven wheels on one site and the side of
	// the steering wheel on another; only the latter is used.
	FieldDrive = "drive"
	// fieldIgnored is a label that is known and has no meaning for the car.
	fieldIgnored = "ignored"
)

// Claim is the text that one source on the page gives for one field.
type Claim struct {
	Field, Value, Source string
	Rank                 Rank
	Rejected             string // the code of the reason not to use it; empty when it may be used
}

// List collects the claims of all sources, in the order of their rank.
type List struct {
	Source      string // of the claims being added
	Rank        Rank
	All         []Claim
	Images      []string       // links of the best source that has images
	ImageSource Claim          // that source
	Sheet       Claim          // link of the auction's inspection sheet
	Dollar      func() string  // currency that a dollar sign alone means, "" when it is not known; nil for none
	NoPrice     string         // why no source but the site may give a price, "" when any may
	Miles       bool           // a bare mileage is in miles
	Several     bool           // the page describes several cars, none of them as its own
	Listed      int            // how many cars the page's markup describes, none of them as its own
	Results     bool           // the page\'s markup calls them what a search has found, or a list
	Named       bool           // the page's markup names its own car by the page's address or number
	IsLot       bool           // the page is an auction's: its prices are not asking prices
	Typed       bool           // the page's markup calls its own car a vehicle
	Kinds       map[string]int // how many labels of pages that are no listings there are, by kind
	Sold        bool
	Notes       []message.Sentence
}

// maxClaims bounds the memory that one page can use.
const maxClaims = 1000

// Add claims a value; a placeholder such as "-" is ignored.
func (c *List) Add(field, value string) { c.Reject(field, value, "") }

// Reject records a value that is on the page and must not be used, with the code of the reason.
func (c *List) Reject(field, value, why string) {
	value = ValueOf(value)
	if value == "" || len(c.All) >= maxClaims {
		return
	}
	if strings.Contains(field, twoYears) {
		c.addTwoYears(field, value)
		return
	}
	if c.addKind(field, why) {
		return
	}
	switch field {
	case fieldIgnored, FieldStatus:
		return
	case FieldChassis:
		field = chassisField(value)
	case FieldDrive:
		if !isSide(value) {
			return
		}
		field = FieldSteering
	case FieldMake, FieldModel:
		value = Latin(value)
	case FieldMileage:
		value = c.inMiles(value)
	case fieldFormer:
		field, why = FieldPrice, ReasonFormer
	case FieldPrice, FieldFOB, FieldCF:
		if why == "" {
			value, why = c.price(value)
		}
	}
	c.All = append(c.All, Claim{field, value, c.Source, c.Rank, why})
}

// KindRental is the kind of a page of a car that is hired out.
const KindRental = "rental"

// addKind counts a label that only a page of another kind has, and reports such a field.
func (c *List) addKind(field, why string) bool {
	kind, ok := strings.CutPrefix(field, kindPrefix)
	if ok && why == "" {
		c.IsOf(kind)
	}
	return ok
}

// IsOf counts a label of a page that is no listing.
func (c *List) IsOf(kind string) {
	if c.Kinds == nil {
		c.Kinds = map[string]int{}
	}
	c.Kinds[kind]++
}

// inMiles returns a mileage without a unit in that of the page.
func (c *List) inMiles(value string) string {
	if !c.Miles || strings.ContainsFunc(value, unicode.IsLetter) {
		return value
	}
	return value + " miles"
}

// reasonWithheld is the reason not to take a price that the page withholds.
const reasonWithheld = "price_withheld"

// Withhold records that words stand in place of the car's own price: no other sum on the
// page is the price.
func (c *List) Withhold(shown string) {
	c.Reject(FieldPrice, shown, reasonWithheld)
	c.NoPrice = reasonWithheld
}

// ReasonFormer is the reason not to take a price that no longer holds.
const ReasonFormer = "former_price"

// price returns a price in the currency of the page, or the reason not to take it.
func (c *List) price(value string) (price, why string) {
	switch {
	case c.IsLot:
		return value, "auction_price"
	case c.NoPrice != "" && c.Rank != RankSite:
		return value, c.NoPrice
	case isBareDollar(value):
		return c.inOwnDollars(value)
	}
	return value, ""
}

// ReasonDollar is the reason why an amount under a dollar sign alone is not taken.
const ReasonDollar = "dollar_unknown"

// isBareDollar reports an amount under a dollar sign without the name of a country.
func isBareDollar(value string) bool {
	upper := strings.ToUpper(Plain(value))
	code, ok := ParseCurrency(upper)
	return ok && code == "USD" && !strings.Contains(upper, "US")
}

// inOwnDollars returns an amount in the page's own dollars, or the reason not to take
// it.
func (c *List) inOwnDollars(value string) (amount, why string) {
	own := ""
	if c.Dollar != nil {
		own = c.Dollar()
	}
	p, ok := ParsePrice(value)
	switch {
	case own == "USD":
		return value, ""
	case ok && own != "":
		return own + " " + p.Amount.String(), ""
	}
	return value, ReasonDollar
}

// chassisField returns FieldFrame for a frame number, whether its serial follows a
// hyphen or not, and for a VIN; for anything else FieldCode.
func chassisField(value string) string {
	code, ok := chassis.Parse(value)
	if !ok || code.Frame || code.Prefix == "" && len(chassis.RunTogether(code.Code)) > 0 {
		return FieldFrame
	}
	return FieldCode
}

// isSide reports whether a text names the side of the steering wheel.
func isSide(value string) bool {
	switch NormalizeLabel(value) {
	case "right", "left", "rhd", "lhd", "right hand", "left hand", "right hand drive", "left hand drive":
		return true
	}
	return false
}

// AddCode claims the chassis code inside a text such as a title.
func (c *List) AddCode(text string) {
	if code, ok := chassis.InText(text); ok {
		c.Add(FieldCode, code.Raw)
	}
}

// MaxImages bounds the images of one car, and MaxImageLink the bytes of the address of
// each: they are kept with every result.
const (
	MaxImages    = 64
	MaxImageLink = 500
)

// AddImages takes the images of a source unless a better source had some.
func (c *List) AddImages(links []string) {
	if len(c.Images) > 0 {
		return
	}
	seen := map[string]bool{}
	for _, link := range links {
		if link != "" && !seen[link] && len(c.Images) < MaxImages {
			seen[link] = true
			c.Images = append(c.Images, link)
		}
	}
	if len(c.Images) > 0 {
		c.ImageSource = Claim{Source: c.Source, Rank: c.Rank}
	}
}

// AddSheet takes the first link to an inspection sheet.
func (c *List) AddSheet(link string) {
	if c.Sheet.Value == "" && link != "" {
		c.Sheet = Claim{Value: link, Source: c.Source, Rank: c.Rank}
	}
}

// Note adds a doubt about the page by the code of its text.
func (c *List) Note(code string) { c.Notes = append(c.Notes, message.SayCoded("note/"+code, nil)) }
