package table

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Bounds of a workbook. A list of ten thousand cars with forty columns unpacks to
// 20 MB.
const (
	maxUnpacked = 48 << 20 // of all parts that are read
	maxRatio    = 100      // of what a workbook unpacks to beyond minUnpacked; a list has 5 to 15
	minUnpacked = 2 << 20
	maxElement  = 1 << 20 // of one row, or one of the texts that cells share
	maxTexts    = 400_000
	maxTextSize = 24 << 20 // of all those texts
	maxParts    = 2000
	maxSheets   = 50
	maxStyles   = 70_000
)

// workbook is a file of ECMA-376. Only the parts with cells are read, each once and as a
// stream: what they unpack to is counted. Formulas are not computed, macros not looked at.
type workbook struct {
	parts     map[string]*zip.File
	left      int64 // bytes that may still be unpacked
	texts     texts
	dates     map[int]bool // styles of cells that are dates
	epoch1904 bool
}

// texts are the texts that cells share, in one piece of memory.
type texts struct {
	all  []byte
	ends []int
}

func (t *texts) at(i int) string {
	if i < 0 || i >= len(t.ends) {
		return ""
	}
	begin := 0
	if i > 0 {
		begin = t.ends[i-1]
	}
	return string(t.all[begin:t.ends[i]])
}

// openWorkbook opens the visible sheets of a workbook.
func openWorkbook(data []byte) (*File, error) {
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil || len(archive.File) > maxParts {
		return nil, fmt.Errorf("%w: %w", ErrNotTable, errors.Join(err, errNoWorkbook))
	}
	w := &workbook{
		parts: map[string]*zip.File{},
		left:  min(maxUnpacked, minUnpacked+maxRatio*int64(len(data))),
		dates: map[int]bool{},
	}
	for _, part := range archive.File {
		w.parts[strings.ToLower(strings.TrimPrefix(part.Name, "/"))] = part
	}
	sheets, err := w.open()
	return &File{sources: sheets}, err
}

var errNoWorkbook = errors.New("table: no workbook")

// open reads what is needed to read sheets, and returns them.
func (w *workbook) open() (sheets []source, err error) {
	root := "xl/workbook.xml"
	if targets, err := w.relations("_rels/.rels", ""); err == nil {
		for _, t := range targets {
			if strings.HasSuffix(t.kind, "/officeDocument") {
				root = t.target
			}
		}
	}
	folder := path.Dir(root)
	targets, err := w.relations(folder+"/_rels/"+path.Base(root)+".rels", folder)
	if err != nil {
		return nil, err
	}
	if sheets, err = w.sheets(root, targets); err != nil {
		return nil, err
	}
	for _, t := range targets {
		switch {
		case strings.HasSuffix(t.kind, "/sharedStrings"):
			err = w.readTexts(t.target)
		case strings.HasSuffix(t.kind, "/styles"):
			err = w.readStyles(t.target)
		}
		if err != nil {
			return nil, err
		}
	}
	return sheets, nil
}

// sheets returns the visible sheets of a workbook.
func (w *workbook) sheets(root string, targets map[string]relation) (sheets []source, err error) {
	book, err := w.read(root)
	if err != nil {
		return nil, err
	}
	err = book.each(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "workbookPr":
			w.epoch1904 = isTrue(attribute(start, "date1904"))
		case "sheet":
			state := attribute(start, "state")
			target, ok := targets[attribute(start, "id")]
			visible := state == "" || state == "visible"
			if ok && visible && strings.HasSuffix(target.kind, "/worksheet") && len(sheets) < maxSheets {
				sheets = append(sheets, &cells{workbook: w, name: attribute(start, "name"), part: target.target})
			}
		}
		return nil
	})
	return sheets, err
}

// relation is a link from one part to another, or to an address outside of the workbook.
type relation struct{ kind, target, external string }

// relations reads the links of a part, by their ids.
func (w *workbook) relations(name, folder string) (map[string]relation, error) {
	part, err := w.read(name)
	if err != nil {
		return nil, err
	}
	found := map[string]relation{}
	err = part.each(func(start xml.StartElement) error {
		if start.Name.Local != "Relationship" {
			return nil
		}
		target := attribute(start, "Target")
		if attribute(start, "TargetMode") == "External" {
			found[attribute(start, "Id")] = relation{external: target}
			return nil
		}
		if !strings.HasPrefix(target, "/") {
			target = path.Join(folder, target)
		}
		target = strings.TrimPrefix(path.Clean(target), "/")
		found[attribute(start, "Id")] = relation{kind: attribute(start, "Type"), target: target}
		return nil
	})
	return found, err
}

// readTexts reads the texts that cells share.
func (w *workbook) readTexts(name string) error {
	part, err := w.read(name)
	if err != nil {
		return err
	}
	return part.each(func(start xml.StartElement) error {
		if start.Name.Local != "si" {
			return nil
		}
		text, err := part.text("si")
		if err != nil {
			return err
		}
		if len(w.texts.ends) == maxTexts || len(w.texts.all)+len(text) > maxTextSize {
			return ErrTooLarge
		}
		w.texts.all = append(w.texts.all, text...)
		w.texts.ends = append(w.texts.ends, len(w.texts.all))
		return nil
	})
}

// readStyles reads which styles of cells are dates.
func (w *workbook) readStyles(name string) error {
	part, err := w.read(name)
	if err != nil {
		return err
	}
	custom := map[string]bool{}
	inCells, count := false, 0
	return part.each(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "numFmt":
			if len(custom) < maxStyles {
				custom[attribute(start, "numFmtId")] = isDateFormat(attribute(start, "formatCode"))
			}
		case "cellXfs":
			inCells = true
		case "cellStyles", "dxfs":
			inCells = false
		case "xf":
			if !inCells || count == maxStyles {
				return nil
			}
			id := attribute(start, "numFmtId")
			if number, err := strconv.Atoi(id); err == nil && (custom[id] || isDateStyle(number)) {
				w.dates[count] = true
			}
			count++
		}
		return nil
	})
}

// isDateStyle reports whether one of the number formats that every program has shows a
// date, those of Japanese programs too (ECMA-376 part 1, 18.8.30).
func isDateStyle(id int) bool {
	return 14 <= id && id <= 17 || id == 22 || 27 <= id && id <= 31 || id == 36 || 50 <= id && id <= 54 || id == 57 || id == 58
}

// isDateFormat reports whether a number format shows a year or a day.
func isDateFormat(code string) bool {
	var plain strings.Builder
	quoted, bracket := false, false
	for i := 0; i < len(code); i++ {
		switch c := code[i]; {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '\\' || c == '_' || c == '*':
			i++
		case c == '[':
			bracket = true
		case c == ']':
			bracket = false
		case !bracket:
			plain.WriteByte(c)
		}
	}
	letters := strings.ReplaceAll(strings.ToLower(plain.String()), "general", "")
	return strings.ContainsAny(letters, "yd") || strings.Contains(letters, "ge")
}

// dateOf returns the day of a date as a workbook counts it; false when it is none.
func (w *workbook) dateOf(value float64) (string, bool) {
	const lastDay = 2_958_465 // 9999-12-31
	if value < 1 || value > lastDay {
		return "", false
	}
	first := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	if w.epoch1904 {
		first = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return first.AddDate(0, 0, int(value)).Format(time.DateOnly), true
}

// read opens a part.
func (w *workbook) read(name string) (*element, error) {
	part, ok := w.parts[strings.ToLower(name)]
	if !ok {
		return nil, fmt.Errorf("%w: no part %.100q", ErrNotTable, name)
	}
	if part.UncompressedSize64 > uint64(max(w.left, 0)) {
		return nil, ErrTooLarge
	}
	opened, err := part.Open()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotTable, err)
	}
	metered := &meter{from: opened, left: &w.left, element: maxElement}
	return &element{Decoder: xml.NewDecoder(metered), meter: metered}, nil
}

// meter counts what is unpacked, of all parts and of one element.
type meter struct {
	from    io.Reader
	left    *int64
	element int
	err     error
}

func (m *meter) Read(p []byte) (int, error) {
	if *m.left <= 0 || m.element <= 0 {
		m.err = ErrTooLarge
		return 0, ErrTooLarge
	}
	n, err := m.from.Read(p[:min(len(p), m.element)])
	*m.left -= int64(n)
	m.element -= n
	return n, err
}

// element reads a part element by element.
type element struct {
	*xml.Decoder
	meter *meter
}

// token returns the next token; the end is io.EOF. Names are not checked and nothing is
// nested in memory.
func (e *element) token() (xml.Token, error) {
	token, err := e.RawToken()
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return token, err
	case e.meter.err != nil:
		return nil, e.meter.err
	}
	return nil, fmt.Errorf("%w: %w", ErrNotTable, err)
}

// each calls visit for the beginning of every element.
func (e *element) each(visit func(xml.StartElement) error) error {
	for {
		e.meter.element = maxElement
		token, err := e.token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if start, ok := token.(xml.StartElement); ok {
			if err := visit(start); err != nil {
				return err
			}
		}
	}
}

// text returns the text inside an element up to its end. How a Japanese word is read,
// which stands beside the word, is left out.
func (e *element) text(name string) (string, error) {
	var b strings.Builder
	reading, inside := false, false
	for {
		token, err := e.token()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = ErrNotTable
			}
			return "", err
		}
		switch t := token.(type) {
		case xml.StartElement:
			reading = reading || t.Name.Local == "rPh"
			inside = t.Name.Local == "t"
		case xml.CharData:
			if inside && !reading {
				b.Write(t)
			}
		case xml.EndElement:
			inside = false
			switch t.Name.Local {
			case "rPh":
				reading = false
			case name:
				return b.String(), nil
			}
		}
	}
}

func attribute(start xml.StartElement, name string) string {
	for _, a := range start.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func isTrue(value string) bool { return value == "1" || value == "true" }

// maxMerged is how many merged cells of a sheet are looked at, the first.
const maxMerged = 1000

// maxLinks is how many linked cells of a sheet are looked at, the first: more than a list has.
const maxLinks = 100_000

// mergedCells are cells that a sheet shows as one. Only the first has the text.
type mergedCells struct {
	left, right, top, bottom int
	text                     string
}

var (
	mergedForm = regexp.MustCompile(`mergeCell\s[^>]*\bref="([A-Z]{1,3})([0-9]{1,7}):([A-Z]{1,3})([0-9]{1,7})"`)
	linkForm   = regexp.MustCompile(`hyperlink\s[^>]*\bref="([A-Z]{1,3}[0-9]{1,7})"`)
	linkID     = regexp.MustCompile(`:id="([^"]{1,100})"`)
)

// behind is what stands behind the rows of a sheet and belongs to its cells.
type behind struct {
	merged []*mergedCells
	links  map[string]string // addresses, by the names of cells
}

// behindRows looks a sheet through for what stands behind its rows, before they are read.
func (w *workbook) behindRows(name string) (found behind, err error) {
	left := w.left
	defer func() { w.left = left }() // the rows are counted when they are read
	part, err := w.read(name)
	if err != nil {
		return found, err
	}
	ids := map[string]string{}
	part.meter.element = maxUnpacked
	tags := bufio.NewReaderSize(part.meter, maxLine)
	for {
		tag, err := tags.ReadSlice('>')
		switch {
		case errors.Is(err, io.EOF):
			found.links = w.addresses(name, ids)
			return found, nil
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case part.meter.err != nil:
			return found, part.meter.err
		case err != nil:
			return found, errors.Join(ErrNotTable, err)
		}
		if m := mergedForm.FindSubmatch(tag); m != nil && len(found.merged) < maxMerged {
			found.merged = append(found.merged, newMergedCells(m))
		} else if link := linkForm.FindSubmatch(tag); link != nil && len(ids) < maxLinks {
			if id := linkID.FindSubmatch(tag); id != nil {
				ids[string(link[1])] = string(id[1])
			}
		}
	}
}

func newMergedCells(found [][]byte) *mergedCells {
	m := &mergedCells{}
	m.left, _ = columnOf(string(found[1]) + "1")
	m.right, _ = columnOf(string(found[3]) + "1")
	m.top, _ = strconv.Atoi(string(found[2]))
	m.bottom, _ = strconv.Atoi(string(found[4]))
	return m
}

// addresses returns where the cells of a sheet lead: an http address for each cell with one.
// A workbook whose links cannot be read has none.
func (w *workbook) addresses(sheet string, ids map[string]string) map[string]string {
	if len(ids) == 0 {
		return nil
	}
	folder := path.Dir(sheet)
	targets, err := w.relations(folder+"/_rels/"+path.Base(sheet)+".rels", folder)
	if err != nil {
		return nil
	}
	links := map[string]string{}
	for cell, id := range ids {
		if address := targets[id].external; strings.HasPrefix(address, "http") {
			links[cell] = address
		}
	}
	return links
}

// spread copies the text of a merged cell into the cells of the row that are merged with it. A
// row in which no cell has a text stays empty.
func (c *cells) spread(row *Row) {
	if isEmpty(row.Cells) {
		return
	}
	for _, m := range c.merged {
		if row.Number < m.top || row.Number > m.bottom {
			continue
		}
		if row.Number == m.top && m.left < len(row.Cells) {
			m.text = row.Cells[m.left]
		}
		for column := m.left; column <= min(m.right, maxColumns-1); column++ {
			row.set(column, m.text)
		}
	}
}
