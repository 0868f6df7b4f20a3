package lot

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"ushuru/pkg/datatable"
	"ushuru/pkg/listing/claim"
)

// Columns are the columns of one table.
type Columns struct {
	all   []Column
	sheet string         // that they are of; "" of a table without sheets
	index map[string]int // of the first column with a field
	units map[string]unit

	results   bool // the table is one of results
	described bool // its own columns say which cars it has

	conventions map[int]convention // of the numbers of prices, by column
	commas      map[int]bool
	// Duplicate names the columns that mean the same field as an earlier column and are not
	// read. Unknown names the columns that mean no known field.
	Duplicate, Unknown []string
}

// Column is a column as it was understood.
type Column struct {
	Header string `json:"column"`          // its name in the table
	Field  string `json:"field,omitempty"` // "" when the name is not known
	Unit   string `json:"unit,omitempty"`  // of a price: JPY, 1000 JPY or USD; "" when nothing says it
	Used   bool   `json:"used"`            // the field is needed for an estimate

	unit     unit // that its name says
	above    unit // that the texts above it say
	guessed  bool // whether the texts above it are about this column is not certain
	mapped   bool // the caller has given the field
	answered bool // the caller has given the unit
	result   bool // of a table of results: it is ours, and does not come back
	prices   []writtenPrice
}

// Header is what a table has before its rows.
type Header struct {
	Names []string
	// Above are the rows above the names, the nearest first. A cell that is merged over
	// several columns is repeated in each, when Merged says that merged cells are known.
	Above  [][]string
	Merged bool
	Title  string // of the sheet
}

// NewColumns understands the header of a table.
func NewColumns(header Header, mapping Mapping) *Columns {
	c := &Columns{
		sheet: header.Title, index: map[string]int{}, units: map[string]unit{},
		conventions: map[int]convention{}, commas: map[int]bool{},
	}
	for i, name := range header.Names {
		field, mapped := mapping.of(header.Title, name)
		if !mapped {
			field.name, field.unit = meaning(name)
		}
		column := Column{Header: name, Field: field.name, unit: field.unit, mapped: mapped}
		column.answered = mapped && !field.unit.IsZero()
		if isPrice(column.Field) && !column.answered {
			column.above, column.guessed = header.unitOf(i)
			usual := defaultCurrency(column.Field)
			column.guessed = column.guessed && column.unit.currency == "" && column.above.currency != usual
		}
		column.Used, column.Unit = isUsed(column.Field), column.unit.with(column.above).String()
		c.all = append(c.all, column)
	}
	c.takeResults(header.Names)
	c.choose()
	return c
}

// choose gives each field to one column: to the column that the caller maps to it, else to the
// column with exactly its name, else to the first column.
func (c *Columns) choose() {
	rank := func(column Column) int {
		switch {
		case column.mapped:
			return 2 //nolint:mnd // the highest
		case key(column.Header) == key(column.Field):
			return 1
		}
		return 0
	}
	for i, column := range c.all {
		if column.Header == "" || !column.Used {
			continue
		}
		if before, taken := c.index[column.Field]; !taken || rank(column) > rank(c.all[before]) {
			c.index[column.Field] = i
		}
	}
	for i := range c.all {
		column := &c.all[i]
		switch chosen := c.index[column.Field]; {
		case column.Header == "", column.result && column.Field == "":
		case column.Field == "":
			c.Unknown = append(c.Unknown, column.Header)
		case column.Used && chosen != i:
			c.Duplicate, column.Used = append(c.Duplicate, column.Header), false
		}
	}
}

// Linked returns the cells of a row with the address to which the cell of the listing leads in
// place of its text, such as "open". links are the addresses in the row, by column.
func (c *Columns) Linked(cells []string, links map[int]string) []string {
	i, ok := c.index[fieldURL]
	if !ok || links[i] == "" || strings.Contains(cells[i], "://") {
		return cells
	}
	cells = slices.Clone(cells)
	cells[i] = links[i]
	return cells
}

// Known returns how many columns have a name that is known.
func (c *Columns) Known() (known int) {
	for _, column := range c.all {
		if column.Field != "" {
			known++
		}
	}
	return known
}

// Sheet returns the name of the sheet that the columns are of.
func (c *Columns) Sheet() string { return c.sheet }

// DescribeCars reports whether the columns say of each row which car it is: the listing, or a
// model or a code with a year.
func (c *Columns) DescribeCars() bool {
	has := func(fields ...string) bool {
		return slices.ContainsFunc(fields, func(field string) bool { _, found := c.index[field]; return found })
	}
	return has(fieldURL) || has(fieldModel, fieldModelCode, fieldChassis, fieldModelBody) &&
		has(fieldYear, fieldRegistration, fieldModelYear)
}

// All returns the columns in their order.
func (c *Columns) All() []Column { return c.all }

// Own returns the names of the columns that come back beside the results: all but those
// that the results have themselves.
func (c *Columns) Own() (names []string) {
	for _, i := range c.own() {
		names = append(names, c.all[i].Header)
	}
	return names
}

// OwnCells returns the cells of those columns in a row.
func (c *Columns) OwnCells(cells []string) (own []string) {
	for _, i := range c.own() {
		own = append(own, cells[i])
	}
	return own
}

func (c *Columns) own() (indexes []int) {
	for i, column := range c.all {
		same := column.Used && slices.Contains([]string{fieldURL, fieldReference}, column.Field)
		if column.Header != "" && !same && !column.result {
			indexes = append(indexes, i)
		}
	}
	return indexes
}

//go:embed columns.csv
var columnTable string

//go:embed words.csv
var wordTable string

// fieldOfName maps a name of a column, as key returns it, to its field.
var fieldOfName = func() map[string]string {
	fields := map[string]string{}
	for _, row := range datatable.Rows(columnTable) {
		fields[key(row[1])] = row[0]
	}
	for _, field := range fieldNames {
		fields[key(field)] = field
	}
	return fields
}()

// words maps kind and written word to what is meant.
var words = func() map[[2]string]string {
	meant := map[[2]string]string{}
	for _, row := range datatable.Rows(wordTable) {
		meant[[2]string{row[0], key(row[1])}] = row[2]
	}
	return meant
}()

// The fields of a row. Prices have their currency behind them where the column says it:
// startPriceJPY.
const (
	fieldURL          = "url"
	fieldReference    = "reference"
	fieldModelBody    = "modelBody"
	fieldCandidates   = "priceCandidates"
	fieldMake         = "make"
	fieldModel        = "model"
	fieldModelCode    = "modelCode"
	fieldChassis      = "chassis" // a chassis code or a frame number
	fieldVersion      = "version"
	fieldYear         = "year" // of manufacture
	fieldRegistration = "registration"
	fieldModelYear    = "modelYear"
	fieldYearBasis    = "yearBasis"
	fieldEngine       = "engine_cc"
	fieldFuel         = "fuel"
	fieldBody         = "bodyType"
	fieldM3           = "m3"
	fieldPrice        = "price" // FOB
	fieldFOB          = "fobPrice"
	fieldCF           = "cfPrice"
	fieldStart        = "startPrice"
	fieldHammer       = "hammerPrice"
	fieldCurrency     = "currency"
	fieldUnit         = "unit" // of the prices: thousands of yen
	fieldLot          = "lot"
	fieldKnown        = "known."
)

// fieldNames are the fields that a column can be given to by name.
var fieldNames = []string{
	fieldURL, fieldReference, fieldModelBody, fieldCandidates, fieldMake, fieldModel, fieldModelCode, fieldChassis,
	fieldVersion, fieldYear, fieldRegistration, fieldModelYear, fieldYearBasis, fieldEngine, fieldFuel, fieldBody, fieldM3,
	fieldPrice, fieldFOB, fieldCF, fieldStart, fieldHammer, fieldCurrency, fieldUnit, fieldLot,
	"house", "date", "score", "mileage_km",
}

// used are the fields that a row is read from. The last four fields are recognised only so that
// their columns are not taken for other fields.
var used = fieldNames[:len(fieldNames)-4]

// claimFields are fields of listing pages that have another name here.
var claimFields = map[string]string{
	"manufacture": fieldYear, "frameNumber": fieldChassis, "stockNo": fieldReference, "cfPriceUSD": fieldCF,
	"auction.lotNo": fieldLot, "auction.house": "house", "auction.date": "date", "auction.score": "score",
	"auction.startPriceJPY": fieldStart, "auction.endPriceJPY": fieldHammer,
}

// key returns the letters and digits of a name in lower case.
func key(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == 'ー' {
			return unicode.ToLower(r)
		}
		return -1
	}, norm.NFKC.String(name))
}

// meaning returns the field of a column and its unit. A year without any other word is
// that of the first registration, as exporters and auctions mean it, unless it is
// written as the API's own field.
func meaning(name string) (field string, u unit) {
	name = strings.TrimSpace(name)
	lower := strings.ToLower(name)
	if strings.HasPrefix(lower, fieldKnown) {
		return lower, unit{}
	}
	if name == fieldYear {
		return fieldYear, unit{}
	}
	if cut, u := cutUnit(name); !u.IsZero() {
		if field := fieldOf(cut); isPrice(field) {
			return field, u
		}
	}
	return fieldOf(name), unit{}
}

// inBrackets is a unit behind a name that tells nothing about its field.
var inBrackets = regexp.MustCompile(`(?i)\s*[(\[](?:千|万)?(?:km|キロ|cc|l|m3|年|年月|yyyy/mm)[)\]]$`)

func fieldOf(name string) string {
	name = inBrackets.ReplaceAllString(norm.NFKC.String(name), "")
	if field := fieldOfName[key(name)]; field != "" && key(name) != fieldYear {
		return field
	}
	field := claim.FieldOf(name)
	if other := claimFields[field]; other != "" {
		return other
	}
	if strings.Contains(field, "+") || field == "formerPrice" || field == "rent" || field == claim.FieldCondition {
		return "" // two dates in one cell, no price of today, or the notes of a person
	}
	return field
}

func isPrice(field string) bool { return defaultCurrency(field) != "" || field == fieldPrice }

// defaultCurrency returns the currency of a price when nothing says another; "" when there
// is none.
func defaultCurrency(field string) string {
	for _, price := range priceFields {
		if price.name == field {
			return price.currency
		}
	}
	return ""
}

func isUsed(field string) bool {
	return strings.HasPrefix(field, fieldKnown) || slices.Contains(used, field)
}

// Mapping gives columns to fields by their names, or those of one sheet: "Sheet2!Price". Its keys
// are as mappedKey returns them.
type Mapping map[string]mappedField

// mappedField is a field that a column is given to; an empty one means that the column is not read.
type mappedField struct {
	name string
	unit unit // of a price
}

// ParseMapping parses texts of the form NAME=FIELD. A field may have a unit as a name of a column
// has: "startPrice (千円)". Unless ok, wrong is the first text without a name or the first unknown
// field.
func ParseMapping(texts []string) (m Mapping, wrong string, ok bool) {
	m = Mapping{}
	for _, text := range texts {
		i := strings.LastIndex(text, "=")
		if i <= 0 {
			return nil, text, false
		}
		field, ok := parseField(text[i+1:])
		if !ok {
			return nil, text[i+1:], false
		}
		m[mappedKey(text[:i])] = field
	}
	return m, "", true
}

// parseField parses a field by our own name of it: what others call it may mean several.
func parseField(text string) (field mappedField, ok bool) {
	if known := strings.ToLower(text); text == "" || strings.HasPrefix(known, fieldKnown) {
		return mappedField{name: known}, true
	}
	name, u := cutUnit(text)
	if field = (mappedField{fieldOfName[key(name)], u}); !isPrice(field.name) {
		field = mappedField{name: fieldOfName[key(text)]}
	}
	return field, field.name != "" && (field.name != fieldYear || text == fieldYear)
}

// ofSheet stands between the name of a sheet and that of its column, as in formulas.
const ofSheet = "!"

// mappedKey returns the key of a column's name, behind that of its sheet if the text has one.
func mappedKey(text string) string {
	parts := strings.Split(text, ofSheet)
	for i, part := range parts {
		parts[i] = key(part)
	}
	return strings.Join(parts, ofSheet)
}

// of returns the field that a mapping gives to a column of a sheet.
func (m Mapping) of(sheet, name string) (field mappedField, mapped bool) {
	if field, mapped = m[mappedKey(sheet+ofSheet+name)]; !mapped {
		field, mapped = m[mappedKey(name)]
	}
	return field, mapped
}

// IsColumn reports whether a text is the name of a column that a row is read from, by the mapping
// on any sheet or by what the name means.
func (m Mapping) IsColumn(name string) bool {
	for column, field := range m {
		if field.name != "" && strings.HasSuffix(ofSheet+column, ofSheet+mappedKey(name)) {
			return true
		}
	}
	field, _ := meaning(name)
	return isUsed(field)
}

// unitOf returns what the texts above a column say of its unit, the nearest first: the name
// of its group, then what holds for the whole table. It is a guess when the group may end
// before the column.
func (h Header) unitOf(column int) (u unit, guessed bool) {
	for _, row := range h.Above {
		said, guess := h.unitIn(row, column)
		u, guessed = u.with(said), guessed || guess && !said.IsZero()
	}
	return u.with(unitAbove(h.Title)), guessed
}

// unitIn returns what one row above the names says of the unit of a column.
func (h Header) unitIn(row []string, column int) (u unit, guess bool) {
	texts := slices.DeleteFunc(slices.Compact(slices.Clone(row)), func(text string) bool { return text == "" })
	for i, text := range texts { // "Unit", "千円"
		if u, ok := wholeUnit(text); ok && i > 0 && key(besideUnit.ReplaceAllString(spaced(texts[i-1]), "")) == "" {
			return u, false
		}
	}
	if len(texts) == 1 && !isGroup(texts[0]) {
		return unitAbove(texts[0]), false
	}
	for i := column; i >= 0; i-- {
		if i < len(row) && row[i] != "" {
			return unitAbove(row[i]), i < column
		}
		if h.Merged || !h.isPrice(i) {
			break // the group to the left ends before the column
		}
	}
	return unit{}, false
}

// isGroup reports whether a text is the name of prices, and no title.
func isGroup(text string) bool {
	rest, _ := cutUnit(text)
	return isPrice(fieldOf(rest))
}

// isPrice reports whether a column is of prices by its name.
func (h Header) isPrice(column int) bool {
	field, _ := meaning(h.Names[column])
	return isPrice(field)
}

// A table of results begins with these columns and ends ours with the last; the caller's own
// follow. Ours begin with the prefix where an own column has the same name.
var resultColumns = []string{"row", "reference", "url", "state", "code", "reason"}

const (
	lastResult   = "warnings"
	resultPrefix = "ushuru_"
)

// describing are the columns of results that say which car a row was.
var describing = []string{
	"make", "model", "modelCode", "version", "year", "engine_cc", "fuel", "fobPriceUSD", "cfPriceUSD",
}

// resultsEnd returns how many columns of a header are those of results; 0 when the table is
// the caller's own.
func resultsEnd(names []string) int {
	for i, name := range resultColumns {
		if i >= len(names) || strings.TrimPrefix(names[i], resultPrefix) != name {
			return 0
		}
	}
	return 1 + slices.IndexFunc(names, func(name string) bool { return strings.TrimPrefix(name, resultPrefix) == lastResult })
}

// AreResults reports whether the table is one of results.
func (c *Columns) AreResults() bool { return c.results }

// takeResults makes a table of results the list that it came from: its links and references,
// and the cars as the caller's own columns describe them, or as they were read without any.
func (c *Columns) takeResults(names []string) {
	end := resultsEnd(names)
	if end == 0 {
		return
	}
	c.results, c.described = true, slices.ContainsFunc(c.all[end:], func(column Column) bool { return column.Used })
	for i := range c.all[:end] {
		column := &c.all[i]
		name := strings.TrimPrefix(column.Header, resultPrefix)
		column.result = true
		column.Field, column.unit = meaning(name)
		if name != fieldReference && name != fieldURL && (c.described || !slices.Contains(describing, name)) {
			column.Field = ""
		}
		column.Used, column.Unit = isUsed(column.Field), column.unit.String()
	}
}
