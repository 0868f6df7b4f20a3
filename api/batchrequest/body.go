// Package batchrequest reads requests for batches: JSON, lines of JSON, CSV, workbooks and
// forms with one of them, and checks their rows.
package batchrequest

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/encoding"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/api/terms"
	"ushuru/pkg/batch"
	"ushuru/pkg/jsonobject"
	"ushuru/pkg/lot"
	"ushuru/pkg/money"
)

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

const (
	// maxBody allows for batch.MaxRows URLs of 800 bytes.
	maxBody = 8 << 20
	// maxOptions is the maximum size of the options in a form in bytes.
	maxOptions = 64 << 10
	// maxIgnored is how many names of fields that do not exist are remembered.
	maxIgnored = jsonobject.MaxNames
)

// What is wrong with a batch, or with a row of it.
var (
	errInvalid              = problem.BadRequest("invalid_batch")
	errOptionInvalid        = problem.BadRequest("option_invalid").Of("options")
	errCSVHeaderMissing     = problem.BadRequest("csv_header_missing")
	errRowsMissing          = problem.BadRequest("rows_missing")
	errTooManyRows          = problem.BadRequest("too_many_rows")
	errRowsInvalid          = problem.BadRequest("rows_invalid")
	errRowInvalid           = problem.BadRequest("row_invalid")
	errRowCells             = problem.BadRequest("row_invalid.cells")
	errFormInvalid          = problem.BadRequest("form_invalid.batch")
	errTableUnreadable      = problem.BadRequest("table_unreadable")
	errTableOldExcel        = problem.BadRequest("table_unreadable.old_excel")
	errCharset              = problem.BadRequest("invalid_batch.charset")
	errTableTooLarge        = problem.New(http.StatusRequestEntityTooLarge, "table_too_large", nil)
	errRowURLMissing        = problem.BadRequest("url_missing.row")
	errReferenceInvalid     = problem.BadRequest("reference_invalid")
	errRowLabelInvalid      = problem.BadRequest("field_invalid.row_label")
	errUnsupportedMediaType = problem.New(http.StatusUnsupportedMediaType, "unsupported_media_type.batch", nil)
	errRowNotKept           = problem.New(http.StatusBadRequest, "row_invalid.not_kept", problem.AtMost(maxRejectedKept))
	errInternal             = problem.New(http.StatusInternalServerError, "internal", nil)
)

// Request is a request for a batch as it was read.
type Request struct {
	Rows    []Row
	Options Options
	Table   *Table   // nil of JSON
	Columns []string // names of the caller's own columns or fields

	// Language is a JSON object with the field lang of a JSON body, if there is one.
	Language []byte
	DryRun   bool

	mapped  []string       // parameters column=NAME=FIELD, which give columns of a table to fields
	columns []*lot.Columns // of each sheet; nil of JSON
	strict  bool
}

// Read reads the rows and options of a request. The options in the query hold for
// every body; those of a JSON body outrank them. Of a strict request all fields of JSON that
// are not known are ignored ones. A request that cannot be read has a problem.
func Read(w http.ResponseWriter, r *request.Request) (*Request, error) {
	req := &Request{strict: r.Strict}
	kind, charset := bodyJSON, ""
	if contentType := r.Header.Get("Content-Type"); contentType != "" {
		mediaType, params, err := mime.ParseMediaType(contentType)
		if kind = bodyKinds[mediaType]; err != nil || kind == "" {
			return req, errUnsupportedMediaType
		}
		charset = params["charset"]
	}
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") ||
		kind != bodyTable && charset != "" && !strings.EqualFold(charset, "utf-8") {
		return req, errUnsupportedMediaType
	}
	if err := req.parseQuery(r.URL.Query()); err != nil {
		return req, err
	}
	body := &trackedBody{Reader: http.MaxBytesReader(w, r.Body, maxBody)}
	if err := req.read(r, body, kind, charset); err != nil {
		return req, body.problem(err)
	}
	return req, nil
}

// read reads the rows of the body of a request, or of the file in a form.
func (req *Request) read(r *request.Request, body io.Reader, kind, charset string) error {
	if kind == bodyForm {
		return req.readForm(r, body)
	}
	if kind != bodyTable && req.mapped != nil {
		req.Options.ignore([]string{"column"}) // fields have their own names
	}
	switch kind {
	case bodyJSON:
		return (&jsonBody{Decoder: json.NewDecoder(utf8Only(body)), Request: req}).decode()
	case bodyLines:
		return req.readLines(body)
	}
	mapping, wrong, ok := lot.ParseMapping(req.mapped)
	if !ok {
		return problem.Field(clip(wrong), "column")
	}
	data, err := request.UpTo(body, maxBody, r.ContentLength)
	if err != nil {
		return err
	}
	return req.readTable(data, charset, mapping)
}

// trackedBody is a body whose error is remembered: a decoder may hide it.
type trackedBody struct {
	io.Reader
	err error
}

func (b *trackedBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}

// problem returns the problem of a body whose rows could not be read.
func (b *trackedBody) problem(err error) error {
	if b.err != nil {
		return request.BodyProblem(b.err, problem.BodyTooLarge(maxBody), request.ErrUnreadable)
	}
	if known, ok := errors.AsType[*problem.Problem](err); ok && !errors.Is(err, encoding.ErrInvalidUTF8) {
		return known
	}
	return errInvalid.WithCause(err)
}

// readForm reads a form with the file, and options in the form of the field of JSON
// before it or behind it.
func (req *Request) readForm(r *request.Request, body io.Reader) error {
	var found bool
	var refused error // of a part, where other errors are those of the form
	r.Body = io.NopCloser(body)
	err := request.EachPart(r.Request, func(part *multipart.Part) error {
		switch name := part.FormName(); {
		case name == "file" && found:
			refused = errFormInvalid
		case name == "file":
			found = true
			kind, charset := kindOfPart(part)
			refused = req.read(r, part, kind, charset)
		case name == "options":
			var options []byte
			if options, refused = io.ReadAll(io.LimitReader(part, maxOptions)); refused == nil {
				refused = req.Options.parse(options)
			}
		}
		return refused
	})
	switch {
	case refused != nil:
		return refused
	case err != nil:
		return errFormInvalid.WithCause(err)
	case !found:
		return errFormInvalid
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

// parseQuery parses the query: the options, where those of a table are, and what columns mean.
func (req *Request) parseQuery(query url.Values) (err error) {
	req.mapped = query["column"]
	tags, err := request.TagsOf(query)
	if err != nil {
		return err
	}
	fields, err := terms.OfQuery(query)
	if err != nil {
		return err
	}
	if req.DryRun, err = request.Flag(query, "dryRun"); err != nil {
		return err
	}
	req.Options.Webhook, req.Options.Metadata = tags.Webhook, tags.Metadata
	return req.Options.take(optionsRequest{fields, query.Get("onInvalid"), json.RawMessage(query.Get("jpyPerUSD"))})
}

// Identity returns what makes requests differ.
func (req *Request) Identity() any {
	identity := []any{req.Rows, req.own(), req.Options, req.Options.Webhook}
	if req.Table == nil && req.Columns != nil {
		identity = append(identity, req.Columns)
	}
	if req.Options.Metadata != nil {
		identity = append(identity, req.Options.Metadata)
	}
	return identity
}

// own returns the caller's own cells of all rows.
func (req *Request) own() (cells [][]string) {
	if !slices.ContainsFunc(req.Rows, func(row Row) bool { return row.Own != nil }) {
		return nil
	}
	for _, row := range req.Rows {
		cells = append(cells, row.Own)
	}
	return cells
}

// Options are the options of all rows of a batch.
type Options struct {
	batch.Terms

	OnInvalid string `json:"onInvalid,omitempty"` // reject or skip

	// Webhook is the URL that is notified when the batch ends, or the id of one of the
	// caller's webhooks. In the body it is beside the options, as the metadata are.
	Webhook  string            `json:"-"`
	Metadata map[string]string `json:"-"`

	// Ignored are fields that do not exist.
	Ignored []string `json:"-"`
}

// optionsRequest are the options as the field "options" of JSON has them.
type optionsRequest struct {
	terms.Request

	OnInvalid string          `json:"onInvalid"`
	JPYPerUSD json.RawMessage `json:"jpyPerUSD"`
}

// skipsInvalid reports whether the valid rows are processed when others are
// invalid.
func (o *Options) skipsInvalid() bool { return o.OnInvalid == "skip" }

// take takes over the options that a request names.
func (o *Options) take(req optionsRequest) error {
	given, ignored, err := req.Parse(time.Now())
	switch {
	case errors.Is(err, terms.ErrRateInvalid), !slices.Contains([]string{"", "reject", "skip"}, req.OnInvalid):
		return errOptionInvalid.WithCause(err)
	case err != nil:
		return err
	}
	yen, err := terms.ParseYenRate(req.JPYPerUSD)
	if err != nil {
		return err
	}
	o.ignore(ignored)
	if given.ByMonth {
		o.ignore([]string{"options.byMonth"}) // a row has one landing
	}
	o.OnInvalid, o.JPYPerUSD = cmp.Or(req.OnInvalid, o.OnInvalid), cmp.Or(yen, o.JPYPerUSD)
	o.Landing, o.Costs, o.Target = cmp.Or(given.Landing, o.Landing), cmp.Or(given.Costs, o.Costs), cmp.Or(given.Target, o.Target)
	if !given.Rate.IsZero() {
		rate := money.NewNumber(given.Rate)
		o.Rate = &rate
	}
	return nil
}

// parse parses the field "options" of a JSON body.
func (o *Options) parse(data json.RawMessage) error {
	var req optionsRequest
	if err := json.Unmarshal(data, &req); err != nil {
		return errOptionInvalid.WithCause(err)
	}
	o.ignore(jsonobject.Unknown("options.", data, req))
	return o.take(req)
}

// ignore remembers the names of some fields that do not exist, each once.
func (o *Options) ignore(names []string) {
	for _, name := range names {
		if len(o.Ignored) < maxIgnored && !slices.Contains(o.Ignored, name) {
			o.Ignored = append(o.Ignored, name)
		}
	}
}
