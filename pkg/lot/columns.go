package lot

import (
	_ "embed"
	"encoding/csv"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"ushuru/pkg/listing/claim"
)

//go:embed columns.csv
var columnTable string

//go:embed words.csv
var wordTable string

// fieldOfName maps a name of a column, as key returns it, to its field.
var fieldOfName = func() map[string]string {
	fields := map[string]string{}
	for _, row := range readTable(columnTable) {
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
	for _, row := range readTable(wordTable) {
		meant[[2]string{row[0], key(row[1])}] = row[2]
	}
	return meant
}()

func readTable(text string) [][]string {
	r := csv.NewReader(strings.NewReader(text))
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		panic("lot: " + err.Error())
	}
	return rows[1:]
}

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
	fieldLot          = "lot"
	fieldKnown        = "known."
)

// fieldNames are the fields that a column can be given to by name.
var fieldNames = []string{
	fieldURL, fieldReference, fieldModelBody, fieldCandidates, fieldMake, fieldModel, fieldModelCode, fieldChassis,
	fieldVersion, fieldYear, fieldRegistration, fieldModelYear, fieldYearBasis, fieldEngine, fieldFuel, fieldBody, fieldM3,
	fieldPrice, fieldFOB, fieldCF, fieldStart, fieldHammer, fieldCurrency, fieldLot, "house", "date", "score", "mileage_km",
}

// used are the fields that a row is read from. The others are understood only so that
// they are not taken for something else.
var used = fieldNames[:len(fieldNames)-4]

// claimFields are fields of listing pages that have another name here.
var claimFields = map[string]string{
	"manufacture": fieldYear, "frameNumber": fieldChassis, "stockNo": fieldReference, "cfPriceUSD": fieldCF,
	"auction.lotNo": fieldLot, "auction.house": "house", "auction.date": "date", "auction.score": "score",
	"auction.startPriceJPY": fieldStart, "auction.endPriceJPY": fieldHammer,
}

// unit is what a name says of the amounts below it.
type unit struct {
	currency string // "" when the name does not say
	shift    int32  // the power of ten by which amounts are written smaller
}

func (u unit) String() string {
	switch {
	case u.currency == "":
		return ""
	case u.shift == 3:
		return "1000 " + u.currency
	case u.shift == 4:
		return "10000 " + u.currency
	}
	return u.currency
}

// units are the marks of units in names, in capitals, the longest first.
var units = []struct {
	mark string
	unit unit
}{
	{"千円", unit{JPY, 3}},
	{"万円", unit{JPY, 4}},
	{"1000YEN", unit{JPY, 3}},
	{"1000 YEN", unit{JPY, 3}},
	{"1000JPY", unit{JPY, 3}},
	{"1000 JPY", unit{JPY, 3}},
	{"JPY 1000", unit{JPY, 3}},
	{"THOUSAND YEN", unit{JPY, 3}},
	{"'000 JPY", unit{JPY, 3}},
	{"K JPY", unit{JPY, 3}},
	{"K¥", unit{JPY, 3}},
	{"JPY", unit{JPY, 0}},
	{"YEN", unit{JPY, 0}},
	{"円", unit{JPY, 0}},
	{"¥", unit{JPY, 0}},
	{"US$", unit{USD, 0}},
	{"USD", unit{USD, 0}},
	{"US DOLLARS", unit{USD, 0}},
	{"ドル", unit{USD, 0}},
	{"$", unit{USD, 0}},
}

// cutUnit returns a name without its unit.
func cutUnit(name string) (string, unit) {
	upper := strings.ToUpper(norm.NFKC.String(name))
	for _, u := range units {
		if before, after, found := strings.Cut(upper, u.mark); found {
			return before + " " + after, u.unit
		}
	}
	return name, unit{}
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

// Column is a column as it was understood.
type Column struct {
	Header string `json:"column"`          // its name in the table
	Field  string `json:"field,omitempty"` // "" when the name is not known
	Unit   string `json:"unit,omitempty"`  // of a price: JPY, 1000 JPY or USD; "" when the name does not say
	Used   bool   `json:"used"`            // the field is needed for an estimate

	unit unit
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
	if cut, u := cutUnit(name); u.currency != "" {
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
	if strings.Contains(field, "+") || field == "formerPrice" || field == "rent" {
		return "" // two dates in one cell, or no price of today
	}
	return field
}

func isPrice(field string) bool {
	return slices.Contains([]string{fieldPrice, fieldFOB, fieldCF, fieldStart, fieldHammer}, field)
}

// IsColumn reports whether a text is the name of a column that a row is read from.
func IsColumn(name string) bool {
	field, _ := meaning(name)
	return isUsed(field)
}

func isUsed(field string) bool {
	return strings.HasPrefix(field, fieldKnown) || slices.Contains(used, field)
}

// Columns are the columns of one table.
type Columns struct {
	all   []Column
	index map[string]int // of the first column with a field
	// Duplicate are the names of columns whose field another column before them has;
	// they are not read. Unknown are those whose field is not known.
	Duplicate, Unknown []string
}

// Mapping gives columns to fields, by their names. A field may have a unit as a name of
// a column has: "startPrice (千円)"; an empty one means that the column is not read.
type Mapping map[string]string

// Check returns the first field of a mapping that does not exist; "" when all do.
func (m Mapping) Check() string {
	for _, field := range m {
		if found, _ := meaning(field); field != "" && !isUsed(found) {
			return field
		}
	}
	return ""
}

// of returns the field that a mapping gives to a column.
func (m Mapping) of(name string) (field string, mapped bool) {
	for column, field := range m {
		if key(column) == key(name) {
			return field, true
		}
	}
	return "", false
}

// Has reports whether a mapping names a column.
func (m Mapping) Has(name string) bool {
	field, mapped := m.of(name)
	return mapped && field != ""
}

// NewColumns understands the header of a table.
func NewColumns(header []string, mapping Mapping) *Columns {
	c := &Columns{index: map[string]int{}}
	for i, name := range header {
		column := Column{Header: name}
		if field, mapped := mapping.of(name); mapped {
			column.Field, column.unit = meaning(field)
		} else {
			column.Field, column.unit = meaning(name)
		}
		column.Used, column.Unit = isUsed(column.Field), column.unit.String()
		_, taken := c.index[column.Field]
		switch {
		case name == "":
		case column.Field == "":
			c.Unknown = append(c.Unknown, name)
		case column.Used && taken:
			c.Duplicate, column.Used = append(c.Duplicate, name), false
		case column.Used:
			c.index[column.Field] = i
		}
		c.all = append(c.all, column)
	}
	return c
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
		if column.Header != "" && !same {
			indexes = append(indexes, i)
		}
	}
	return indexes
}
