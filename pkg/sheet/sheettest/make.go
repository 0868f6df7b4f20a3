package sheettest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Style is how the values are written.
type Style string

// The styles.
const (
	Printed     Style = "printed"
	Mixed       Style = "mixed" // data printed; grades, notes and map by hand
	Handwritten Style = "handwritten"
)

// Sheet is a SIMULATED sheet.
type Sheet struct {
	ID      string  `json:"id"` // a seed or the name of a special one
	Form    string  `json:"form"`
	Style   Style   `json:"style"`
	Truth   Truth   `json:"truth"`
	Kind    Kind    `json:"kind"`
	Covered int     `json:"covered"` // pixels from which on down nothing can be seen; 0: all can
	Order   string  `json:"order"`   // text that tries to give orders, drawn as a note of the seller
	Variant Variant `json:"variant"`

	// Trap names what the sheet tries out; "" for an ordinary one.
	Trap string `json:"trap"`
}

// Kind says what a picture is.
type Kind string

// The kinds.
const (
	Real  Kind = ""      // a sheet
	Blank Kind = "blank" // a form without a car
	Fake  Kind = "fake"  // nonsense in the shape of a sheet
	Photo Kind = "photo" // no sheet at all, and without a code
)

// Number is how many seeds the tests take: all houses, styles and traps.
const Number = 50

// Make makes the sheet of a seed, from 1 on. The same seed gives the same
// sheet. Seeds that traps.go names carry a trap.
func Make(seed int) Sheet {
	s := build(seed, traps[seed])
	s.ID = strconv.Itoa(seed)
	return s
}

// build makes a sheet of what a seed draws and a trap sets.
func build(seed int, set trap) Sheet {
	random := rand.New(rand.NewPCG(uint64(seed), 0x5ee7)) //nolint:gosec // a seed is no negative number, and no secret
	s := Sheet{
		Form:    cmp.Or(set.form, forms[seed%len(forms)].house),
		Style:   []Style{Printed, Mixed, Handwritten}[seed/len(forms)%3],
		Variant: variants[seed%len(variants)],
		Trap:    set.name,
	}
	kind := cars[random.IntN(len(cars))]
	if set.car != "" {
		kind = cars[slices.IndexFunc(cars, func(c car) bool { return c.Name == set.car })]
	}
	fill(&s, kind, random)
	if set.set != nil {
		set.set(&s)
	}
	s.settle()
	return s
}

// fill writes an ordinary car.
func fill(s *Sheet, c car, random *rand.Rand) {
	code := pick(random, c.Codes)
	prefix, chassis, _ := strings.Cut(code, "-")
	t := &s.Truth
	t.House = s.Form
	if random.IntN(3) == 0 {
		t.House = "" // often only the listing says it
	}
	t.Meaning = Meaning{Prefix: prefix, Chassis: chassis, CC: c.CC, Repair: "not_stated"}
	t.Fields = map[string]string{
		"lot": strconv.Itoa(1000 + random.IntN(79000)), "venue": pick(random, words.Venues),
		"corner": pick(random, words.Corners),
		"date":   fmt.Sprintf("2026/%d/%d", 8+random.IntN(4), 1+random.IntN(28)),
		"name":   c.Name, "trim": pick(random, c.Trims), "shape": c.Shape, "model_code": code,
		"chassis_no": fmt.Sprintf("%s-%07d", chassis, 1+random.IntN(9_999_999)), "cc": strconv.Itoa(c.CC), "fuel": c.Fuel,
		"drive": c.Drive, "seats": strconv.Itoa(c.Seats), "shift": pick(random, c.Shifts),
		"aircon": pick(random, []string{"AC", "AAC", "WAC"}),
		"colour": pick(random, words.Colours), "interior_colour": pick(random, words.Inside),
		"colour_no": fmt.Sprintf("%d%c%d", random.IntN(10), 'A'+random.Int32N(26), random.IntN(10)),
		"recycle":   strconv.Itoa(5000 + 10*random.IntN(1200)), "name_change": fmt.Sprintf("R8年12月%d日", 1+random.IntN(28)),
	}
	if c.Load > 0 {
		t.Fields["load"] = strconv.Itoa(c.Load)
		t.Fields["size"] = fmt.Sprintf("%d×%d×%d", 440+random.IntN(40), 165+random.IntN(10), 190+random.IntN(10))
	}
	fillDates(t, c, random)
	fillCondition(t, random)
	fillNotes(t, random)
	fillMap(s, random)
}

// fillDates writes the first registration and the road inspection.
func fillDates(t *Truth, c car, random *rand.Rand) {
	year, month := c.From+random.IntN(c.To-c.From+1), 1+random.IntN(12)
	t.register(year, month, pick(random, []string{"%s年%d月", "%s/%d", "%s.%d"}))
	if random.IntN(3) > 0 { // else deregistered
		until, monthOf := 2027+random.IntN(2), 1+random.IntN(12)
		t.Fields["shaken_until"] = fmt.Sprintf("%s年%d月", era(until, monthOf), monthOf)
		t.Meaning.ShakenUntil = fmt.Sprintf("%d-%02d", until, monthOf)
	}
}

// register writes the first registration in a form with verbs for the year of
// the era and the month.
func (t *Truth) register(year, month int, form string) {
	t.Fields["first_registration"] = fmt.Sprintf(form, era(year, month), month)
	t.Meaning.FirstRegistration = fmt.Sprintf("%d-%02d", year, month)
}

// era writes a year with its era's letter; Reiwa began in May 2019.
func era(year, month int) string {
	switch {
	case year > 2019 || year == 2019 && month >= 5:
		return "R" + strconv.Itoa(year-2018)
	case year >= 1989:
		return "H" + strconv.Itoa(year-1988)
	default:
		return "S" + strconv.Itoa(year-1925)
	}
}

// fillCondition writes grades and mileage.
func fillCondition(t *Truth, random *rand.Rand) {
	at := random.IntN(6)
	t.Fields["overall"] = []string{"5", "4.5", "4", "3.5", "3", "R"}[at]
	t.Fields["exterior"] = []string{"A", "B", "B", "C", "D", "C"}[at]
	t.Fields["interior"] = []string{"A", "B", "C", "C", "D", "C"}[at]
	t.travel(4_000 + (at+1)*random.IntN(24_000))
	t.Unit = "km"
	switch {
	case t.Fields["overall"] == "R":
		t.Fields["repair"], t.Meaning.Repair = "有", "yes"
	case random.IntN(2) == 0:
		t.Fields["repair"], t.Meaning.Repair = "無", "no"
	}
	t.Documents = map[string]string{}
	for _, label := range []string{"新車整備手帳", "保証書", "取扱説明書"} {
		t.Documents[label] = pick(random, []string{"有", "無"})
	}
}

func (t *Truth) travel(mileage int) {
	t.Digits, t.Meaning.Mileage = strconv.Itoa(mileage), mileage
}

// fillNotes writes both voices.
func fillNotes(t *Truth, random *rand.Rand) {
	t.Points = some(random, words.Points, 2, 5)
	t.Seller = append(some(random, words.SellerDefects, 1, 3), some(random, words.SellerOptions, 0, 2)...)
	t.Inspector = some(random, words.Inspector, 3, 7)
	t.Office = some(random, words.Office, 0, 1)
	t.Circled = some(random, words.Circled, 2, 6)
	t.Glass = some(random, words.Glass[:4], 0, 1)
	t.Inside = some(random, words.Rooms, 0, 2)
	if t.Meaning.Repair == "yes" {
		t.Inspector = append(t.Inspector, pick(random, []string{"コアサポート交換", "バックパネル修正", "右Fインサイドパネル曲がり", "左センターピラー修正"}))
	}
}

// fillMap writes codes on panels and the tyres.
func fillMap(s *Sheet, random *rand.Rand) {
	t := &s.Truth
	for _, line := range words.Legends[s.Form] {
		t.Legend = append(t.Legend, Entry{line[0], line[1]})
	}
	seen := map[string]bool{}
	for range 3 + random.IntN(7) {
		p := panels[random.IntN(len(panels))]
		mark := Mark{Panel: p.name, Code: pick(random, words.Codes)}
		if p.sided {
			mark.Side = pick(random, []string{left, right})
		}
		if p.name == "windscreen" {
			mark.Code = pick(random, []string{"G", "X"})
		}
		if seen[mark.Panel+mark.Side] || !t.explains(mark.Code) {
			continue
		}
		seen[mark.Panel+mark.Side] = true
		t.Marks = append(t.Marks, mark)
	}
	tread := 3 + random.IntN(5)
	for range 4 {
		t.Tyres = append(t.Tyres, strconv.Itoa(tread+random.IntN(2)))
	}
	t.Tyres = append(t.Tyres, pick(random, []string{"", "8"}))
}

// explains says whether the legend knows the letters of a code, if there is one.
func (t *Truth) explains(code string) bool {
	return len(t.Legend) == 0 || slices.ContainsFunc(t.Legend, func(e Entry) bool {
		return e.Code == strings.TrimRight(code, "0123456789")
	})
}

// settle drops what cannot be seen: what the form has no place for, or what is
// covered.
func (t *Truth) settle(seen func(key string) bool) {
	for key := range t.Fields {
		if !seen(key) {
			delete(t.Fields, key)
		}
	}
	m := &t.Meaning
	for key, drop := range map[string]func(){
		"points": func() { t.Points = nil }, "seller": func() { t.Seller = nil },
		"inspector": func() { t.Inspector = nil }, "office": func() { t.Office = nil },
		"map": func() { t.Marks = nil }, "tyres": func() { t.Tyres = nil }, "legend": func() { t.Legend = nil },
		"glass": func() { t.Glass = nil }, "inside": func() { t.Inside = nil }, "meter": func() { t.Meter = "" },
		"circled": func() { t.Circled = nil }, "documents": func() { t.Documents = nil },
		"digits":             func() { t.Digits, t.Unit, t.Flag, m.Mileage, m.ScaleInferred = "", "", "", 0, false },
		"first_registration": func() { m.FirstRegistration, m.EraInferred = "", false },
		"shaken_until":       func() { m.ShakenUntil = "" },
		"model_code":         func() { m.Prefix, m.Chassis = "", "" },
		"cc":                 func() { m.CC = 0 },
		"repair":             func() { m.Repair = "not_stated" },
		"colour":             func() { m.ColourChanged = false },
	} {
		if !seen(key) {
			drop()
		}
	}
	m.FuelPrinted = map[string]string{"ガソリン": "petrol", "軽油": "diesel"}[t.Fields["fuel"]]
	m.FuelDerived = map[byte]string{'A': "hybrid", 'B': "petrol", 'C': "hybrid", 'D': "diesel"}[second(m.Prefix)]
}

// second returns the second of three characters of an emission prefix, which
// names the fuel; prefixes of before 2005 are shorter and name none.
func second(prefix string) byte {
	if len(prefix) != 3 {
		return 0
	}
	return prefix[1]
}

func pick(random *rand.Rand, list []string) string { return list[random.IntN(len(list))] }

// some takes between least and most different ones, in their order.
func some(random *rand.Rand, list []string, least, most int) []string {
	n := least + random.IntN(most-least+1)
	at := random.Perm(len(list))[:n]
	slices.Sort(at)
	taken := make([]string, n)
	for i, j := range at {
		taken[i] = list[j]
	}
	return taken
}
