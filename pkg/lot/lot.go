// Package lot reads rows of tables as cars: lots of auctions, stock of exporters, or URLs
// of listings. It recognises the names of columns in English and Japanese, and their
// units. A value that cannot be read is a problem with its column; nothing is guessed.
package lot

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"
	"golang.org/x/text/unicode/norm"

	"ushuru/pkg/chassis"
	"ushuru/pkg/listing/claim"
	"ushuru/pkg/match/facts"
	"ushuru/pkg/match/naming"
)

// PriceKind says what a price is.
type PriceKind string

// The kinds of prices, the best first. Those of auctions do not include what the
// exporter adds until the car is on board.
const (
	CF     PriceKind = "cf" // cost and freight to Dar es Salaam
	FOB    PriceKind = "fob"
	Hammer PriceKind = "hammer" // where bidding ended
	Start  PriceKind = "start"  // where bidding begins
)

// The currencies.
const (
	USD = "USD"
	JPY = "JPY"
)

// Price is a price of a lot.
type Price struct {
	Kind     PriceKind
	Amount   decimal.Decimal
	Currency string
	Column   string
}

// Row is a row as it was understood. An empty field was not in the row.
type Row struct {
	URL             string
	Reference       string
	ModelBody       string
	PriceCandidates bool
	Known           map[string]string // the columns known.*, by the rest of their names in lower case

	Make, Model, ModelCode, Version, Fuel, BodyType, M3 string
	Year                                                int
	YearBasis                                           string // manufacture, registration or model
	EngineCC                                            int
	Prices                                              []Price

	Problems []Problem
}

// Problem is a cell that cannot be read.
type Problem struct {
	Column string // its name, as the table has it
	Value  string
	Field  string
	// Currency means that the amount was read, but neither cell nor column says in which
	// currency, or in one that is not USD or JPY.
	Currency bool
}

// reading is a row that is being read.
type reading struct {
	Row

	columns *Columns
	cells   []string
	written []writtenPrice // the prices as the table has them
}

// Read reads a row of the table.
func (c *Columns) Read(cells []string) Row {
	r := &reading{columns: c, cells: cells}
	r.URL, r.Reference, r.ModelBody = r.whole(fieldURL), r.whole(fieldReference), r.whole(fieldModelBody)
	if r.Reference == "" {
		r.Reference = r.whole(fieldLot)
	}
	if c.results && !c.described && r.URL != "" {
		return r.Row // the rest was read from the page
	}
	r.PriceCandidates = isYes(r.text(fieldCandidates))
	for field, i := range c.index {
		if name, ok := strings.CutPrefix(field, fieldKnown); ok && cells[i] != "" {
			if r.Known == nil {
				r.Known = map[string]string{}
			}
			r.Known[name] = cells[i]
		}
	}
	r.readCode()
	r.readNames()
	r.readYear()
	r.readEngine()
	r.readVolume()
	r.readPrices()
	return r.Row
}

// text returns the cell of a field; "" when it has a placeholder such as "-".
func (r *reading) text(field string) string {
	if i, ok := r.columns.index[field]; ok {
		return claim.ValueOf(r.cells[i])
	}
	return ""
}

// whole returns the cell of a field as text does, but however long it is: the beginning
// of a URL is another URL.
func (r *reading) whole(field string) string {
	if r.text(field) == "" {
		return ""
	}
	return strings.TrimSpace(r.cells[r.columns.index[field]])
}

func (r *reading) problem(field, value string) *Problem {
	r.Problems = append(r.Problems, Problem{Column: r.columns.all[r.columns.index[field]].Header, Value: value, Field: field})
	return &r.Problems[len(r.Problems)-1]
}

// modified marks a modified car behind its code.
var modified = regexp.MustCompile(`\s*\(?(?:改|カイ|ｶｲ)\)?$`)

// readCode reads the chassis code, or takes it from a frame number.
func (r *reading) readCode() {
	r.ModelCode = chassis.Normalise(modified.ReplaceAllString(r.text(fieldModelCode), ""))
	if r.ModelCode != "" {
		return
	}
	cell := modified.ReplaceAllString(r.text(fieldChassis), "")
	if cell == "" {
		return
	}
	code, isFrame := chassis.FromFrame(cell)
	if codes := chassis.ParseAll(cell); !isFrame && len(codes) == 1 {
		code = codes[0]
		r.ModelCode = cell
	}
	if isFrame {
		r.ModelCode = code.Code
	}
	if code.Code == "" {
		r.problem(fieldChassis, cell)
	}
}

// readNames reads make, model, grade, fuel and body. A make may stand before the name of
// the model, or be known by the chassis code alone.
func (r *reading) readNames() {
	r.Make, r.Model = r.text(fieldMake), naming.LatinName(r.text(fieldModel))
	first, rest, two := strings.Cut(chassis.Normalise(r.text(fieldModel)), " ")
	if facts.IsMake(first) && two && (r.Make == "" || sameMake(first, r.Make)) {
		r.Make, r.Model = first, naming.LatinName(rest)
	}
	if r.Make == "" {
		code, _ := chassis.Parse(r.ModelCode)
		r.Make = facts.MakeOf(code.Code, r.Model)
	}
	if r.Make != "" {
		r.Make = chassis.AuthorityMake(r.Make)
	}
	r.Version = r.text(fieldVersion)
	if score.MatchString(strings.ToUpper(r.Version)) {
		r.Version = "" // a column "Grade" with the inspector's grades
	}
	r.Fuel, r.BodyType = word(fieldFuel, r.text(fieldFuel)), word(fieldBody, r.text(fieldBody))
}

func sameMake(a, b string) bool { return chassis.AuthorityMake(a) == chassis.AuthorityMake(b) }

// score is an inspector's grade, which some lists call the grade.
var score = regexp.MustCompile(`^(?:[0-6](?:\.[05])?|R[A-C]?|\*{1,3})$`)

// word returns what a Japanese word means; other words as they are.
func word(kind, text string) string {
	if meant, ok := words[[2]string{kind, key(text)}]; ok {
		return meant
	}
	return text
}

// readYear reads the year that is nearest to that of manufacture.
func (r *reading) readYear() {
	for _, field := range []struct{ name, basis string }{
		{fieldYear, "manufacture"}, {fieldRegistration, "registration"}, {fieldModelYear, "model"},
	} {
		cell := r.text(field.name)
		if cell == "" {
			continue
		}
		year, ok := claim.ParseDatedYear(cell)
		if !ok {
			year, ok = serialYear(cell)
		}
		if !ok {
			r.problem(field.name, cell)
			continue
		}
		r.Year, r.YearBasis = year, field.basis
		if field.name == fieldYear {
			if basis := r.text(fieldYearBasis); basis != "" {
				r.YearBasis = strings.ToLower(basis)
			}
		}
		return
	}
}

// serial is a day as spreadsheets count them, where the format of the cell was lost.
var serial = regexp.MustCompile(`^\d{5}(?:\.0+)?$`)

// serialYear returns the year of such a day.
func serialYear(cell string) (year int, ok bool) {
	if !serial.MatchString(cell) {
		return 0, false
	}
	days, err := strconv.Atoi(cell[:5])
	year = time.Date(1899, 12, 30+days, 0, 0, 0, 0, time.UTC).Year()
	return year, err == nil && year >= claim.MinYear && year <= claim.MaxYear()
}

func (r *reading) readEngine() {
	cell := r.text(fieldEngine)
	if strings.Trim(cell, "0. cCL") == "" {
		return
	}
	cc, ok := claim.ParseEngine(cell)
	if !ok {
		r.problem(fieldEngine, cell)
	}
	r.EngineCC = cc
}

func (r *reading) readVolume() {
	cell := r.text(fieldM3)
	if strings.Trim(cell, "0.") == "" {
		return
	}
	volume, ok := claim.ParseVolume(strings.ToLower(cell))
	if !ok {
		r.problem(fieldM3, cell)
	}
	r.M3 = volume
}

// isYes reports a cell that says yes.
func isYes(cell string) bool {
	switch strings.ToLower(cell) {
	case "true", "yes", "1", "ndiyo", "はい":
		return true
	}
	return false
}

// The reasons why a row of a table is no car.
const (
	SkippedTotal  = "total"
	SkippedHeader = "header" // the names of the columns again
	SkippedNote   = "note"
)

var (
	totalWord = regexp.MustCompile(`^(?:(?:grand |sub ?)?totals?|sums?|jumla(?: kuu)?|総?合計|小計|総計|計|итого|summe|gesamt)` +
		`(?:[ :：(（].*|\d.*)?$`)
	noteWord = regexp.MustCompile(`^(?:※|\*|注|備考[:：]|以上$|(?:notes?|nb|n\.b\.|remarks?|source|kumbuka|maelezo)\b\s*[:.：])`)
)

// longNote is how many words a note without a mark has at least.
const longNote = 4

// Skip returns why a row is no car; "" for a row that must be one.
func (c *Columns) Skip(cells []string) (reason string) {
	at := slices.IndexFunc(cells, func(cell string) bool { return cell != "" })
	if at < 0 {
		return ""
	}
	first := strings.ToLower(norm.NFKC.String(cells[at]))
	rest := slices.Compact(slices.DeleteFunc(slices.Clone(cells[at:]), func(cell string) bool { return cell == "" }))
	switch {
	case c.repeatsHeader(cells):
		return SkippedHeader
	case totalWord.MatchString(first) && !c.namesCar(cells, at):
		return SkippedTotal
	case len(rest) > 1 || len(cells) < 3 || strings.Contains(first, "://"): //nolint:mnd // a table of two columns has no notes
		return ""
	case noteWord.MatchString(first), !c.isOfCar(at) && len(strings.Fields(first)) >= longNote:
		return SkippedNote
	}
	return ""
}

// repeatsHeader reports whether all cells of a row are the names of their columns.
func (c *Columns) repeatsHeader(cells []string) bool {
	same := 0
	for i, cell := range cells {
		switch {
		case cell == "":
		case i < len(c.all) && strings.EqualFold(cell, c.all[i].Header):
			same++
		default:
			return false
		}
	}
	return same > 1 || same == len(c.all)
}

// namesCar reports whether a cell other than one says which car a row is.
func (c *Columns) namesCar(cells []string, besides int) bool {
	for i, cell := range cells {
		if i != besides && cell != "" && c.isOfCar(i) {
			return true
		}
	}
	return false
}

// isOfCar reports whether a column says which car a row is.
func (c *Columns) isOfCar(i int) bool {
	return i < len(c.all) && c.all[i].Used &&
		slices.Contains([]string{fieldURL, fieldMake, fieldModel, fieldModelCode, fieldChassis, fieldModelBody}, c.all[i].Field)
}

// Note reads the unit of prices from a note below the rows. The rows were read without that unit,
// so the unit of their column becomes a question to the caller.
func (c *Columns) Note(cells []string) {
	for _, cell := range cells {
		u := unitAbove(cell)
		for i := range c.all {
			column := &c.all[i]
			isOpen := isPrice(column.Field) && !column.answered && !column.unit.with(column.above).scaled
			column.guessed = column.guessed || isOpen && u.scaled
		}
	}
}
