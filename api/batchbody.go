package api

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"ushuru/api/problem"
	"ushuru/pkg/lot"
)

// batchRequest is a request for a batch as it was read.
type batchRequest struct {
	rows    []rowRequest
	options batchOptions
	table   *tableBody // nil of JSON
}

// The kinds of bodies.
const (
	bodyJSON  = "json"
	bodyLines = "ndjson"
	bodyTable = "table"
	bodyForm  = "form"
)

// bodyKinds are the media types of bodies. Excel on Windows names CSV by the type of its
// own old workbooks; what a table is, its bytes say.
var bodyKinds = map[string]string{
	"application/json":          bodyJSON,
	"application/x-ndjson":      bodyLines,
	"application/ndjson":        bodyLines,
	"application/jsonl":         bodyLines,
	"application/x-jsonlines":   bodyLines,
	"text/csv":                  bodyTable,
	"application/csv":           bodyTable,
	"text/tab-separated-values": bodyTable,
	"application/vnd.ms-excel":  bodyTable,
	"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": bodyTable,
	"multipart/form-data": bodyForm,
}

// readBatch reads the rows and options of a request. The options in the query hold for
// every body; those of a JSON body outrank them.
func readBatch(w http.ResponseWriter, r *http.Request) (req batchRequest, err error) {
	kind, charset := bodyJSON, ""
	if contentType := r.Header.Get("Content-Type"); contentType != "" {
		mediaType, params, err := mime.ParseMediaType(contentType)
		if kind = bodyKinds[mediaType]; err != nil || kind == "" {
			return req, errBatchUnsupportedMediaType
		}
		charset = params["charset"]
	}
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") ||
		kind != bodyTable && charset != "" && !strings.EqualFold(charset, "utf-8") {
		return req, errBatchUnsupportedMediaType
	}
	if req.options, err = queryOptions(r); err != nil {
		return req, err
	}
	body := &trackedBody{Reader: http.MaxBytesReader(w, r.Body, maxBatchBody)}
	if kind == bodyForm {
		err = req.readForm(r, body)
	} else {
		err = req.read(r, body, kind, charset, r.ContentLength)
	}
	if err != nil {
		return req, body.problem(err)
	}
	return req, req.options.check()
}

// read reads the rows of a body or of a file in a form. Size is -1 when it is not known.
func (req *batchRequest) read(r *http.Request, body io.Reader, kind, charset string, size int64) error {
	switch kind {
	case bodyJSON:
		d := newRowDecoder(body)
		d.options = req.options
		if err := d.decode(); err != nil {
			return err
		}
		req.rows, req.options = d.rows, d.options
		return recorderOf(r).setBodyLanguage(d.language)
	case bodyLines:
		rows, ignored, err := rowsOfLines(body)
		req.rows = rows
		req.options.ignore(ignored)
		return err
	}
	mapping, err := columnMapping(r.URL.Query())
	if err != nil {
		return err
	}
	data, err := readUpTo(body, maxBatchBody, size)
	if err != nil {
		return err
	}
	req.rows, req.table, err = readTable(data, charset, mapping)
	return err
}

// readForm reads a form with the file, and options in the form of the field of JSON
// before it or behind it.
func (req *batchRequest) readForm(r *http.Request, body io.Reader) error {
	_, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return errBatchFormInvalid.WithCause(err)
	}
	parts, found := multipart.NewReader(body, params["boundary"]), false
	for range maxFormParts {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return errBatchFormInvalid.WithCause(err)
		}
		switch part.FormName() {
		case "file":
			if found {
				return errBatchFormInvalid
			}
			found = true
			kind, charset := kindOfPart(part)
			err = req.read(r, part, kind, charset, r.ContentLength)
		case "options":
			var options []byte
			if options, err = io.ReadAll(io.LimitReader(part, maxBody)); err == nil {
				err = req.options.parse(options)
			}
		}
		if err != nil {
			return err
		}
	}
	if !found {
		return errBatchFormInvalid
	}
	return nil
}

// kindOfPart returns what the file of a form is: JSON by its type or name, else a table.
func kindOfPart(part *multipart.Part) (kind, charset string) {
	mediaType, params, err := mime.ParseMediaType(part.Header.Get("Content-Type"))
	name := strings.ToLower(part.FileName())
	switch {
	case err == nil && (bodyKinds[mediaType] == bodyJSON || bodyKinds[mediaType] == bodyLines):
		return bodyKinds[mediaType], ""
	case strings.HasSuffix(name, ".json"):
		return bodyJSON, ""
	case strings.HasSuffix(name, ".ndjson"), strings.HasSuffix(name, ".jsonl"):
		return bodyLines, ""
	}
	return bodyTable, params["charset"]
}

// columnMapping parses the parameters column=NAME=FIELD, which give columns to fields.
func columnMapping(query url.Values) (lot.Mapping, error) {
	mapping := lot.Mapping{}
	for _, text := range query["column"] {
		i := strings.LastIndex(text, "=")
		if i <= 0 {
			return nil, problem.Field(clip(text), "column")
		}
		mapping[text[:i]] = text[i+1:]
	}
	if field := mapping.Check(); field != "" {
		return nil, problem.Field(clip(field), "column")
	}
	return mapping, nil
}

// own returns the caller's own cells of all rows, for what makes requests differ.
func (req *batchRequest) own() (cells [][]string) {
	if !slices.ContainsFunc(req.rows, func(row rowRequest) bool { return row.Own != nil }) {
		return nil
	}
	for _, row := range req.rows {
		cells = append(cells, row.Own)
	}
	return cells
}
