package listing

import "ushuru/pkg/chassis"

// Rank is how much a source is trusted; 1 is the best.
type Rank int

// The ranks, in order of trust.
const (
	RankSite   Rank = 1 // the adapter of the site
	RankLabel  Rank = 2 // label and value, anywhere on the page
	RankSchema Rank = 3 // schema.org
	RankMeta   Rank = 4 // og: metas, title, URL
)

// The fields that sources claim. Prices are claimed with their currency:
// "USD 6180", "$6,180".
const (
	fieldMake         = "make"
	fieldModel        = "model"
	fieldCode         = "modelCode"
	fieldFrame        = "frameNumber"
	fieldVersion      = "version"
	fieldManufacture  = "manufacture"
	fieldRegistration = "registration"
	fieldModelYear    = "modelYear"
	fieldEngine       = "engine_cc"
	fieldFuel         = "fuel"
	fieldPrice        = "price"
	fieldCF           = "cfPriceUSD"
	fieldBody         = "bodyType"
	fieldColour       = "colour"
	fieldMileage      = "mileage_km"
	fieldTransmission = "transmission"
	fieldSteering     = "steering"
	fieldStock        = "stockNo"
	fieldLocation     = "location"
	fieldVolume       = "m3"
	fieldFOB          = "fobPriceUSD" // dollars that the page gives beside a price in another currency
	fieldHouse        = "auction.house"
	fieldDate         = "auction.date"
	fieldLot          = "auction.lotNo"
	fieldScore        = "auction.score"
	fieldStart        = "auction.startPriceJPY"
	fieldEnd          = "auction.endPriceJPY"

	// fieldChassis is a label that means a code on one site and a frame number
	// on another; the shape of the value decides.
	fieldChassis = "chassis"
	// fieldDrive is a label that means driven wheels on one site and the side of
	// the steering wheel on another; only the latter is kept.
	fieldDrive = "drive"
	// fieldIgnored is a label that is known and means nothing to us.
	fieldIgnored = "ignored"
)

// claim is what one source says of one field, as text from the page.
type claim struct {
	field, value, source string
	rank                 Rank
	rejected             string // why it must not be used, "" when it may
}

// claims collects what the sources say, in the order of their rank.
type claims struct {
	source string // of the claims being added
	rank   Rank
	list   []claim
	images []string // of the best source that has any
	imaged claim    // that source
	sheet  claim    // link of the auction's inspection sheet
	lot    bool     // the page is an auction's: its prices are no asking prices
	sold   bool
	notes  []string
}

// maxClaims bounds what a page can make us keep.
const maxClaims = 1000

// add claims a value; one that means "not said" is dropped.
func (c *claims) add(field, value string) { c.reject(field, value, "") }

// reject records a value that was seen but must not be used.
func (c *claims) reject(field, value, why string) {
	value = said(value)
	if value == "" || len(c.list) >= maxClaims {
		return
	}
	switch field {
	case fieldIgnored:
		return
	case fieldChassis:
		field = chassisField(value)
	case fieldDrive:
		if !isSide(value) {
			return
		}
		field = fieldSteering
	case fieldPrice, fieldFOB, fieldCF:
		if c.lot && why == "" {
			why = "a price at an auction in Japan"
		}
	}
	c.list = append(c.list, claim{field, value, c.source, c.rank, why})
}

// chassisField tells a chassis code from a frame number: with its serial, run
// together with it, or a VIN.
func chassisField(value string) string {
	code, ok := chassis.Parse(value)
	if !ok || code.Frame || code.Prefix == "" && len(chassis.RunTogether(code.Code)) > 0 {
		return fieldFrame
	}
	return fieldCode
}

// isSide reports the side of a steering wheel.
func isSide(value string) bool {
	switch label(value) {
	case "right", "left", "rhd", "lhd", "right hand", "left hand", "right hand drive", "left hand drive":
		return true
	}
	return false
}

// addCode claims the chassis code that stands inside a text, such as a title.
func (c *claims) addCode(text string) {
	if code, ok := chassis.InText(text); ok {
		c.add(fieldCode, code.Raw)
	}
}

// maxImages is the most pictures that are kept of one car.
const maxImages = 200

// addImages takes the pictures of a source unless a better one had some.
func (c *claims) addImages(links []string) {
	if len(c.images) > 0 {
		return
	}
	seen := map[string]bool{}
	for _, link := range links {
		if link != "" && !seen[link] && len(c.images) < maxImages {
			seen[link] = true
			c.images = append(c.images, link)
		}
	}
	if len(c.images) > 0 {
		c.imaged = claim{source: c.source, rank: c.rank}
	}
}

// addSheet takes the first link of an inspection sheet.
func (c *claims) addSheet(link string) {
	if c.sheet.value == "" && link != "" {
		c.sheet = claim{value: link, source: c.source, rank: c.rank}
	}
}

func (c *claims) note(text string) { c.notes = append(c.notes, text) }
