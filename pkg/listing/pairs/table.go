package pairs

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
)

// cell pairs a label cell with the next cell. Counting columns would break on
// rowspan. The label may be in a td and the value in a th.
func (f *pairFinder) cell(n *html.Node) bool {
	names := dom.Text(n)
	value := dom.Next(n)
	field := claim.FieldOf(names)
	if field == "" || isSentence(names) {
		return false
	}
	if value != nil && isSeparator(dom.ShortText(value)) {
		value = dom.Next(value)
	}
	if value == nil || !mayBeside(n, value) {
		return true
	}
	values := valueText(field, value)
	if n.DataAtom == atom.Td && claim.FieldOf(values) != "" || isSentence(values) {
		return true // a row of labels, or of cells with their own
	}
	added := f.add(n, value, names, values)
	if third := dom.Next(value); added && third != nil && third.DataAtom == atom.Td && third.DataAtom == value.DataAtom {
		f.pairs[len(f.pairs)-1].Beside = dom.Text(third)
	}
	return added
}

// mayBeside reports whether the kind of a cell can be that of the value of a label's
// cell.
func mayBeside(label, value *html.Node) bool {
	return value.DataAtom == atom.Td || value.DataAtom == atom.Th && label.DataAtom == atom.Td
}

// isSeparator reports the content of a cell between a label and its value.
func isSeparator(s string) bool { return s == ":" || s == "：" || s == "=" }

// strip pairs rows of labels with as many rows of values below them, column by column: the
// first row of values belongs to the first row of labels. More rows of values than of labels
// are a list of cars.
func (f *pairFinder) strip(row *html.Node) {
	heads, below := f.headRows(row)
	if len(heads) == 0 {
		return
	}
	values := f.valueRows(heads, below)
	if hasOwnLabels(values) {
		return
	}
	f.stock = f.stock || len(values) > len(heads) && headsCars(heads[0])
	for i, labels := range heads {
		for column, label := range labels {
			if len(values) == len(heads) && (column == 0 || labels[column-1] != label) {
				value := values[i][column]
				f.add(label, value, dom.Text(label), valueText(claim.FieldOf(dom.Text(label)), value))
			}
			f.seen[label] = true
		}
	}
}

// valueRows returns the rows of values below rows of labels, at most one more than those.
func (f *pairFinder) valueRows(heads [][]*html.Node, below *html.Node) (values [][]*html.Node) {
	for ; below != nil; below = nextRow(below) {
		f.budget.Spend(1)
		own := columns(below)
		if len(own) != len(heads[0]) || isHeadRow(own) || len(values) > len(heads) {
			break
		}
		if !isEmptyRow(own) {
			values = append(values, own)
		}
	}
	return values
}

// hasOwnLabels reports cells that repeat labels beside their values, for narrow screens.
func hasOwnLabels(rows [][]*html.Node) bool {
	for _, row := range rows {
		for _, value := range row {
			if own, _, _ := strings.Cut(dom.Text(value), ":"); claim.FieldOf(own) != "" {
				return true
			}
		}
	}
	return false
}

// headRows returns the rows of labels that begin with one, and the row below them.
func (f *pairFinder) headRows(row *html.Node) (heads [][]*html.Node, below *html.Node) {
	for below = row; below != nil; below = nextRow(below) {
		own := columns(below)
		if !isHeadRow(own) || f.seen[own[0]] || len(heads) > 0 && len(own) != len(heads[0]) {
			break
		}
		heads = append(heads, own)
	}
	return heads, below
}

// isHeadRow reports a row of labels; some of them may be unknown.
func isHeadRow(row []*html.Node) bool {
	known, unknown := 0, 0
	for i, c := range row {
		switch text := dom.ShortText(c); {
		case c.DataAtom != row[0].DataAtom || isSentence(text):
			return false
		case i > 0 && c == row[i-1], text == "":
		case claim.FieldOf(text) != "":
			known++
		case c.DataAtom == atom.Td:
			unknown++
		}
	}
	return known >= 2 && known > 2*unknown
}

// headsCars reports the labels of a table of cars: a name, and two facts of each.
func headsCars(row []*html.Node) bool {
	named, facts := false, 0
	for _, c := range row {
		switch claim.FieldOf(dom.ShortText(c)) {
		case claim.FieldMake, claim.FieldModel, claim.FieldCode:
			named = true
		case claim.FieldPrice, claim.FieldMileage, claim.FieldEngine, claim.FieldRegistration,
			claim.FieldManufacture, claim.FieldModelYear:
			facts++
		}
	}
	return named && facts >= 2
}

func isEmptyRow(row []*html.Node) bool {
	for _, c := range row {
		if dom.ShortText(c) != "" {
			return false
		}
	}
	return true
}

// nextRow returns the next row of the table, also in its next part.
func nextRow(row *html.Node) *html.Node {
	if next := dom.Next(row); next != nil {
		return next
	}
	if row.Parent == nil || row.Parent.DataAtom == atom.Table {
		return nil
	}
	for part := dom.Next(row.Parent); part != nil; part = dom.Next(part) {
		for c := part.FirstChild; c != nil; c = c.NextSibling {
			if c.DataAtom == atom.Tr {
				return c
			}
		}
	}
	return nil
}

// maxColumns bounds the columns of a row.
const maxColumns = 60

// columns returns the cell in each column of a row: one that spans several stands in each.
func columns(row *html.Node) (found []*html.Node) {
	for _, c := range cells(row) {
		span, _ := strconv.Atoi(dom.Attr(c, "colspan"))
		for range min(max(span, 1), maxColumns-len(found)) {
			found = append(found, c)
		}
	}
	return found
}

// cells returns the cells of a row, nil when there are none.
func cells(row *html.Node) (found []*html.Node) {
	if row == nil || row.DataAtom != atom.Tr {
		return nil
	}
	for c := row.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom == atom.Td || c.DataAtom == atom.Th {
			found = append(found, c)
		}
	}
	return found
}
