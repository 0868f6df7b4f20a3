package sheettest

import (
	"maps"
	"slices"
)

// Truth is what stands on a sheet, as it is printed, and what that means.
type Truth struct {
	House  string            `json:"house"`  // as printed; "" when the form does not name it
	Fields map[string]string `json:"fields"` // printed values by the keys of houses.txt; what is not there is blank

	Digits string `json:"digits"` // of the mileage boxes
	Unit   string `json:"unit"`   // the circled one: km or マイル; "" for none
	Flag   string `json:"flag"`   // $ * # or ""

	Circled   []string          `json:"circled"`   // factory equipment
	Documents map[string]string `json:"documents"` // label to the circled 有 or 無

	Points    []string `json:"points"`    // seller's praise
	Seller    []string `json:"seller"`    // seller's cautions
	Inspector []string `json:"inspector"` // the house's findings
	Office    []string `json:"office"`    // the house's corrections

	Marks  []Mark   `json:"marks"`  // on the car map
	Tyres  []string `json:"tyres"`  // mm: front left, front right, rear left, rear right, spare
	Glass  []string `json:"glass"`  // circled findings of the windscreen
	Inside []string `json:"inside"` // circled findings of the interior
	Meter  string   `json:"meter"`  // the circled word of the meter's history
	Legend []Entry  `json:"legend"` // of the codes, where the form prints one

	Meaning Meaning `json:"meaning"`
}

// Mark is a code on a panel of the car map.
type Mark struct {
	Panel string `json:"panel"`
	Side  string `json:"side"` // left, right or ""
	Code  string `json:"code"`
}

// Entry is a line of a legend.
type Entry struct {
	Code    string `json:"code"`
	Meaning string `json:"meaning"`
}

// Meaning is what code must make of the printed values; zero is "not known".
type Meaning struct {
	FirstRegistration string `json:"firstRegistration"` // 2014-04
	EraInferred       bool   `json:"eraInferred"`       // the era letter is missing
	ShakenUntil       string `json:"shakenUntil"`       // 2027-04
	Mileage           int    `json:"mileage"`           // in the printed unit
	ScaleInferred     bool   `json:"scaleInferred"`     // a number so short that it may be thousands
	Prefix            string `json:"prefix"`            // DAA
	Chassis           string `json:"chassis"`           // ZVW30
	CC                int    `json:"cc"`
	FuelPrinted       string `json:"fuelPrinted"` // petrol, diesel
	FuelDerived       string `json:"fuelDerived"` // from the prefix: petrol, diesel, hybrid
	Repair            string `json:"repair"`      // yes, no, not_stated: what 修復歴 itself says
	ColourChanged     bool   `json:"colourChanged"`
}

// settle drops what the form has no place for.
func (s *Sheet) settle() { s.Truth.settle(formOf(s.Form).prints) }

// Seen is the truth of what can be seen: all of it, or what is not covered.
// Nothing is to be seen of a car on a blank form, a fake and a photograph.
func (s *Sheet) Seen() Truth {
	if s.Kind != Real {
		return Truth{}
	}
	t := s.Truth.clone()
	if s.Covered > 0 {
		hidden := s.Hidden()
		f := formOf(s.Form)
		t.settle(func(key string) bool { return f.prints(key) && !slices.Contains(hidden, key) })
	}
	return t
}

// Hidden returns the keys of the cells that are covered in part or whole.
func (s *Sheet) Hidden() (keys []string) {
	for _, p := range formOf(s.Form).place() {
		if s.Covered > 0 && p.at.Max.Y > s.Covered {
			keys = append(keys, p.key)
		}
	}
	return keys
}

// Labels returns the labels of the form that can be seen.
func (s *Sheet) Labels() (labels []string) {
	for _, p := range formOf(s.Form).place() {
		if s.Covered == 0 || p.at.Max.Y <= s.Covered {
			labels = append(labels, p.label)
		}
	}
	return labels
}

// clone copies so deep that the copy can be changed.
func (t *Truth) clone() Truth {
	c := *t
	c.Fields, c.Documents = maps.Clone(c.Fields), maps.Clone(c.Documents)
	for _, list := range []*[]string{&c.Circled, &c.Points, &c.Seller, &c.Inspector, &c.Office, &c.Tyres, &c.Glass, &c.Inside} {
		*list = slices.Clone(*list)
	}
	c.Marks, c.Legend = slices.Clone(c.Marks), slices.Clone(c.Legend)
	return c
}
