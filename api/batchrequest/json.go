package batchrequest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"

	"ushuru/api/request"
	"ushuru/api/terms"
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
	rows    []Row
	from    string // the list that the rows are from
	options Options
	own     ownFields
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
		return errors.Join(errInvalid, err)
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
	case "metadata":
		var metadata json.RawMessage
		err := d.Decode(&metadata)
		if err == nil {
			d.options.Metadata, err = request.ParseMetadata(metadata)
		}
		return err
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
		return errInvalid
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
		if name == "items" && row.problem == nil {
			d.options.ignore(row.readOwn(&d.own, value, "items."))
		}
		d.rows = append(d.rows, row)
	}
	return d.expect(']')
}

// rowOfJSON decodes a row of one of the lists.
func rowOfJSON(list string, value json.RawMessage, number int) Row {
	row := Row{number: number}
	var into any = &row
	if list == "urls" {
		into = &row.URL
	}
	if len(value) > maxRow {
		row.problem = errRowInvalid
		return row
	}
	err := json.Unmarshal(request.PlainNumbers(value), into)
	wrongType, ok := errors.AsType[*json.UnmarshalTypeError](err)
	name := ""
	if ok {
		name = wrongType.Field[strings.LastIndex(wrongType.Field, ".")+1:] // without that of the embedded struct
	}
	switch {
	case slices.Contains(carFields, name):
		row.problem = terms.CarTypeProblem(name)
	case err != nil:
		row.problem = errRowInvalid
	}
	return row
}

// readOwn reads the own fields of a row, and returns the names of those that are ignored.
func (row *Row) readOwn(own *ownFields, value json.RawMessage, prefix string) (ignored []string) {
	row.Own, ignored = own.read(value, *row)
	for i, name := range ignored {
		ignored[i] = prefix + jsonobject.Clip(name)
	}
	slices.Sort(ignored)
	return ignored
}

// readLines decodes rows of JSON, one a line: an object, or a URL as a text. Empty
// lines are no rows; a row's number is its line.
func (req *Request) readLines(body io.Reader) error {
	own := ownFields{strict: req.strict}
	lines := bufio.NewScanner(utf8Only(body))
	lines.Buffer(nil, maxRow)
	for number := 1; lines.Scan(); number++ {
		line := bytes.TrimSpace(lines.Bytes())
		switch {
		case len(line) == 0:
			continue
		case len(req.Rows) == batch.MaxRows:
			return errTooManyRows
		}
		list := "items"
		if line[0] == '"' {
			list = "urls"
		}
		row := rowOfJSON(list, line, number)
		if row.problem == nil && list == "items" {
			req.Options.ignore(row.readOwn(&own, line, ""))
		}
		req.Rows = append(req.Rows, row)
	}
	req.Columns = own.names
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return errInvalid.WithCause(lines.Err())
	}
	return lines.Err()
}

func (d *rowDecoder) expect(want json.Delim) error {
	if token, err := d.Token(); err != nil || token != want {
		return errors.Join(errInvalid, err)
	}
	return nil
}
