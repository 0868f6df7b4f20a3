package table

import (
	"bufio"
	"errors"
	"io"
	"path"
	"regexp"
	"strconv"
	"strings"
)

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
