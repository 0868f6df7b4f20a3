package table

import (
	"bufio"
	"errors"
	"io"
	"regexp"
	"strconv"
)

// maxMerged is how many merged cells of a sheet are looked at, the first.
const maxMerged = 1000

// mergedCells are cells that a sheet shows as one. Only the first has the text.
type mergedCells struct {
	left, right, top, bottom int
	text                     string
}

var mergedForm = regexp.MustCompile(`mergeCell\s[^>]*\bref="([A-Z]{1,3})([0-9]{1,7}):([A-Z]{1,3})([0-9]{1,7})"`)

// mergedIn returns the merged cells of a sheet. They stand behind its rows, so the
// sheet is looked through for them before its rows are read.
func (w *workbook) mergedIn(name string) (all []*mergedCells, err error) {
	left := w.left
	defer func() { w.left = left }() // the rows are counted when they are read
	part, err := w.read(name)
	if err != nil {
		return nil, err
	}
	part.meter.element = maxUnpacked
	tags := bufio.NewReaderSize(part.meter, maxLine)
	for len(all) < maxMerged {
		tag, err := tags.ReadSlice('>')
		switch {
		case errors.Is(err, io.EOF):
			return all, nil
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case part.meter.err != nil:
			return nil, part.meter.err
		case err != nil:
			return nil, errors.Join(ErrNotTable, err)
		}
		found := mergedForm.FindSubmatch(tag)
		if found == nil {
			continue
		}
		m := &mergedCells{}
		m.left, _ = columnOf(string(found[1]) + "1")
		m.right, _ = columnOf(string(found[3]) + "1")
		m.top, _ = strconv.Atoi(string(found[2]))
		m.bottom, _ = strconv.Atoi(string(found[4]))
		all = append(all, m)
	}
	return all, nil
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
