package batchrequest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode"

	"ushuru/api/problem"
	"ushuru/api/terms"
	"ushuru/pkg/batch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
	"ushuru/pkg/plainjson"
)

// Row is one row before it is checked.
type Row struct {
	carRequest

	Reference string `json:"reference"`
	URL       string `json:"url"`

	// Own are the cells of the caller's own columns.
	Own []string `json:"-"`

	number  int
	sheet   string           // of a workbook
	problem *problem.Problem // what is wrong with it already; nil for nothing
}

// Check returns the rows to store. An invalid row rejects the batch, unless it is to be
// skipped. URL returns the canonical form of a listing's URL, or why it is refused.
func (req *Request) Check(url func(string) (string, error)) ([]batch.Row, error) {
	switch {
	case len(req.Rows) == 0:
		return nil, errRowsMissing
	case len(req.Rows) > batch.MaxRows:
		return nil, errTooManyRows
	}
	rows, err := req.CheckRows(&req.Options, url)
	if err != nil {
		return nil, err
	}
	if questions := req.Questions(); len(questions) > 0 {
		return nil, unitProblem(questions[0])
	}
	if p := Invalid(rows); p != nil && (!req.Options.skipsInvalid() || p.RowCount == len(rows)) {
		return nil, p
	}
	return rows, nil
}

const maxReference = 200 // bytes

// maxRejectedKept is how many invalid rows of a batch are stored in full. Of the others
// only the number is.
const maxRejectedKept = 200

// CheckRows returns the rows to store, with other options than the request's if need be.
// Invalid rows have their problem. It returns an error for a price in yen without a rate.
func (req *Request) CheckRows(options *Options, url func(string) (string, error)) ([]batch.Row, error) {
	rows, rejected := make([]batch.Row, len(req.Rows)), 0
	several := req.Table != nil && len(req.Table.Further) > 0
	for i, row := range req.Rows {
		checked, err := row.check(options, url)
		if several {
			checked.Sheet = row.sheet
		}
		switch {
		case errors.Is(err, terms.ErrYenRateMissing):
			return nil, problem.New(http.StatusBadRequest, "jpy_rate_missing", message.Values{"row": rowName(checked)})
		case err == nil:
			rows[i] = checked
			continue
		}
		if rejected++; rejected > maxRejectedKept {
			rows[i] = batch.Row{Number: row.number, Sheet: checked.Sheet, RejectReason: rowProblem(errRowNotKept)}
			continue
		}
		rows[i] = batch.Row{ // their length may be the problem
			Number: row.number, Sheet: checked.Sheet, Reference: clip(row.Reference), URL: clip(row.URL), Own: row.Own,
			RejectReason: rowProblem(err),
		}
	}
	return rows, nil
}

// rowName returns the number of a row, with its sheet if there are several.
func rowName(row batch.Row) string {
	if row.Sheet == "" {
		return strconv.Itoa(row.Number)
	}
	return fmt.Sprintf("%d (%s)", row.Number, clip(row.Sheet))
}

// check returns a row to store, with its URL or car in canonical form, or its problem.
func (row *Row) check(options *Options, url func(string) (string, error)) (checked batch.Row, err error) {
	checked = batch.Row{
		Number: row.number, Reference: row.Reference, ModelBody: row.ModelBody, Own: row.Own,
		PriceCandidates: row.PriceCandidates,
	}
	switch {
	case row.problem != nil:
		return checked, row.problem
	case len(row.Reference) > maxReference || strings.ContainsFunc(row.Reference, unicode.IsControl):
		return checked, errReferenceInvalid
	case len(row.ModelBody) > terms.MaxLabel:
		return checked, errRowLabelInvalid
	case row.URL == "" && row.isEmpty() && row.ModelBody == "":
		return checked, errRowURLMissing
	case row.URL == "":
		return checked, row.describe(&checked, options.JPYPerUSD)
	}
	if checked.URL, err = url(row.URL); err != nil {
		return checked, err
	}
	row.Known = row.addTo(row.Known, options.JPYPerUSD)
	checked.Known, err = knownOf(row.Known)
	return checked, err
}

// knownOf returns the canonical JSON of known values; nil for none.
func knownOf(values json.RawMessage) (json.RawMessage, error) {
	known, err := terms.ParseKnown(values)
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
	return &jobs.Error{Notice: p.Notice, Permanent: p.Status < http.StatusInternalServerError}
}

// clip returns the beginning of a text of an invalid row.
func clip(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), maxReference)], "")
}

// maxInvalid is the maximum number of invalid rows in a response.
const maxInvalid = 100

// Invalid returns the problem that lists the invalid rows; nil when there
// are none.
func Invalid(rows []batch.Row) *problem.Problem {
	p := *errRowsInvalid
	for _, row := range rows {
		if row.RejectReason == nil {
			continue
		}
		if p.RowCount++; p.RowCount <= maxInvalid {
			why := row.RejectReason
			p.Rows = append(p.Rows, problem.Row{
				Row: row.Number, Sheet: row.Sheet, Reference: row.Reference, URL: row.URL,
				Code: why.Code, Error: why.Message, Text: why.Text,
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
