package lot

import (
	"regexp"
	"slices"
	"strings"

	"github.com/shopspring/decimal"
	"golang.org/x/text/unicode/norm"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// Question asks in which unit the prices of a column are: as they are written they could not
// be those of cars, or it is not certain which columns a unit is of.
type Question struct {
	Sheet    string    `json:"sheet,omitempty"` // of several
	Column   string    `json:"column"`
	Field    string    `json:"field"`
	Values   []string  `json:"values"`   // of the first rows
	Readings []Reading `json:"readings"` // the first is that of the table
}

// Reading is a unit that the prices of a column may have.
type Reading struct {
	Unit     string   `json:"unit"`     // 1000 JPY
	Answer   string   `json:"answer"`   // the parameter column that says so
	FirstUSD []string `json:"firstUSD"` // the values of the question
}

// convention counts how the numbers of a column are written.
type convention struct{ comma, point, either int }

// priceFields are the fields of prices, in the order in which they are used, and their
// currencies when nothing says another.
var priceFields = []struct {
	name     string
	kind     PriceKind
	currency string
}{
	{fieldCF, CF, USD},
	{fieldFOB, FOB, USD},
	{fieldPrice, FOB, ""},
	{fieldHammer, Hammer, JPY}, // auctions in Japan are in yen
	{fieldStart, Start, JPY},
}

// readPrices reads all prices of a row.
func (r *reading) readPrices() {
	for _, field := range priceFields {
		cell := r.text(field.name)
		if isNothing(cell) || slices.ContainsFunc(r.Prices, func(p Price) bool { return p.Kind == field.kind }) {
			continue
		}
		column := &r.columns.all[r.columns.index[field.name]]
		amount, inCell, ok := r.columns.amountOf(r.columns.inConvention(r.columns.index[field.name], norm.NFKC.String(cell)))
		if !ok {
			r.problem(field.name, cell)
			continue
		}
		said, known := r.saidOf(column, inCell)
		written := writtenPrice{text: cell, number: amount, said: said, inCell: inCell.scaled}
		switch {
		case said.currency != "":
		case field.name == fieldPrice && isJapanese(column.Header):
			said.currency = JPY
		default:
			said.currency = field.currency
		}
		if !known || said.currency != USD && said.currency != JPY {
			r.problem(field.name, cell).Currency = true
			continue
		}
		price := Price{field.kind, amount.Shift(said.shift), said.currency, column.Header}
		r.Prices = append(r.Prices, price)
		written.price = &price
		r.written = append(r.written, written)
	}
	r.keepUsed()
}

// saidOf returns what the table says of the unit of a price: the cell before the name of its
// column, that before the row, and that before what stands above. The caller's answer stands
// in place of what is above. It is false when the row has a currency that is not understood.
func (r *reading) saidOf(column *Column, inCell unit) (said unit, known bool) {
	byRow, known := r.rowUnit()
	known = known || inCell.currency != "" || column.unit.currency != ""
	if !column.answered {
		return inCell.with(column.unit).with(byRow).with(column.above), known
	}
	if byRow.scaled {
		inCell = inCell.with(byRow)
	}
	return inCell.with(column.unit), known
}

// rowUnit returns what the columns for the currency and the unit say in a row; false when
// the cell of the currency is not understood.
func (r *reading) rowUnit() (u unit, known bool) {
	known = true
	if cell := r.text(fieldCurrency); cell != "" {
		u = r.columns.unitOf(cell)
		known = !u.IsZero()
	}
	return u.with(r.columns.unitOf(r.text(fieldUnit))), known
}

// maxUnits is how many units of cells are remembered.
const maxUnits = 1000

// unitOf returns the unit that a cell is, as wholeUnit does. Most rows repeat that of
// another row.
func (c *Columns) unitOf(cell string) unit {
	u, known := c.units[cell]
	if !known {
		u, _ = wholeUnit(cell)
		if len(c.units) < maxUnits {
			c.units[cell] = u
		}
	}
	return u
}

// isNothing reports whether a cell has no price: it is empty, 0, or a word for "ask".
func isNothing(cell string) bool {
	return !strings.ContainsAny(norm.NFKC.String(cell), "123456789")
}

// inUnit is an amount beside its unit: 350千円, ¥35万, JPY 350K.
var inUnit = regexp.MustCompile(`^([^\d]*)(\d[\d,]*(?:\.\d{1,2})?)((?:[^\d.,][^\d]*|[ '’]000\D*)?)$`)

// amountOf returns the number of a cell, and what the cell says of its unit.
func (c *Columns) amountOf(cell string) (number decimal.Decimal, u unit, ok bool) {
	cell = strings.TrimSpace(strings.ReplaceAll(norm.NFKC.String(cell), `\`, "¥"))
	if m := inUnit.FindStringSubmatch(cell); m != nil {
		if u := c.unitOf(m[1] + " ; " + m[3]); u.scaled {
			n, err := money.ParseNumber(m[2])
			return n.Decimal(), u, err == nil
		}
	}
	price, ok := claim.ParsePrice(cell)
	return price.Amount.Decimal(), unit{currency: price.Currency}, ok && !pointed.MatchString(cell)
}

// pointed matches a number whose point may stand before decimals or thousands, for the
// other cells of the column to tell.
var pointed = regexp.MustCompile(`^\D*\d{1,3}\.\d{3}\D*$`)

func isJapanese(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r >= '\u3000' })
}

// writtenPrice is a price of a row as its table has it.
type writtenPrice struct {
	text   string
	number decimal.Decimal
	said   unit
	inCell bool // the cell itself says the power of ten, which is certain
	price  *Price
}

// keepUsed keeps the prices that the cost is computed from, to judge the units of their
// columns: the auction's only where the seller asks none, and beside no listing.
func (r *reading) keepUsed() {
	seller := slices.ContainsFunc(r.written, func(w writtenPrice) bool { return w.price.Kind == CF || w.price.Kind == FOB })
	for _, w := range r.written {
		isAuction := w.price.Kind == Hammer || w.price.Kind == Start
		if w.inCell || isAuction && (seller || r.URL != "") {
			continue
		}
		for i := range r.columns.all {
			if c := &r.columns.all[i]; c.Header == w.price.Column && c.Used {
				c.prices = append(c.prices, w)
				break
			}
		}
		if isAuction {
			return
		}
	}
}

// firstShown is how many rows a question shows.
const firstShown = 3

// Bounds of the median of the prices of a list of used cars, in US dollars.
var (
	leastMedian = decimal.NewFromInt(vehicle.MinPlausibleUSD)
	mostMedian  = decimal.NewFromInt(100_000)
)

func couldBeCars(median decimal.Decimal) bool {
	return !median.LessThan(leastMedian) && !median.GreaterThan(mostMedian)
}

// Questions returns what must be asked about the rows that were read. Nothing is guessed:
// the caller answers by giving the column to its field with a unit; of several sheets the answer
// names the sheet.
func (c *Columns) Questions(jpyPerUSD decimal.Decimal, several bool) (questions []Question) {
	for i := range c.all {
		column := &c.all[i]
		if !column.isDoubtful(jpyPerUSD) {
			continue
		}
		q := column.question(jpyPerUSD)
		for j := range q.Readings {
			if several {
				q.Sheet, q.Readings[j].Answer = c.sheet, c.sheet+ofSheet+q.Readings[j].Answer
			}
		}
		questions = append(questions, q)
	}
	return questions
}

// isDoubtful reports whether the unit of a column must be asked for. A power of ten that is
// named is believed, unless the prices would be those of houses.
func (c *Column) isDoubtful(jpyPerUSD decimal.Decimal) bool {
	if c.answered || len(c.prices) == 0 {
		return false
	}
	usd := func(w writtenPrice) decimal.Decimal { return inUSD(w.price.Amount, w.price.Currency, jpyPerUSD) }
	bare := slices.DeleteFunc(slices.Clone(c.prices), func(w writtenPrice) bool { return w.said.scaled })
	return c.guessed || len(bare) > 0 && medianOf(bare, usd).LessThan(leastMedian) ||
		medianOf(c.prices, usd).GreaterThan(mostMedian)
}

func (c *Column) question(jpyPerUSD decimal.Decimal) Question {
	first := c.prices[0]
	q := Question{Column: c.Header, Field: c.Field}
	for _, w := range c.prices[:min(len(c.prices), firstShown)] {
		q.Values = append(q.Values, w.text)
	}
	written := unit{currency: first.price.Currency, shift: first.said.shift}
	units := []unit{written}
	for _, other := range []unit{{USD, 0, true}, {USD, 3, true}, {JPY, 0, true}, {JPY, 3, true}, {JPY, 4, true}} {
		said := !c.guessed && first.said.currency != "" && first.said.currency != other.currency
		median := medianOf(c.prices, func(w writtenPrice) decimal.Decimal {
			return inUSD(w.number.Shift(other.shift), other.currency, jpyPerUSD)
		})
		if other.String() != written.String() && !said && couldBeCars(median) {
			units = append(units, other)
		}
	}
	if len(units) == 1 {
		units = append(units, unit{written.currency, written.shift + 3, true})
	}
	for _, u := range units {
		reading := Reading{Unit: u.String(), Answer: c.Header + "=" + c.Field + " (" + u.String() + ")"}
		for _, w := range c.prices[:min(len(c.prices), firstShown)] {
			usd := money.New(inUSD(w.number.Shift(u.shift), u.currency, jpyPerUSD).Round(2))
			reading.FirstUSD = append(reading.FirstUSD, usd.String())
		}
		q.Readings = append(q.Readings, reading)
	}
	return q
}

func inUSD(amount decimal.Decimal, currency string, jpyPerUSD decimal.Decimal) decimal.Decimal {
	if currency == JPY {
		return amount.Div(jpyPerUSD)
	}
	return amount
}

// medianOf returns the median of a value of prices.
func medianOf(prices []writtenPrice, of func(writtenPrice) decimal.Decimal) decimal.Decimal {
	all := make([]decimal.Decimal, 0, len(prices))
	for _, w := range prices {
		all = append(all, of(w))
	}
	slices.SortFunc(all, decimal.Decimal.Cmp)
	return all[len(all)/2]
}

// Forms of numbers, by the mark before their cents.
var (
	numberIn   = regexp.MustCompile(`\d[\d.,]*\d|\d`)
	spaceMarks = regexp.MustCompile(`(\d)['’\x{a0}\x{202f} ](\d{3})(?:\b|$)`)
	commaCents = regexp.MustCompile(`^(?:\d{1,3}(?:\.\d{3})+|\d+),\d{1,2}$|^\d{1,3}(?:\.\d{3}){2,}$`)
	pointCents = regexp.MustCompile(`^(?:\d{1,3}(?:,\d{3})+|\d+)\.\d{1,2}$|^\d{1,3}(?:,\d{3})+$`)
	either     = regexp.MustCompile(`^\d{1,3}\.\d{3}$`)
)

// isComma reports whether a comma stands before the cents. Prices have no thousandths, so
// that several numbers such as 6.150 are thousands, unless another one shows the contrary.
func (c convention) isComma() bool { return c.point == 0 && (c.comma > 0 || c.either > 1) }

// inConvention returns a cell of a column with a point before the cents, and without marks
// of thousands where the column has shown which they are.
func (c *Columns) inConvention(column int, cell string) string {
	for spaceMarks.MatchString(cell) {
		cell = spaceMarks.ReplaceAllString(cell, "$1$2")
	}
	number := numberIn.FindString(cell)
	seen := c.conventions[column]
	switch {
	case commaCents.MatchString(number):
		seen.comma++
	case pointCents.MatchString(number):
		seen.point++
	case either.MatchString(number):
		seen.either++
	}
	c.conventions[column] = seen
	if !c.commas[column] {
		return cell
	}
	return numberIn.ReplaceAllStringFunc(cell, ofCommas.Replace)
}

// ofCommas writes a number with a comma before its cents as one with a point.
var ofCommas = strings.NewReplacer(".", "", ",", ".")

// Commas returns the columns in which all rows write the cents behind a comma. When the rows
// were read with points, the caller reads them again with UseCommas.
func (c *Columns) Commas() (columns []int) {
	for column, seen := range c.conventions {
		if seen.isComma() && !c.commas[column] {
			columns = append(columns, column)
		}
	}
	return columns
}

// UseCommas says in which columns a comma stands before the cents.
func (c *Columns) UseCommas(columns []int) {
	for _, column := range columns {
		c.commas[column] = true
	}
}
