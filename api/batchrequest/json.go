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

// jsonBody decodes a JSON body of a batch as a stream, so that its memory is that of
// the rows, and stops at the first row too many.
type jsonBody struct {
	*json.Decoder
	*Request

	from string // the list that the rows are from
}

// decode decodes exactly one object.
func (d *jsonBody) decode() error {
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
func (d *jsonBody) field(field string) error {
	switch name := strings.ToLower(field); name {
	case "urls", "items":
		return d.list(name)
	case "webhook":
		return d.Decode(&d.Options.Webhook)
	case "metadata":
		var metadata json.RawMessage
		err := d.Decode(&metadata)
		if err == nil {
			d.Options.Metadata, err = request.ParseMetadata(metadata)
		}
		return err
	case "lang":
		var lang json.RawMessage
		err := d.Decode(&lang)
		d.Language = slices.Concat([]byte(`{"lang":`), lang, []byte("}"))
		return err
	case "options":
		var options json.RawMessage
		if err := d.Decode(&options); err != nil {
			return err
		}
		return d.Options.parse(options)
	}
	d.Options.ignore([]string{jsonobject.Clip(field)})
	return d.Decode(&jsonobject.Skipped{})
}

// list decodes rows one by one, so that a malformed one is reported with its number.
func (d *jsonBody) list(name string) error {
	open, err := d.Token()
	if err != nil || open == nil {
		return err
	}
	if open != json.Delim('[') || len(d.Rows) > 0 && d.from != name {
		return errInvalid
	}
	d.Rows, d.from = nil, name
	for d.More() {
		if len(d.Rows) == batch.MaxRows {
			return errTooManyRows
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		d.addJSON(name, "items.", value, len(d.Rows)+1)
	}
	return d.expect(']')
}

// addJSON adds a row of one of the lists behind the rows before it. Before the names of its
// fields that are ignored a prefix is said.
func (req *Request) addJSON(list, prefix string, value json.RawMessage, number int) {
	row := rowOfJSON(list, value, number)
	if list == "items" && row.problem == nil {
		var ignored []string
		row.Own, ignored = req.readOwn(value, row)
		for i, name := range ignored {
			ignored[i] = prefix + jsonobject.Clip(name)
		}
		slices.Sort(ignored)
		req.Options.ignore(ignored)
	}
	req.Rows = append(req.Rows, row)
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

// readLines decodes rows of JSON, one a line: an object, or a URL as a text. Empty
// lines are no rows; a row's number is its line.
func (req *Request) readLines(body io.Reader) error {
	lines := bufio.NewScanner(utf8Only(body))
	lines.Buffer(nil, maxRow)
	for number := 1; lines.Scan(); number++ {
		line, list := bytes.TrimSpace(lines.Bytes()), "items"
		switch {
		case len(line) == 0:
			continue
		case len(req.Rows) == batch.MaxRows:
			return errTooManyRows
		case line[0] == '"':
			list = "urls"
		}
		req.addJSON(list, "", line, number)
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return errInvalid.WithCause(lines.Err())
	}
	return lines.Err()
}

func (d *jsonBody) expect(want json.Delim) error {
	if token, err := d.Token(); err != nil || token != want {
		return errors.Join(errInvalid, err)
	}
	return nil
}

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
