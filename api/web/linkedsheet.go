package web

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"ushuru/api/request"
	"ushuru/api/web/frame"
	"ushuru/api/web/links"
	"ushuru/pkg/advice"
	"ushuru/pkg/message"
	"ushuru/pkg/sheet"
	"ushuru/pkg/vehicle"
)

// linkedSheet is the auction sheet that the page of a car links to. The AI reads it after the
// number is known, which does not wait for it.
type linkedSheet struct {
	Page    string       // address of its own page; "" when it has none
	Reading bool         // the AI has not finished
	Facts   string       // grade, mileage, code
	Failed  message.Text // why it was not read; empty when it was, or is being read

	report *sheet.Report // nil until it is read
}

// linkedSheetOf returns the sheet that the listing of an answer links to, as far as it is read; nil
// for a listing without one, and where no AI reads any. The number of the answer stands whatever
// becomes of its sheet.
func (p *Pages) linkedSheetOf(r *http.Request, found *link, e *vehicle.Estimate, lang string) *linkedSheet {
	if found.Path != pathEstimate || (&car{*e}).SheetForm() == "" {
		return nil
	}
	read, err := p.readLinked(r, found, e, lang)
	if err == nil {
		return read
	}
	why := p.LogFailure(r, err)
	switch why.Code {
	case "no_ai":
		return nil
	case errUnknown.Code: // the job that has just begun is gone
		why = request.ErrUnavailable
	}
	return &linkedSheet{Failed: sentenceOf(why)}
}

// readLinked returns the sheet of a listing, as far as it is read. The first visitor of the answer
// starts the job that reads it; later visitors start another only when that job is gone.
func (p *Pages) readLinked(r *http.Request, found *link, e *vehicle.Estimate, lang string) (*linkedSheet, error) {
	wanted := &link{Link: links.Link{Path: pathReport, Fields: url.Values{"u": {*e.Car.ConditionReportURL}}}}
	token, err := p.tokenOf(r.Context(), found.Network, pathReport, wanted.Fields, found.Made)
	if err != nil {
		return nil, err
	}
	wanted.token, wanted.Network = token, found.Network
	var read *linkedSheet
	of, err := p.linkAt(r.Context(), token)
	if err == nil {
		read, err = p.linkedSheetIn(r, of, lang)
	}
	switch {
	case !errors.Is(err, errUnknown):
		return read, err
	case (&car{*e}).hasExpired():
		return nil, nil //nolint:nilnil // a sheet that nobody has read for these figures
	}
	if err = p.begin(r.Context(), wanted, later); err == nil {
		err = p.links.Put(r.Context(), token, wanted.Link)
	}
	if err != nil {
		return nil, err
	}
	return p.linkedSheetIn(r, wanted, lang)
}

// linkedSheetIn returns the sheet of a link, as far as it is read; errUnknown when its job is gone.
func (p *Pages) linkedSheetIn(r *http.Request, of *link, lang string) (*linkedSheet, error) {
	page := "/s/" + of.token
	running, err := p.settle(r, of)
	if err != nil {
		return nil, err
	}
	if running != nil {
		return &linkedSheet{Page: page, Reading: true}, nil
	}
	if of.Shown.Failed != nil {
		why, err := of.failure()
		switch {
		case err != nil:
			return nil, err
		case why.Code == "no_ai":
			return nil, nil //nolint:nilnil // no AI reads sheets here
		case why.Code == errUnknown.Code:
			return nil, errUnknown
		}
		return &linkedSheet{Failed: frame.TextOf(frame.NoticeOf(why))}, nil
	}
	_, report, err := reportOf(of)
	if err != nil {
		return nil, err
	}
	return &linkedSheet{Page: page, Facts: strings.Join(sheetFacts(report, lang), " · "), report: report}, nil
}

// IsRead reports whether the sheet was read; false without one.
func (s *linkedSheet) IsRead() bool { return s != nil && s.report != nil }

// doubts returns the doubts about a car with those of its sheet.
func (s *linkedSheet) doubts(e *vehicle.Estimate) []vehicle.Doubt {
	if !s.IsRead() {
		return e.Doubts
	}
	return advice.Doubts(*e, s.condition(e))
}

// condition returns what the sheet says of the condition of a car; nil for a sheet that is not read.
func (s *linkedSheet) condition(e *vehicle.Estimate) *advice.Condition {
	if !s.IsRead() {
		return nil
	}
	return advice.NewCondition(s.report, sheet.Compare(s.report, e.Car))
}
