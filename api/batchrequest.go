package api

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"ushuru/pkg/batch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/money"
	"ushuru/pkg/plainjson"
)

const (
	// maxBatchBody allows for batch.MaxRows URLs of 800 bytes.
	maxBatchBody = 8 << 20

	maxReference = 200 // bytes
)

// batchRequest is the body of POST /v1/batches. Rows are decoded one by one, so
// that a malformed row is reported with its number.
type batchRequest struct {
	URLs    []json.RawMessage `json:"urls"`
	Items   []json.RawMessage `json:"items"`
	Options json.RawMessage   `json:"options"`
	Webhook string            `json:"webhook"`
}

// batchOptions are the options of all rows of a batch.
type batchOptions struct {
	OnInvalid string        `json:"onInvalid,omitempty"` // reject or skip
	Rate      *money.Number `json:"rate,omitempty"`      // shillings for a dollar
	// Webhook is the URL that is notified when the batch ends. In the body it is
	// beside the options.
	Webhook string `json:"-"`
}

// skipsInvalid reports whether the valid rows are processed when others are
// invalid.
func (o batchOptions) skipsInvalid() bool { return o.OnInvalid == "skip" }

func (o batchOptions) check() error {
	if !slices.Contains([]string{"", "reject", "skip"}, o.OnInvalid) {
		return errOptionInvalid
	}
	if o.Rate != nil && !isRate(o.Rate.Decimal()) {
		return errOptionInvalid
	}
	return nil
}

// rowRequest is one row before it is checked.
type rowRequest struct {
	Reference string `json:"reference"`
	URL       string `json:"url"`
	ModelBody string `json:"modelBody"`

	Known     json.RawMessage `json:"known"`
	number    int
	malformed bool // it is not a row at all
}

// readBatch reads the rows and options of a request, in JSON or CSV.
func readBatch(w http.ResponseWriter, r *http.Request) ([]rowRequest, batchOptions, error) {
	isCSV := false
	if mediaType, params, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err == nil && mediaType == "text/csv" {
		charset, given := params["charset"]
		if given && !strings.EqualFold(charset, "utf-8") {
			return nil, batchOptions{}, errBatchUnsupportedMediaType
		}
		isCSV = true
	} else if !isPlainJSON(r.Header) {
		return nil, batchOptions{}, errBatchUnsupportedMediaType
	}
	data, err := readText(w, r, maxBatchBody, errInvalidBatch)
	if err != nil {
		return nil, batchOptions{}, err
	}
	if !isCSV {
		if err := recorderOf(r).setBodyLanguage(data); err != nil {
			return nil, batchOptions{}, err
		}
		return rowsOfJSON(data)
	}
	options, err := queryOptions(r)
	if err != nil {
		return nil, options, err
	}
	rows, err := rowsOfCSV(data)
	return rows, options, err
}

// rowsOfJSON decodes the rows and options of a JSON body.
func rowsOfJSON(data []byte) ([]rowRequest, batchOptions, error) {
	var (
		req     batchRequest
		options batchOptions
	)
	if err := json.Unmarshal(data, &req); err != nil || len(req.URLs) > 0 && len(req.Items) > 0 {
		return nil, options, errInvalidBatch.withCause(err)
	}
	if req.Options != nil {
		if err := json.Unmarshal(req.Options, &options); err != nil {
			return nil, options, errOptionInvalid.withCause(err)
		}
	}
	options.Webhook = req.Webhook
	if err := options.check(); err != nil {
		return nil, options, err
	}
	rows := make([]rowRequest, 0, len(req.URLs)+len(req.Items))
	for i, url := range req.URLs {
		row := rowRequest{number: i + 1}
		row.malformed = json.Unmarshal(url, &row.URL) != nil
		rows = append(rows, row)
	}
	for i, item := range req.Items {
		row := rowRequest{}
		row.malformed = json.Unmarshal(item, &row) != nil
		row.number = i + 1
		rows = append(rows, row)
	}
	return rows, options, nil
}

// queryOptions parses the options of a table, which are in the query.
func queryOptions(r *http.Request) (o batchOptions, err error) {
	query := r.URL.Query()
	o.OnInvalid, o.Webhook = query.Get("onInvalid"), query.Get("webhook")
	if text := query.Get("rate"); text != "" {
		rate, err := money.ParseNumber(text)
		if err != nil {
			return o, errOptionInvalid.withCause(err)
		}
		o.Rate = &rate
	}
	return o, o.check()
}

// rowsOfCSV parses a table with a header: url, and optionally reference and
// modelBody, in any order, beside other columns. The separator is a comma, a
// semicolon (where a comma is the decimal mark) or a tab: the first of them
// that is in the header. A row's number is its line in the file.
func rowsOfCSV(data []byte) ([]rowRequest, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	header, _, _ := bytes.Cut(bytes.TrimLeft(data, "\r\n"), []byte("\n"))
	table := csv.NewReader(bytes.NewReader(data))
	table.FieldsPerRecord = -1
	table.TrimLeadingSpace = true
	for _, separator := range ",;\t" {
		if bytes.ContainsRune(header, separator) {
			table.Comma = separator
			break
		}
	}
	names, err := table.Read()
	if err != nil {
		return nil, errCSVHeaderMissing.withCause(err)
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
		cells, err := table.Read()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		cell := func(name string) string {
			if i, ok := columns[name]; ok && i < len(cells) {
				return strings.TrimSpace(cells[i])
			}
			return ""
		}
		row := rowRequest{URL: cell("url"), Reference: cell("reference"), ModelBody: cell("modelbody"), malformed: err != nil}
		if broken, ok := errors.AsType[*csv.ParseError](err); ok {
			row.number = broken.StartLine
		} else {
			row.number, _ = table.FieldPos(0)
		}
		if rows = append(rows, row); len(rows) > batch.MaxRows {
			return rows, nil // too many already
		}
	}
}

// batchRows checks the rows and the webhook of a batch, and returns the rows to
// store. An invalid row rejects the batch, unless it is to be skipped.
func (s *Server) batchRows(req []rowRequest, options *batchOptions) (rows []batch.Row, err error) {
	switch {
	case len(req) == 0:
		return nil, errRowsMissing
	case len(req) > batch.MaxRows:
		return nil, errTooManyRows
	}
	if options.Webhook != "" {
		if options.Webhook, err = s.webhookURL(options.Webhook); err != nil {
			return nil, err
		}
	}
	rows = s.checkRows(req)
	if p := rowsProblem(rows); p != nil && (!options.skipsInvalid() || p.invalidCount == len(rows)) {
		return nil, p
	}
	return rows, nil
}

// checkRows returns the rows to store. Invalid rows have their problem.
func (s *Server) checkRows(req []rowRequest) []batch.Row {
	rows := make([]batch.Row, len(req))
	for i, row := range req {
		rows[i] = batch.Row{Number: row.number, Reference: row.Reference, URL: row.URL, ModelBody: row.ModelBody}
		url, err := s.checkRow(row)
		if err == nil {
			rows[i].Known, err = knownOfRow(row)
		}
		if err != nil {
			rows[i].RejectReason = rowProblem(err)
			// Their length may be the problem.
			rows[i].Reference, rows[i].URL, rows[i].ModelBody = clip(row.Reference), clip(row.URL), ""
			continue
		}
		rows[i].URL = url
	}
	return rows
}

// checkRow returns the canonical URL of a row, or its problem.
func (s *Server) checkRow(row rowRequest) (url string, err error) {
	switch {
	case row.malformed:
		return "", errRowInvalid
	case row.URL == "":
		return "", errRowURLMissing
	case len(row.Reference) > maxReference || strings.ContainsFunc(row.Reference, unicode.IsControl):
		return "", errReferenceInvalid
	case len(row.ModelBody) > maxModelBody:
		return "", errRowLabelInvalid
	}
	return s.canonicalURL(row.URL)
}

// knownOfRow returns the canonical JSON of a row's known values; nil for none.
func knownOfRow(row rowRequest) (json.RawMessage, error) {
	known, err := parseKnown(row.Known)
	if err != nil || known == nil {
		return nil, err
	}
	return plainjson.Encode(known)
}

// rowProblem returns the error that is stored with an invalid row.
func rowProblem(err error) *jobs.Error {
	var p *problem
	if !errors.As(err, &p) {
		p = errInternal
	}
	return &jobs.Error{Code: p.code, Message: p.message}
}

// clip returns the beginning of a text of an invalid row.
func clip(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), maxReference)], "")
}

// invalidRow is a row that was rejected, and its problem.
type invalidRow struct {
	Row       int    `json:"row"`
	Reference string `json:"reference,omitempty"`
	URL       string `json:"url,omitempty"`
	Code      string `json:"code"`
	Error     string `json:"error"`
}

// maxInvalid is the maximum number of invalid rows in a response.
const maxInvalid = 100

// rowsProblem returns the problem that lists the invalid rows; nil when there
// are none.
func rowsProblem(rows []batch.Row) *problem {
	p := *errRowsInvalid
	for _, row := range rows {
		if row.RejectReason == nil {
			continue
		}
		if p.invalidCount++; p.invalidCount <= maxInvalid {
			why := row.RejectReason
			p.invalid = append(p.invalid, invalidRow{row.Number, row.Reference, row.URL, why.Code, why.Message})
		}
	}
	if p.invalidCount == 0 {
		return nil
	}
	p.message = fmt.Sprintf(p.message, p.invalidCount, len(rows))
	return &p
}
