package api

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/shopspring/decimal"
	"golang.org/x/text/encoding"

	"ushuru/api/described"
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

	// JPYPerUSD is how many yen a dollar is, in prices of described cars.
	JPYPerUSD *money.Number `json:"jpyPerUSD,omitempty"`

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

	OnInvalid string          `json:"onInvalid"`
	JPYPerUSD json.RawMessage `json:"jpyPerUSD"`
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

// setTerms takes over the terms of a request that are given.
func (o *batchOptions) setTerms(terms vehicle.Terms, ignored []string) {
	o.ignore(ignored)
	if terms.Landing != nil {
		o.Landing = terms.Landing
	}
	if terms.Costs != nil {
		o.Costs = terms.Costs
	}
	if terms.Target != nil {
		o.Target = terms.Target
	}
	if !terms.Rate.IsZero() {
		rate := money.NewNumber(terms.Rate)
		o.Rate = &rate
	}
}

// rowRequest is one row before it is checked.
type rowRequest struct {
	carRequest

	Reference string `json:"reference"`
	URL       string `json:"url"`

	// Own are the cells of the caller's own columns.
	Own []string `json:"-"`

	number  int
	problem *problem.Problem // what is wrong with it already; nil for nothing
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
	if req.OnInvalid != "" {
		o.OnInvalid = req.OnInvalid
	}
	if err := o.parseJPY(req.JPYPerUSD); err != nil {
		return err
	}
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

// Bounds of a rate in yen for a dollar. Since 1986 it was between 75 and 200.
const (
	minJPY = 50
	maxJPY = 500
)

// parseJPY parses the rate of yen, if it is given.
func (o *batchOptions) parseJPY(value json.RawMessage) error {
	if jsonobject.IsAbsent(value) {
		return nil
	}
	var rate money.Number
	err := json.Unmarshal(value, &rate)
	amount := rate.Decimal()
	if err != nil || amount.LessThan(decimal.NewFromInt(minJPY)) || amount.GreaterThan(decimal.NewFromInt(maxJPY)) {
		return problem.Field("jpyPerUSD", "amount", minJPY, maxJPY).WithCause(err)
	}
	o.JPYPerUSD = &rate
	return nil
}

// queryOptions parses the options in the query, where those of a table are.
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
	if err := o.parseJPY(json.RawMessage(query.Get("jpyPerUSD"))); err != nil {
		return o, err
	}
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
	if rows, err = s.checkRows(req, options); err != nil {
		return nil, err
	}
	if p := rowsProblem(rows); p != nil && (!options.skipsInvalid() || p.RowCount == len(rows)) {
		return nil, p
	}
	return rows, nil
}

// maxRejectedKept is how many invalid rows of a batch are stored in full. Of the others
// only the number is.
const maxRejectedKept = 200

// checkRows returns the rows to store. Invalid rows have their problem. It returns an
// error for a price in yen without a rate.
func (s *Server) checkRows(req []rowRequest, options *batchOptions) ([]batch.Row, error) {
	rows, rejected := make([]batch.Row, len(req)), 0
	for i, row := range req {
		checked, err := s.checkRow(row, options)
		switch {
		case errors.Is(err, errYenRateMissing):
			return nil, problem.New(http.StatusBadRequest, "jpy_rate_missing", message.Values{"row": strconv.Itoa(row.number)})
		case err == nil:
			rows[i] = checked
			continue
		}
		if rejected++; rejected > maxRejectedKept {
			rows[i] = batch.Row{Number: row.number, RejectReason: rowProblem(errRowNotKept)}
			continue
		}
		rows[i] = batch.Row{ // their length may be the problem
			Number: row.number, Reference: clip(row.Reference), URL: clip(row.URL), Own: row.Own, RejectReason: rowProblem(err),
		}
	}
	return rows, nil
}

// checkRow returns a row to store, with its URL or car in canonical form, or its problem.
func (s *Server) checkRow(row rowRequest, options *batchOptions) (checked batch.Row, err error) {
	checked = batch.Row{
		Number: row.number, Reference: row.Reference, ModelBody: row.ModelBody, Own: row.Own,
		PriceCandidates: row.PriceCandidates,
	}
	switch {
	case row.problem != nil:
		return checked, row.problem
	case len(row.Reference) > maxReference || strings.ContainsFunc(row.Reference, unicode.IsControl):
		return checked, errReferenceInvalid
	case len(row.ModelBody) > described.MaxLabel:
		return checked, errRowLabelInvalid
	case row.URL == "" && row.isEmpty() && row.ModelBody == "":
		return checked, errRowURLMissing
	case row.URL == "":
		return checked, row.describe(&checked, options.JPYPerUSD)
	}
	if checked.URL, err = s.canonicalURL(row.URL); err != nil {
		return checked, err
	}
	row.Known = row.addTo(row.Known, options.JPYPerUSD)
	checked.Known, err = knownOfRow(row)
	return checked, err
}

// knownOfRow returns the canonical JSON of a row's known values; nil for none.
func knownOfRow(row rowRequest) (json.RawMessage, error) {
	known, err := described.ParseKnown(row.Known)
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
