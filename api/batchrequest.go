package api

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/encoding"

	"ushuru/api/problem"
	"ushuru/api/terms"
	"ushuru/pkg/batch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/jsonobject"
	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/vehicle"
)

const (
	// maxBatchBody allows for batch.MaxRows URLs of 800 bytes.
	maxBatchBody = 8 << 20

	maxReference = 200 // bytes
)

// batchOptions are the options of all rows of a batch.
type batchOptions struct {
	OnInvalid string `json:"onInvalid,omitempty"` // reject or skip

	Rate    *money.Number        `json:"rate,omitempty"` // shillings for a dollar
	Landing *vehicle.LandingDays `json:"landing,omitempty"`
	Costs   *vehicle.Costs       `json:"costs,omitempty"`
	Target  *vehicle.Target      `json:"target,omitempty"`

	// Webhook is the URL that is notified when the batch ends. In the body it is
	// beside the options.
	Webhook string `json:"-"`

	ignored []string // fields that do not exist
}

// optionsRequest is the field "options".
type optionsRequest struct {
	terms.Request

	OnInvalid string `json:"onInvalid"`
}

// skipsInvalid reports whether the valid rows are processed when others are
// invalid.
func (o *batchOptions) skipsInvalid() bool { return o.OnInvalid == "skip" }

func (o *batchOptions) check() error {
	if !slices.Contains([]string{"", "reject", "skip"}, o.OnInvalid) {
		return errOptionInvalid
	}
	return nil
}

// setTerms takes over the terms of a request.
func (o *batchOptions) setTerms(terms vehicle.Terms, ignored []string) {
	o.Landing, o.Costs, o.Target = terms.Landing, terms.Costs, terms.Target
	o.ignore(ignored)
	if !terms.Rate.IsZero() {
		rate := money.NewNumber(terms.Rate)
		o.Rate = &rate
	}
}

// rowRequest is one row before it is checked.
type rowRequest struct {
	Reference string `json:"reference"`
	URL       string `json:"url"`
	ModelBody string `json:"modelBody"`

	Known           json.RawMessage `json:"known"`
	PriceCandidates bool            `json:"priceCandidates"`

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
	body := &trackedBody{Reader: http.MaxBytesReader(w, r.Body, maxBatchBody)}
	rows, options, err := readRows(r, body, isCSV)
	if err != nil {
		return nil, options, body.problem(err)
	}
	return rows, options, nil
}

// readRows reads the rows and options of a body as a stream.
func readRows(r *http.Request, body io.Reader, isCSV bool) (rows []rowRequest, options batchOptions, err error) {
	if !isCSV {
		d := newRowDecoder(body)
		if err = d.decode(); err != nil {
			return nil, d.options, err
		}
		if err = recorderOf(r).setBodyLanguage(d.language); err != nil {
			return nil, d.options, err
		}
		return d.rows, d.options, d.options.check()
	}
	if options, err = queryOptions(r); err != nil {
		return nil, options, err
	}
	rows, err = rowsOfCSV(body)
	return rows, options, err
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
	var (
		known    *problem.Problem
		tooLarge *http.MaxBytesError
	)
	switch {
	case errors.As(b.err, &known):
		return known
	case errors.As(b.err, &tooLarge):
		return problem.BodyTooLarge(maxBatchBody)
	case b.err != nil:
		return unreadable(b.err, errBodyUnreadable)
	case errors.As(err, &known) && !errors.Is(err, encoding.ErrInvalidUTF8):
		return known
	}
	return errInvalidBatch.WithCause(err)
}

// parse parses the field "options" of a JSON body.
func (o *batchOptions) parse(data json.RawMessage) error {
	var req optionsRequest
	if err := json.Unmarshal(data, &req); err != nil {
		return errOptionInvalid.WithCause(err)
	}
	parsed, ignored, err := req.Parse(time.Now())
	if errors.Is(err, terms.ErrRateInvalid) {
		return errOptionInvalid.WithCause(err)
	}
	o.OnInvalid = req.OnInvalid
	o.ignore(jsonobject.Unknown("options.", data, req))
	o.setTerms(parsed, ignored)
	return err
}

// ignore remembers the names of some fields that do not exist, each once.
func (o *batchOptions) ignore(names []string) {
	for _, name := range names {
		if len(o.ignored) <= maxIgnored && !slices.Contains(o.ignored, name) {
			o.ignored = append(o.ignored, name)
		}
	}
}

// queryOptions parses the options of a table, which are in the query.
func queryOptions(r *http.Request) (o batchOptions, err error) {
	query := r.URL.Query()
	o.OnInvalid, o.Webhook = query.Get("onInvalid"), query.Get("webhook")
	parsed, ignored, err := terms.ParseQuery(query, time.Now())
	if errors.Is(err, terms.ErrRateInvalid) {
		return o, errOptionInvalid.WithCause(err)
	}
	if err != nil {
		return o, err
	}
	o.setTerms(parsed, ignored)
	return o, o.check()
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
	if p := rowsProblem(rows); p != nil && (!options.skipsInvalid() || p.RowCount == len(rows)) {
		return nil, p
	}
	return rows, nil
}

// maxRejectedKept is how many invalid rows of a batch are stored in full. Of the others
// only the number is.
const maxRejectedKept = 200

// checkRows returns the rows to store. Invalid rows have their problem.
func (s *Server) checkRows(req []rowRequest) []batch.Row {
	rows, rejected := make([]batch.Row, len(req)), 0
	for i, row := range req {
		rows[i] = batch.Row{
			Number: row.number, Reference: row.Reference, URL: row.URL, ModelBody: row.ModelBody,
			PriceCandidates: row.PriceCandidates,
		}
		url, err := s.checkRow(row)
		if err == nil {
			rows[i].Known, err = knownOfRow(row)
		}
		if err != nil {
			if rejected++; rejected > maxRejectedKept {
				rows[i] = batch.Row{Number: row.number, RejectReason: rowProblem(errRowNotKept)}
				continue
			}
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
	var p *problem.Problem
	if !errors.As(err, &p) {
		p = errInternal
	}
	return &jobs.Error{Notice: p.Notice}
}

// clip returns the beginning of a text of an invalid row.
func clip(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), maxReference)], "")
}

// maxInvalid is the maximum number of invalid rows in a response.
const maxInvalid = 100

// rowsProblem returns the problem that lists the invalid rows; nil when there
// are none.
func rowsProblem(rows []batch.Row) *problem.Problem {
	p := *errRowsInvalid
	for _, row := range rows {
		if row.RejectReason == nil {
			continue
		}
		if p.RowCount++; p.RowCount <= maxInvalid {
			why := row.RejectReason
			p.Rows = append(p.Rows, problem.Row{
				Row: row.Number, Reference: row.Reference, URL: row.URL, Code: why.Code, Error: why.Message, Text: why.Text,
			})
		}
	}
	if p.RowCount == 0 {
		return nil
	}
	counts := message.Values{"invalid": strconv.Itoa(p.RowCount), "rows": strconv.Itoa(len(rows))}
	p.Notice = message.New("error/rows_invalid", counts)
	return &p
}
