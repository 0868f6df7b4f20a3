package web

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"ushuru/api/request"
	"ushuru/api/web/frame"
	"ushuru/pkg/advice"
	"ushuru/pkg/message"
	"ushuru/pkg/plainjson"
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
	if found.Path != pathEstimate || sheetURL(e.Car) == "" {
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
// starts the reading. It starts again when its job is gone; else nobody starts it a second time.
func (p *Pages) readLinked(r *http.Request, found *link, e *vehicle.Estimate, lang string) (*linkedSheet, error) {
	body, err := plainjson.Encode(map[string]any{"url": *e.Car.ConditionReportURL})
	if err != nil {
		return nil, err
	}
	token, err := p.tokenOf(r.Context(), found.Network, pathReport, body, found.Made)
	if err != nil {
		return nil, err
	}
	page := "/s/" + token
	of, err := p.linkAt(r.Context(), token)
	if err == nil {
		read, err := p.linkedSheetIn(r, of, page, lang)
		if !errors.Is(err, errUnknown) {
			return read, err
		}
	} else if !errors.Is(err, errUnknown) {
		return nil, err
	}
	if hasExpired(*e) {
		return nil, nil //nolint:nilnil // a sheet that nobody has read for these figures
	}
	if of, err = p.startReading(r, token, found.Network, body); err != nil {
		return nil, err
	}
	return p.linkedSheetIn(r, of, page, lang)
}

// startReading has the AI read a sheet, whose page has a token of a network.
func (p *Pages) startReading(r *http.Request, token, network string, body []byte) (*link, error) {
	begun, err := p.api.start(r.Context(), pathReport, body, later)
	if err != nil {
		return nil, err
	}
	made := linkTo(work{path: pathReport, body: body}, begun)
	made.Network, made.token = network, token
	return &made, p.links.Put(r.Context(), token, made.Link)
}

// linkedSheetIn returns the sheet of a link, as far as it is read; errUnknown when its job is gone.
func (p *Pages) linkedSheetIn(r *http.Request, of *link, page, lang string) (*linkedSheet, error) {
	if of.Shown == nil {
		current, err := p.settle(r, of.token, of)
		if err != nil {
			return nil, err
		}
		if current != nil {
			return &linkedSheet{Page: page, Reading: true}, nil
		}
	}
	if of.Shown.Failed != nil {
		var why vehicle.Error
		if err := json.Unmarshal(of.Shown.Failed, &why); err != nil {
			return nil, fmt.Errorf("web: error of a sheet: %w", err)
		}
		switch why.Code {
		case "no_ai":
			return nil, nil //nolint:nilnil // no AI reads sheets here
		case errUnknown.Code:
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

// doubts returns the doubts about a car with those of its sheet.
func (s *linkedSheet) doubts(e *vehicle.Estimate) []vehicle.Doubt {
	if s == nil || s.report == nil {
		return e.Doubts
	}
	return advice.Doubts(*e, advice.NewCondition(s.report, sheet.Compare(s.report, e.Car)))
}

// sheetLink returns the address of the page of the sheet, or of the form that reads it.
func (v *result) sheetLink() string {
	if v.Linked == nil {
		return sheetURL(v.Car)
	}
	return cmp.Or(v.Linked.Page, sheetURL(v.Car))
}
