package claim

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
	FieldMake         = "make"
	FieldModel        = "model"
	FieldCode         = "modelCode"
	FieldFrame        = "frameNumber"
	FieldVersion      = "version"
	FieldManufacture  = "manufacture"
	FieldRegistration = "registration"
	FieldModelYear    = "modelYear"
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
	FieldStart        = "auction.startPriceJPY"
	FieldEnd          = "auction.endPriceJPY"

	// fieldChassis is a label that means a code on one site and a frame number
	// on another; the shape of the value decides.
	FieldChassis = "chassis"
	// FieldDrive is a label that means driven wheels on one site and the side of
	// the steering wheel on another; only the latter is kept.
	FieldDrive = "drive"
	// fieldIgnored is a label that is known and means nothing to us.
	fieldIgnored = "ignored"
)

// Claim is what one source says of one field, as text from the page.
type Claim struct {
	Field, Value, Source string
	Rank                 Rank
	Rejected             string // why it must not be used, "" when it may
}

// List collects what the sources say, in the order of their rank.
type List struct {
	Source      string // of the claims being added
	Rank        Rank
	All         []Claim
	Images      []string // of the best source that has any
	ImageSource Claim    // that source
	Sheet       Claim    // link of the auction's inspection sheet
	IsLot       bool     // the page is an auction's: its prices are no asking prices
	Sold        bool
	Notes       []string
}

// maxClaims bounds what a page can make us keep.
const maxClaims = 1000

// Add claims a value; one that means "not said" is dropped.
func (c *List) Add(field, value string) { c.Reject(field, value, "") }

// Reject records a value that was seen but must not be used.
func (c *List) Reject(field, value, why string) {
	value = ValueOf(value)
	if value == "" || len(c.All) >= maxClaims {
		return
	}
	switch field {
	case fieldIgnored:
		return
	case FieldChassis:
		field = chassisField(value)
	case FieldDrive:
		if !isSide(value) {
			return
		}
		field = FieldSteering
	case FieldPrice, FieldFOB, FieldCF:
		if c.IsLot && why == "" {
			why = "a price at an auction in Japan"
		}
	}
	c.All = append(c.All, Claim{field, value, c.Source, c.Rank, why})
}

// chassisField tells a chassis code from a frame number: with its serial, run
// together with it, or a VIN.
func chassisField(value string) string {
	code, ok := chassis.Parse(value)
	if !ok || code.Frame || code.Prefix == "" && len(chassis.RunTogether(code.Code)) > 0 {
		return FieldFrame
	}
	return FieldCode
}

// isSide reports the side of a steering wheel.
func isSide(value string) bool {
	switch NormalizeLabel(value) {
	case "right", "left", "rhd", "lhd", "right hand", "left hand", "right hand drive", "left hand drive":
		return true
	}
	return false
}

// AddCode claims the chassis code that stands inside a text, such as a title.
func (c *List) AddCode(text string) {
	if code, ok := chassis.InText(text); ok {
		c.Add(FieldCode, code.Raw)
	}
}

// MaxImages is the most pictures that are kept of one car.
const MaxImages = 200

// AddImages takes the pictures of a source unless a better one had some.
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

// AddSheet takes the first link of an inspection sheet.
func (c *List) AddSheet(link string) {
	if c.Sheet.Value == "" && link != "" {
		c.Sheet = Claim{Value: link, Source: c.Source, Rank: c.Rank}
	}
}

func (c *List) Note(text string) { c.Notes = append(c.Notes, text) }
