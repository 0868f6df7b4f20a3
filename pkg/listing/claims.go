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
	fieldMileage      = "mileage_km"
	fieldTransmission = "transmission"
	fieldSteering     = "steering"
	fieldStock        = "stockNo"
	fieldLocation     = "location"
	fieldVolume       = "m3"

	// fieldChassis is a label that means a code on one site and a frame number
	// on another; the shape of the value decides.
	fieldChassis = "chassis"
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
	imaged string   // that source
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
		field = fieldCode
		if _, ok := chassis.FromFrame(value); ok {
			field = fieldFrame
		}
	}
	c.list = append(c.list, claim{field, value, c.source, c.rank, why})
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
		c.imaged = c.source
	}
}

func (c *claims) note(text string) { c.notes = append(c.notes, text) }
