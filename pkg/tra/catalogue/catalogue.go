// Package catalogue has the lists of the Tanzania Revenue Authority: its makes, their labels,
// indexed for matching, and the vehicle that one value of each list makes.
package catalogue

import (
	"cmp"
	"slices"
	"strings"

	"ushuru/pkg/chassis"
)

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
