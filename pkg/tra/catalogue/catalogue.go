// Package catalogue has the lists of the Tanzania Revenue Authority: its makes, their labels,
// indexed for matching, and the vehicle that one value of each list makes.
package catalogue

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"ushuru/pkg/chassis"
)

// Make is a make with the authority's name and id. Ids change between revisions
// of the database; names do not.
type Make struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
}

// MakeLabels are the labels of one make, as the authority lists them.
type MakeLabels struct {
	Make   Make     `json:"make"`
	Labels []string `json:"labels"`
	// Pending means that the labels could not be had yet, so that not finding
	// a car among them says nothing.
	Pending bool `json:"pending,omitempty"`
}

// Catalogue is the authority's list of makes and labels, indexed for
// matching. It is immutable and safe for concurrent use. The slices that it
// returns are shared and must not be changed.
type Catalogue struct {
	makes  []Make
	byName map[string]*Entries // by the authority's spelling and by its NameKey
	size   int
}

// Entries are the labels of one make, in alphabetical order, indexed.
type Entries struct {
	Make    Make
	Labels  []Label
	Pending bool // see MakeLabels
	byCode  map[string][]Label
	byStem  map[string][]Label
	byModel map[string][]Label
}

// New indexes the makes and their labels. A label that a make lists
// twice is kept once; a make listed twice keeps the labels of both.
func New(makes []MakeLabels) *Catalogue {
	c := &Catalogue{byName: map[string]*Entries{}}
	for _, m := range makes {
		key := chassis.NameKey(m.Make.Name)
		entries, known := c.byName[key]
		if !known {
			entries = &Entries{
				Make: m.Make, byCode: map[string][]Label{}, byStem: map[string][]Label{}, byModel: map[string][]Label{},
			}
			c.makes = append(c.makes, m.Make)
			c.byName[key], c.byName[m.Make.Name] = entries, entries
		}
		entries.Pending = entries.Pending || m.Pending
		for _, text := range m.Labels {
			entries.Labels = append(entries.Labels, ParseLabel(m.Make, text))
		}
	}
	for _, mk := range c.makes {
		entries := c.byName[mk.Name]
		entries.index()
		c.size += len(entries.Labels)
	}
	slices.SortFunc(c.makes, func(a, b Make) int { return strings.Compare(a.Name, b.Name) })
	return c
}

func (e *Entries) index() {
	slices.SortFunc(e.Labels, func(a, b Label) int {
		return cmp.Or(strings.Compare(a.Text, b.Text), cmp.Compare(a.Make.ID, b.Make.ID))
	})
	e.Labels = slices.CompactFunc(e.Labels, func(a, b Label) bool { return a.Text == b.Text })
	for _, label := range e.Labels {
		model := chassis.NameKey(label.Model)
		e.byModel[model] = append(e.byModel[model], label)
		for _, code := range label.Codes {
			stem, _ := chassis.Stem(code)
			e.byCode[code] = append(e.byCode[code], label)
			e.byStem[stem] = append(e.byStem[stem], label)
		}
	}
}

// Makes lists the makes by name.
func (c *Catalogue) Makes() []Make { return c.makes }

// Len returns the number of labels of all makes.
func (c *Catalogue) Len() int { return c.size }

// Of returns the labels of a make, named as the market or the authority
// spells it.
func (c *Catalogue) Of(makeName string) (*Entries, bool) {
	if entries, ok := c.byName[makeName]; ok {
		return entries, true
	}
	entries, ok := c.byName[chassis.NameKey(chassis.AuthorityMake(makeName))]
	return entries, ok
}

// Make returns the authority's own make for a name, in either spelling.
func (c *Catalogue) Make(name string) (Make, bool) {
	entries, ok := c.Of(name)
	if !ok {
		return Make{}, false
	}
	return entries.Make, true
}

// Labels lists a make's labels in alphabetical order.
func (c *Catalogue) Labels(makeName string) []Label {
	if entries, ok := c.Of(makeName); ok {
		return entries.Labels
	}
	return nil
}

// ByCode lists the labels with exactly this chassis code.
func (e *Entries) ByCode(code string) []Label { return e.byCode[code] }

// ByStem lists the labels whose code is the stem, or the stem and one body
// letter: NCP51 finds NCP51 and NCP51V.
func (e *Entries) ByStem(stem string) []Label { return e.byStem[stem] }

// ByModel lists the labels with this model name, as chassis.NameKey folds it.
func (e *Entries) ByModel(nameKey string) []Label { return e.byModel[nameKey] }

// HasModel reports whether any label has this model name. The key is given as
// bytes so that a caller who tries many spellings allocates nothing.
func (e *Entries) HasModel(nameKey []byte) bool {
	_, ok := e.byModel[string(nameKey)]
	return ok
}

// Label is one of the authority's model-body texts, parsed.
type Label struct {
	Make   Make
	Text   string   // byte for byte; what every further call must send
	Model  string   // COROLLA FIELDER
	Codes  []string // NKE165; rarely several, rarely none
	Extras []string // HYBRID
	Body   string   // WAGON; empty when the label ends with its code
}

// ParseLabel parses a label. It collapses white space and splits the text at
// " - ": the first part is the model, the last one the body, and between them are
// the code and extras. Irregular labels are parsed as follows:
//   - of the parts after the model, the code is the first that looks like one;
//     a part without a digit (GRB) counts only directly after the model;
//   - a part with several codes (NCP51 / NCP55) gives them all;
//   - parts that are neither code nor last are extras, in their order;
//   - a label that ends with its code has no body, one part is a model alone.
//
// It never fails: an unknown part becomes the model or the body, and Text is
// always the whole label.
func ParseLabel(mk Make, text string) Label {
	label := Label{Make: mk, Text: text}
	parts := strings.Split(strings.Join(strings.Fields(text), " "), " - ")
	label.Model = parts[0]
	rest := parts[1:]
	at := slices.IndexFunc(rest, func(part string) bool { return strings.ContainsAny(part, digits) && codesOf(part) != nil })
	if at < 0 && len(rest) > 1 && codesOf(rest[0]) != nil && !plainWords[rest[0]] {
		at = 0
	}
	if at >= 0 {
		label.Codes = codesOf(rest[at])
	}
	for i, part := range rest {
		switch {
		case i == at:
		case i == len(rest)-1:
			label.Body = part
		default:
			label.Extras = append(label.Extras, part)
		}
	}
	return label
}

const digits = "0123456789"

// plainWords are words at the place of a code that are not codes.
var plainWords = map[string]bool{
	"HYBRID": true, "PETROL": true, "DIESEL": true, "TURBO": true, "COMMUTER": true,
	"SEDAN": true, "SALOON": true, "WAGON": true, "COUPE": true, "MINIVAN": true, "MINIBUS": true, "VAN": true, "SUV": true,
	"TRUCK": true, "PICKUP": true, "ESTATE": true, "BUS": true, "MPV": true,
}

// codesOf returns the codes of a part, or nil when one of its words is not a code.
// In a label five or six digits are a code too (204046, 95220).
func codesOf(part string) []string {
	var codes []string
	for _, word := range strings.FieldsFunc(part, func(r rune) bool { return strings.ContainsRune(" /,;", r) }) {
		code, ok := chassis.Parse(word)
		switch {
		case ok:
			codes = append(codes, code.Code)
		case (len(word) == 5 || len(word) == 6) && strings.Trim(word, digits) == "":
			codes = append(codes, word)
		default:
			return nil
		}
	}
	return codes
}

// Hybrid reports whether the label itself names a hybrid, as the authority's
// four-part labels do. Three-part labels may be hybrids without saying so.
func (l Label) Hybrid() bool {
	return slices.ContainsFunc(l.Extras, func(extra string) bool { return strings.Contains(strings.ToUpper(extra), "HYBRID") }) ||
		strings.Contains(strings.ToUpper(l.Model), "HYBRID")
}

// Search lists the labels that hold every word of a query, best first: a word
// that is the label's chassis code, then one that begins it, then one that is
// a word of the model, then one that stands anywhere. Case, width and
// punctuation do not count; a code may have its emission prefix. An empty
// query lists all, in alphabetical order.
func (e *Entries) Search(query string) []Label {
	fields := strings.Fields(query)
	words := make([]searched, len(fields))
	for i, word := range fields {
		words[i] = searchedOf(chassis.Normalise(word))
	}
	type hit struct {
		label Label
		far   int
	}
	var hits []hit
	for _, label := range e.Labels {
		if far, fits := label.holds(words); fits {
			hits = append(hits, hit{label, far})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(a.far, b.far) })
	labels := make([]Label, 0, len(hits))
	for _, h := range hits {
		labels = append(labels, h.label)
	}
	return labels
}

// searched is a word of a query: its letters and digits, and the chassis code that it is.
type searched struct{ key, code string }

func searchedOf(word string) searched {
	key := chassis.NameKey(word)
	if parsed, ok := chassis.Parse(word); ok {
		return searched{key, parsed.Code}
	}
	return searched{key, key}
}

// holds reports how far some words are from what the label says, if it has them all.
func (l Label) holds(words []searched) (far int, found bool) {
	for _, word := range words {
		distance, found := l.holdsWord(word)
		if !found {
			return 0, false
		}
		far += distance
	}
	return far, true
}

// holdsWord reports how far a word is from what the label says, if it has it.
func (l Label) holdsWord(word searched) (distance int, found bool) {
	key, code := word.key, word.code
	switch {
	case key == "": // punctuation asks for nothing
		return 0, true
	case slices.Contains(l.Codes, code):
		return 0, true
	case slices.ContainsFunc(l.Codes, func(c string) bool { return strings.HasPrefix(c, code) }):
		return 1, true
	case slices.ContainsFunc(strings.Fields(l.Model), func(w string) bool { return chassis.NameKey(w) == key }):
		return 2, true
	}
	return 3, strings.Contains(chassis.NameKey(l.Text), key)
}

// Vehicle is the exact tuple that the authority taxes, in its own words.
type Vehicle struct {
	MakeID         int    `json:"makeId"`
	ModelBody      string `json:"modelBody"` // byte for byte as listed
	YOM            int    `json:"yom"`       // year of manufacture
	Country        string `json:"country"`
	FuelType       string `json:"fuelType"`
	EngineCapacity string `json:"engineCapacity"` // a band: "1001 - 1500 CC"
}

// The fields of a vehicle by their names in the authority's lists, in the order of the lists.
const (
	FieldModelBody = "modelBody"
	FieldYear      = "yom" // of manufacture; the only one that is a number
	FieldCountry   = "countryOfOrigin"
	FieldFuel      = "fuelType"
	FieldCapacity  = "engineCapacity"
)

// Next returns the first field that is empty, by its name in the authority's lists; "" when
// none is.
func (v Vehicle) Next() string {
	switch {
	case v.ModelBody == "":
		return FieldModelBody
	case v.YOM == 0:
		return FieldYear
	case v.Country == "":
		return FieldCountry
	case v.FuelType == "":
		return FieldFuel
	case v.EngineCapacity == "":
		return FieldCapacity
	}
	return ""
}

// With returns the vehicle with a value of its next list.
func (v Vehicle) With(value string) Vehicle {
	switch v.Next() {
	case FieldModelBody:
		v.ModelBody = value
	case FieldYear:
		v.YOM, _ = strconv.Atoi(value) // List returns whole numbers
	case FieldCountry:
		v.Country = value
	case FieldFuel:
		v.FuelType = value
	case FieldCapacity:
		v.EngineCapacity = value
	}
	return v
}

// YearsOf returns a list of years of manufacture as numbers.
func YearsOf(list []string) []int {
	years := make([]int, len(list))
	for i, year := range list {
		years[i], _ = strconv.Atoi(year) // List returns whole numbers
	}
	return years
}
