// Package datatable reads the tables that come with the program: CSV with a header, whose lines
// that begin with # are remarks.
package datatable

import (
	"encoding/csv"
	"strings"
)

// Rows returns the rows of an embedded table below its header, each with as many cells as the
// header has. It panics when the table is broken, which only a broken build has.
func Rows(text string) [][]string {
	r := csv.NewReader(strings.NewReader(text))
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		panic("datatable: " + err.Error())
	}
	return rows[1:]
}

// Lines returns the cells of each line of an embedded table without a header. The last cell may
// hold commas. It panics for a line with fewer cells.
func Lines(text string, cells int) (rows [][]string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		row := strings.SplitN(line, ",", cells)
		if len(row) < cells {
			panic("datatable: " + line)
		}
		rows = append(rows, row)
	}
	return rows
}
