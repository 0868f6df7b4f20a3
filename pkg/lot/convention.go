package lot

import (
	"regexp"
	"strings"
)

// Forms of numbers, by the mark before their cents.
var (
	numberIn   = regexp.MustCompile(`\d[\d.,]*\d|\d`)
	spaceMarks = regexp.MustCompile(`(\d)['’\x{a0}\x{202f} ](\d{3})(?:\b|$)`)
	commaCents = regexp.MustCompile(`^(?:\d{1,3}(?:\.\d{3})+|\d+),\d{1,2}$|^\d{1,3}(?:\.\d{3}){2,}$`)
	pointCents = regexp.MustCompile(`^(?:\d{1,3}(?:,\d{3})+|\d+)\.\d{1,2}$|^\d{1,3}(?:,\d{3})+$`)
	either     = regexp.MustCompile(`^\d{1,3}\.\d{3}$`)
)

// convention counts how the numbers of a column are written.
type convention struct{ comma, point, either int }

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
