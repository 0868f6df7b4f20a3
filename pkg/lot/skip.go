package lot

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

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
