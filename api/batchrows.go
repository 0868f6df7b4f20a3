package api

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"

	"ushuru/pkg/batch"
	"ushuru/pkg/jsonobject"
)

// maxRow is the maximum size of one row of a batch in bytes.
const maxRow = 64 << 10

// utf8Only returns the bytes of a reader, and an error for those that are not UTF-8.
func utf8Only(r io.Reader) io.Reader { return transform.NewReader(r, encoding.UTF8Validator) }

// rowDecoder decodes a JSON body of a batch as a stream, so that its memory is that of
// the rows, and stops at the first row too many.
type rowDecoder struct {
	*json.Decoder
	rows    []rowRequest
	from    string // the list that the rows are from
	options batchOptions
	// language is a JSON object with the field lang, if there is one.
	language []byte
}

func newRowDecoder(body io.Reader) *rowDecoder {
	return &rowDecoder{Decoder: json.NewDecoder(utf8Only(body))}
}

// decode decodes exactly one object.
func (d *rowDecoder) decode() error {
	if err := d.expect('{'); err != nil {
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		text, _ := name.(string)
		if err := d.field(text); err != nil {
			return err
		}
	}
	if err := d.expect('}'); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.Join(errInvalidBatch, err)
	}
	return nil
}

// field decodes the value of a field. Unknown ones are skipped and remembered.
func (d *rowDecoder) field(field string) error {
	switch name := strings.ToLower(field); name {
	case "urls", "items":
		return d.list(name)
	case "webhook":
		return d.Decode(&d.options.Webhook)
	case "lang":
		var lang json.RawMessage
		err := d.Decode(&lang)
		d.language = slices.Concat([]byte(`{"lang":`), lang, []byte("}"))
		return err
	case "options":
		var options json.RawMessage
		if err := d.Decode(&options); err != nil {
			return err
		}
		return d.options.parse(options)
	}
	d.options.ignore([]string{jsonobject.Clip(field)})
	return d.Decode(&jsonobject.Skipped{})
}

// list decodes rows one by one, so that a malformed one is reported with its number.
func (d *rowDecoder) list(name string) error {
	open, err := d.Token()
	if err != nil || open == nil {
		return err
	}
	if open != json.Delim('[') || len(d.rows) > 0 && d.from != name {
		return errInvalidBatch
	}
	d.rows, d.from = nil, name
	for d.More() {
		if len(d.rows) == batch.MaxRows {
			return errTooManyRows
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		row := rowOfJSON(name, value, len(d.rows)+1)
		d.rows = append(d.rows, row)
		if name == "items" && !row.malformed {
			d.options.ignore(jsonobject.Unknown("items.", value, row))
		}
	}
	return d.expect(']')
}

// rowOfJSON decodes a row of one of the lists.
func rowOfJSON(list string, value json.RawMessage, number int) rowRequest {
	var row rowRequest
	var into any = &row
	if list == "urls" {
		into = &row.URL
	}
	malformed := len(value) > maxRow || json.Unmarshal(value, into) != nil
	row.number, row.malformed = number, malformed
	return row
}

func (d *rowDecoder) expect(want json.Delim) error {
	if token, err := d.Token(); err != nil || token != want {
		return errors.Join(errInvalidBatch, err)
	}
	return nil
}

// errRowTooLong ends a table whose row is longer than maxRow.
var errRowTooLong = errors.New("api: a row of a table is too long")

// rowReader is a table that is read row by row: no row may be longer than maxRow. A
// row of nothing but separators would need fifty times its bytes.
type rowReader struct {
	io.Reader
	left int // bytes that may be read until the next row
}

// Read is called for some rows at once, so that more than one row may be left.
func (r *rowReader) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, errRowTooLong
	}
	n, err := r.Reader.Read(p[:min(len(p), r.left)])
	r.left -= n
	return n, err
}

// rowsOfCSV parses a table with a header: url, and optionally reference and
// modelBody, in any order, beside other columns. The separator is a comma, a
// semicolon (where a comma is the decimal mark) or a tab: the first of them
// that is in the header. A row's number is its line in the file.
func rowsOfCSV(body io.Reader) ([]rowRequest, error) {
	limited := &rowReader{Reader: utf8Only(body), left: maxRow}
	text := bufio.NewReaderSize(limited, maxRow/16)
	table := csv.NewReader(text)
	table.FieldsPerRecord, table.TrimLeadingSpace, table.Comma = -1, true, separatorOf(text)
	names, err := table.Read()
	if err != nil {
		return nil, errors.Join(errCSVHeaderMissing, err)
	}
	columns := map[string]int{}
	for i, name := range names {
		columns[strings.ToLower(strings.TrimSpace(name))] = i
	}
	if _, ok := columns["url"]; !ok {
		return nil, errCSVHeaderMissing
	}
	var rows []rowRequest
	for {
		limited.left = maxRow
		cells, err := table.Read()
		broken, isRow := errors.AsType[*csv.ParseError](err)
		switch {
		case errors.Is(err, io.EOF):
			return rows, nil
		case err != nil && !isRow:
			return nil, err
		case len(rows) == batch.MaxRows:
			return nil, errTooManyRows
		}
		cell := func(name string) string {
			if i, ok := columns[name]; ok && i < len(cells) {
				return strings.TrimSpace(cells[i])
			}
			return ""
		}
		row := rowRequest{URL: cell("url"), Reference: cell("reference"), ModelBody: cell("modelbody"), malformed: err != nil}
		row.Known = knownOfCells(columns, cell)
		row.PriceCandidates = isYes(cell("pricecandidates"))
		if isRow {
			row.number = broken.StartLine
		} else {
			row.number, _ = table.FieldPos(0)
		}
		rows = append(rows, row)
	}
}

// separatorOf returns the separator of a table, and skips its byte order mark.
func separatorOf(text *bufio.Reader) rune {
	const mark = "\ufeff"
	if begin, _ := text.Peek(len(mark)); string(begin) == mark {
		_, _ = text.Discard(len(mark))
	}
	begin, _ := text.Peek(text.Size())
	header, _, _ := strings.Cut(strings.TrimLeft(string(begin), "\r\n"), "\n")
	for _, separator := range ",;\t" {
		if strings.ContainsRune(header, separator) {
			return separator
		}
	}
	return ','
}
