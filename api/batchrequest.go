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
)

const (
	// maxBatchBody is room for batch.MaxRows addresses of 800 bytes.
	maxBatchBody = 8 << 20

	maxReference = 200 // bytes
)

// batchRequest is what POST /v1/batches takes. Rows are read one by one, so that one
// that cannot be read is reported with its number.
type batchRequest struct {
	URLs    []json.RawMessage `json:"urls"`
	Items   []json.RawMessage `json:"items"`
	Options json.RawMessage   `json:"options"`
	Webhook string            `json:"webhook"`
}

// batchOptions are what a caller may ask for all rows of a batch.
type batchOptions struct {
	OnInvalid string        `json:"onInvalid,omitempty"` // reject or skip
	Rate      *money.Number `json:"rate,omitempty"`      // shillings for a dollar
	// Webhook is the address to tell of the end. It stands beside the options.
	Webhook string `json:"-"`
}

// skip reports whether the good rows are to be taken when others are not.
func (o batchOptions) skip() bool { return o.OnInvalid == "skip" }

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
	number    int
	unread    bool // it is no row at all
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
		return rowsOfJSON(data)
	}
	options, err := optionsOf(r)
	if err != nil {
		return nil, options, err
	}
	rows, err := rowsOfCSV(data)
	return rows, options, err
}

func rowsOfJSON(data []byte) ([]rowRequest, batchOptions, error) {
	var (
		handed  batchRequest
		options batchOptions
	)
	if err := json.Unmarshal(data, &handed); err != nil || len(handed.URLs) > 0 && len(handed.Items) > 0 {
		return nil, options, errInvalidBatch.withCause(err)
	}
	if handed.Options != nil {
		if err := json.Unmarshal(handed.Options, &options); err != nil {
			return nil, options, errOptionInvalid.withCause(err)
		}
	}
	options.Webhook = handed.Webhook
	if err := options.check(); err != nil {
		return nil, options, err
	}
	rows := make([]rowRequest, 0, len(handed.URLs)+len(handed.Items))
	for i, url := range handed.URLs {
		row := rowRequest{number: i + 1}
		row.unread = json.Unmarshal(url, &row.URL) != nil
		rows = append(rows, row)
	}
	for i, item := range handed.Items {
		row := rowRequest{}
		row.unread = json.Unmarshal(item, &row) != nil
		row.number = i + 1
		rows = append(rows, row)
	}
	return rows, options, nil
}

// optionsOf reads the options from the query, where a table has them.
func optionsOf(r *http.Request) (o batchOptions, err error) {
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

// rowsOfCSV reads a table with a header: url, and perhaps reference and
// modelBody, in any order, beside other columns. Values stand between commas,
// semicolons (where a comma is the decimal mark) or tabs, whichever the header
// has. A row's number is its line in the file.
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
	place := map[string]int{}
	for i, name := range names {
		place[strings.ToLower(strings.TrimSpace(name))] = i
	}
	if _, ok := place["url"]; !ok {
		return nil, errCSVHeaderMissing
	}
	var rows []rowRequest
	for {
		cells, err := table.Read()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		cell := func(name string) string {
			if i, ok := place[name]; ok && i < len(cells) {
				return strings.TrimSpace(cells[i])
			}
			return ""
		}
		row := rowRequest{URL: cell("url"), Reference: cell("reference"), ModelBody: cell("modelbody"), unread: err != nil}
		if broken, ok := errors.AsType[*csv.ParseError](err); ok {
			row.number = broken.StartLine
		} else {
			row.number, _ = table.FieldPos(0)
		}
		if rows = append(rows, row); len(rows) > batch.MaxRows {
			return rows, nil // too many, whatever follows
		}
	}
}

// checkRows makes rows of a batch of what was handed in. Bad ones say why.
func (s *Server) checkRows(handed []rowRequest) []batch.Row {
	rows := make([]batch.Row, len(handed))
	for i, h := range handed {
		rows[i] = batch.Row{Number: h.number, Reference: h.Reference, URL: h.URL, ModelBody: h.ModelBody}
		url, err := s.checkRow(h)
		if err != nil {
			rows[i].RejectReason = rowProblem(err)
			// What is wrong with them may be their length.
			rows[i].Reference, rows[i].URL, rows[i].ModelBody = clip(h.Reference), clip(h.URL), ""
			continue
		}
		rows[i].URL = url
	}
	return rows
}

func (s *Server) checkRow(h rowRequest) (url string, err error) {
	switch {
	case h.unread:
		return "", errRowInvalid
	case h.URL == "":
		return "", errRowURLMissing
	case len(h.Reference) > maxReference || strings.ContainsFunc(h.Reference, unicode.IsControl):
		return "", errReferenceInvalid
	case len(h.ModelBody) > maxModelBody:
		return "", errRowLabelInvalid
	}
	return s.canonicalURL(h.URL)
}

func rowProblem(err error) *jobs.Error {
	var p *problem
	if !errors.As(err, &p) {
		p = errInternal
	}
	return &jobs.Error{Code: p.code, Message: p.message}
}

func clip(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), maxReference)], "")
}

// invalidRow is a row that cannot be taken, and why.
type invalidRow struct {
	Row       int    `json:"row"`
	Reference string `json:"reference,omitempty"`
	URL       string `json:"url,omitempty"`
	Code      string `json:"code"`
	Error     string `json:"error"`
}

// maxInvalid is how many bad rows an answer lists.
const maxInvalid = 100

// invalid returns the error that lists the rejected rows, nil when there are
// none.
func invalid(rows []batch.Row) *problem {
	p := *errRowsInvalid
	for _, row := range rows {
		if row.RejectReason == nil {
			continue
		}
		if p.invalidCount++; p.invalidCount <= maxInvalid {
			p.invalid = append(p.invalid, invalidRow{row.Number, row.Reference, row.URL, row.RejectReason.Code, row.RejectReason.Message})
		}
	}
	if p.invalidCount == 0 {
		return nil
	}
	p.message = fmt.Sprintf(p.message, p.invalidCount, len(rows))
	return &p
}
