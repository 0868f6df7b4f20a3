package batchrequest

import (
	"encoding/json"
	"slices"
	"strings"

	"ushuru/pkg/jsonobject"
)

const (
	// maxOwn is how much of the caller's own columns comes back, of one row in bytes.
	maxOwn = 2 << 10
	// maxOwnFields is how many names the caller's own fields of JSON may have in a batch.
	maxOwnFields = 100
)

// readOwn returns the caller's own cells of a row of JSON, which come back as the own columns of a
// table do, and the names of its fields that do not come back: lists, objects, and what is too
// many. Of a strict request no field is the caller's own.
func (req *Request) readOwn(value json.RawMessage, row Row) (cells, ignored []string) {
	for _, field := range jsonobject.Rest(value, row) {
		text, isScalar := scalarText(field.Value)
		at := slices.Index(req.Columns, field.Name)
		if at < 0 && isScalar && !req.strict && len(req.Columns) < maxOwnFields {
			at = len(req.Columns)
			req.Columns = append(req.Columns, field.Name)
		}
		if at < 0 || !isScalar {
			ignored = append(ignored, field.Name)
			continue
		}
		cells = setCell(cells, at, text)
	}
	return limitOwn(cells), ignored
}

// setCell puts a text into one of some cells, and empty ones before it as far as they are missing.
func setCell(cells []string, at int, text string) []string {
	for len(cells) <= at {
		cells = append(cells, "")
	}
	cells[at] = text
	return cells
}

// scalarText returns a text, a number or a boolean of JSON as a cell has it; false for a
// list or an object. Null is an empty cell.
func scalarText(value json.RawMessage) (string, bool) {
	switch {
	case jsonobject.IsAbsent(value):
		return "", true
	case value[0] == '[', value[0] == '{':
		return "", false
	case value[0] != '"':
		return string(value), true
	}
	var text string
	err := json.Unmarshal(value, &text)
	return text, err == nil
}

// limitOwn clips the caller's own cells.
func limitOwn(cells []string) []string {
	left := maxOwn
	for i, cell := range cells {
		if len(cell) > left {
			cells[i] = strings.ToValidUTF8(cell[:left], "")
		}
		left -= len(cells[i])
	}
	if !slices.ContainsFunc(cells, func(cell string) bool { return cell != "" }) {
		return nil
	}
	return cells
}
