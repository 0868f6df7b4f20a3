package table

import (
	"cmp"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// cells is the source of a sheet.
type cells struct {
	*element
	behind

	workbook   *workbook
	name, part string // of the sheet
	number     int    // of the row before
}

func (c *cells) open(r *Reader) (err error) {
	if c.behind, err = c.workbook.behindRows(c.part); err != nil {
		return err
	}
	r.Form, r.Merged = Form{Format: "xlsx", Sheet: c.name}, len(c.merged) > 0
	c.element, err = c.workbook.read(c.part)
	return err
}

func (c *cells) next() (Row, error) {
	for {
		c.meter.element = maxElement
		token, err := c.token()
		if err != nil {
			return Row{}, err
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "row" {
			return c.row(start)
		}
	}
}

// row reads a row up to its end.
func (c *cells) row(start xml.StartElement) (Row, error) {
	c.number++
	if number, err := strconv.Atoi(attribute(start, "r")); err == nil && number > 0 {
		c.number = number
	}
	row := Row{Number: c.number}
	column := -1
	for {
		token, err := c.token()
		if err != nil {
			return row, broken(err)
		}
		switch t := token.(type) {
		case xml.EndElement:
			if t.Name.Local == "row" {
				c.spread(&row)
				return row, nil
			}
		case xml.StartElement:
			if t.Name.Local != "c" {
				continue
			}
			column++
			if named, ok := columnOf(attribute(t, "r")); ok {
				column = named
			}
			text, link, err := c.cell(t)
			if err != nil {
				return row, broken(err)
			}
			row.set(column, text)
			row.link(column, cmp.Or(link, c.links[attribute(t, "r")]))
		}
	}
}

// set puts a text into a column.
func (r *Row) set(column int, text string) {
	switch {
	case text == "":
	case column >= maxColumns:
		r.Extra = true
	default:
		for len(r.Cells) <= column {
			r.Cells = append(r.Cells, "")
		}
		r.Cells[column] = text
	}
}

// link remembers where a cell leads, unless it is empty.
func (r *Row) link(column int, address string) {
	if address == "" || column >= len(r.Cells) || r.Cells[column] == "" {
		return
	}
	if r.Links == nil {
		r.Links = map[int]string{}
	}
	r.Links[column] = address
}

// linkFormula is a formula that only makes a link.
var linkFormula = regexp.MustCompile(`(?i)^HYPERLINK\("(https?://[^"]+)"`)

// cell returns the text of a cell: of a formula its last result, of a date its day; and where
// a formula leads.
func (c *cells) cell(start xml.StartElement) (text, link string, err error) {
	kind := attribute(start, "t")
	if kind == "inlineStr" {
		text, err := c.text("c")
		return plain(text), "", err
	}
	var value, formula strings.Builder
	var into *strings.Builder
	for {
		token, err := c.token()
		if err != nil {
			return "", "", err
		}
		switch t := token.(type) {
		case xml.StartElement:
			into = map[string]*strings.Builder{"v": &value, "f": &formula}[t.Name.Local]
		case xml.CharData:
			if into != nil {
				into.Write(t)
			}
		case xml.EndElement:
			into = nil
			if t.Name.Local != "c" {
				continue
			}
			if found := linkFormula.FindStringSubmatch(strings.TrimSpace(formula.String())); found != nil {
				link = found[1]
			}
			text = c.value(kind, attribute(start, "s"), strings.TrimSpace(value.String()))
			return cmp.Or(text, link), link, nil // a program that computes nothing writes no result
		}
	}
}

// value returns a value of a kind and a style as text.
func (c *cells) value(kind, style, value string) string {
	switch kind {
	case "s":
		at, err := strconv.Atoi(value)
		if err != nil {
			return ""
		}
		return plain(c.workbook.texts.at(at))
	case "b":
		return strconv.FormatBool(isTrue(value))
	case "str", "e", "d":
		return plain(value)
	}
	number, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return plain(value)
	}
	if index, err := strconv.Atoi(style); err == nil && c.workbook.dates[index] {
		if day, ok := c.workbook.dateOf(number); ok {
			return day
		}
	}
	return strconv.FormatFloat(number, 'f', -1, 64)
}

// plain returns a text of a cell in one line.
func plain(text string) string {
	text = strings.ReplaceAll(text, "_x000D_", " ")
	return strings.Join(strings.Fields(text), " ")
}

// columnOf returns the index of the column in the name of a cell: 27 for AB12.
func columnOf(cell string) (index int, ok bool) {
	const letters = 26
	for i := range len(cell) {
		c := cell[i] | 0x20
		if c < 'a' || c > 'z' {
			return index - 1, i > 0
		}
		if index = index*letters + int(c-'a') + 1; index > 1<<15 {
			return index, true
		}
	}
	return 0, false
}

// broken returns the error of a sheet that ends inside a row.
func broken(err error) error {
	if errors.Is(err, io.EOF) {
		return ErrNotTable
	}
	return err
}

// formulaSigns begin a formula in some spreadsheet, now or when the cell is edited;
// a Japanese one also takes their full-width and small forms.
const formulaSigns = "=+-@＝＋－＠﹦﹢﹣﹫"

// cellSeparators are what a spreadsheet of some locale splits a line of CSV at, whatever
// the line was written with.
const cellSeparators = ";,\t|"

// Safe makes untrusted text safe for a cell. Characters that no one sees are
// removed, because a spreadsheet may skip them too. The apostrophe, the spreadsheet's
// own mark of plain text, goes before a text that begins as a formula does, and
// before each part after a separator that begins so.
func Safe(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	begins := true // the next visible character begins a cell
	for _, r := range text {
		switch {
		case isInvisible(r):
			continue
		case begins && strings.ContainsRune(formulaSigns, r):
			if before := b.String(); strings.TrimSpace(before) == "" {
				b.Reset()
				b.WriteString("'" + before)
			} else {
				b.WriteByte('\'')
			}
			begins = false
		case strings.ContainsRune(cellSeparators, r), r == '\n', r == '\r':
			begins = true
		case !isBlank(r) && r != '"' && r != '\'':
			begins = false
		}
		if isBlank(r) && !unicode.Is(unicode.Zs, r) { // most control characters are not allowed in XML
			r = ' '
		}
		b.WriteRune(r)
	}
	return b.String()
}

// isBlank reports whether a character is a space or a control character.
func isBlank(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// isInvisible reports whether a character shows nothing: a byte order mark, a
// direction, a joiner, a filler, a variation selector, or one that is not a character.
func isInvisible(r rune) bool {
	if r <= unicode.MaxASCII {
		return r == 0
	}
	return unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) ||
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.Is(unicode.Noncharacter_Code_Point, r) ||
		r == unicode.ReplacementChar
}
