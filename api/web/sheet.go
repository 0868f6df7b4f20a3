package web

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/api/web/frame"
	"ushuru/api/web/links"
	"ushuru/pkg/advice"
	"ushuru/pkg/match/naming"
	"ushuru/pkg/message"
	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/render"
	"ushuru/pkg/vehicle"
)

const (
	// maxSheet is how large a file the API reads, which the browser checks before.
	maxSheet = 12 << 20
	// maxDropped is how much of a file that is refused is read: without its end many
	// browsers show no answer.
	maxDropped  = 32 << 20
	dropTimeout = 20 * time.Second
)

// uploadSheet starts the reading of a file. Nothing here keeps the file: the job that
// reads it has the one copy, and drops it when it ends.
func (p *Pages) uploadSheet(w http.ResponseWriter, r *http.Request) error {
	release, err := p.place(r)
	if err != nil {
		return err
	}
	defer release()
	return p.sendSheet(w, r)
}

// sendSheet starts the reading of the file in the form of a request. The file is not kept: its job, or
// the id of its report, stands for it.
func (p *Pages) sendSheet(w http.ResponseWriter, r *http.Request) error {
	made, err := p.upload(w, r)
	if err != nil {
		drop(w, r)
		p.countRefused(r, made, err)
		return p.refuse(w, r, err, func(said message.Text, why *problem.Problem) error {
			return p.showForm(w, r, frame.StatusOf(why), formPage{name: "sheet", Problem: said})
		})
	}
	id, _, _ := strings.Cut(made.Job, "?")
	if made.Job == "" {
		var report vehicle.ConditionReport
		if err := decode(made.shown().Result, &report); err != nil {
			return err
		}
		id = report.ID
	}
	made.Fields.Set("upload", id)
	if err := p.keep(r, made); err != nil {
		return err
	}
	address, err := p.addressOf(r.Context(), made.Path, made.token, nil)
	if err != nil {
		return err
	}
	http.Redirect(w, r, address, http.StatusSeeOther)
	return nil
}

// drop reads the rest of a body, within bounds.
func drop(w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(dropTimeout)) // a connection without deadlines needs none
	_ = control.SetWriteDeadline(time.Now().Add(dropTimeout + request.RedisTimeout))
	_, _ = io.CopyN(io.Discard, r.Body, maxDropped) // the answer is the same
}

// sheetReport is the page of a sheet that was read.
type sheetReport struct {
	made

	Name      string   // of the car; "" when it is not read
	Facts     []string // grade, mileage, code
	Listing   string   // of the car, when the sheet was held against it
	Flags     []sheet.RedFlag
	Glance    render.Section
	Sections  []render.Section // but the first and the last
	Questions render.Section
	Picture   string // of the sheet, when the visitor asks for it
	Pictured  bool   // it can be asked for
	Message   string // for the seller
	Warnings  []message.Notice
}

// sheetReport responds with the report on a sheet.
func (p *Pages) sheetReport(w http.ResponseWriter, r *http.Request, found *link) error {
	answer, report, err := reportOf(found)
	if err != nil {
		return err
	}
	m := p.madeOf(w, r, found)
	sections, err := render.Sections(report, m.lang, mismatchesOf(answer))
	if err != nil {
		return err
	}
	last := len(sections) - 1
	view := sheetReport{
		made: m, Name: sheetName(report), Facts: sheetFacts(report, m.lang), Listing: frame.Followable(answer.Listing),
		Flags: slices.SortedStableFunc(slices.Values(report.RedFlags), func(a, b sheet.RedFlag) int {
			return b.Severity.Rank() - a.Severity.Rank()
		}),
		Glance: sections[0], Sections: sections[1:last], Questions: sections[last], Warnings: p.sorted(answer.Warnings),
	}
	view.Glance.Lines = view.Glance.Lines[:max(0, len(view.Glance.Lines)-len(view.Flags))] // they stand above
	if view.Pictured = isPicture(view.Link()) && p.canShow(view.Link()); view.Pictured && arePicturesAsked(r) {
		view.Picture = view.Link()
	}
	questions := make([]string, len(report.Questions))
	for i, question := range report.Questions {
		questions[i] = question.Text.EN
	}
	view.Message = sellerMessage(view.Name, view.Listing, questions)
	headline := strings.TrimPrefix(strings.Join(append([]string{view.Name}, view.Facts...), " · "), " · ")
	preview := p.share(&view.made, strings.Join(view.Glance.Lines, " "), headline)
	return p.Render(w, r, http.StatusOK, frame.Screen{
		Name: "report", Body: &view, SellersPictures: view.Picture != "", Preview: preview,
	})
}

// Link returns the address of the sheet; "" for a file.
func (v *sheetReport) Link() string { return frame.Followable(v.found.Fields.Get("u")) }

// Map returns the address of the drawing of the damage.
func (v *sheetReport) Map() string { return v.path + "/map.svg?lang=" + v.lang }

// sorted returns the warnings that are raised before the others. The banner says already that figures
// are simulated.
func (p *Pages) sorted(warnings []message.Notice) []message.Notice {
	warnings = slices.DeleteFunc(message.Limit(slices.Clone(warnings)), func(w message.Notice) bool {
		return w.Code == "simulated" && p.Simulated()
	})
	isOther := func(w message.Notice) int {
		if w.Level == message.Danger || w.Level == message.Caution {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(warnings, func(a, b message.Notice) int { return isOther(a) - isOther(b) })
	return warnings
}

// reportOf returns what the API said of a sheet.
func reportOf(found *link) (answer vehicle.ConditionReport, report *sheet.Report, err error) {
	if err := decode(found.shown().Result, &answer); err != nil {
		return answer, nil, err
	}
	report = &sheet.Report{}
	if err := json.Unmarshal(answer.Report, report); err != nil {
		return answer, nil, errors.Join(errors.New("web: a report without what was read"), err)
	}
	return answer, report, nil
}

// mismatchesOf returns in what the sheet and its listing differ; nil without a listing.
func mismatchesOf(answer vehicle.ConditionReport) []sheet.Mismatch {
	if answer.Listing == "" {
		return nil
	}
	list := []sheet.Mismatch{}
	for _, m := range answer.Mismatches {
		list = append(list, sheet.Mismatch(m))
	}
	return list
}

// sheetName returns the name of the car on a sheet.
func sheetName(report *sheet.Report) string {
	for _, name := range []*string{report.Vehicle.Name, report.Vehicle.NameJP, report.Vehicle.ChassisCode} {
		if name != nil && *name != "" {
			return strings.Join(naming.Latin(strings.Fields(*name)), " ")
		}
	}
	return ""
}

// sheetFacts returns what stands beside the name.
func sheetFacts(report *sheet.Report, lang string) (facts []string) {
	if code := report.Vehicle.ChassisCode; code != nil && *code != sheetName(report) {
		facts = append(facts, *code)
	}
	if grade := report.Grades.OverallRaw; grade != nil {
		if said, err := frame.Say(lang, "report.grade", "grade", *grade); err == nil {
			facts = append(facts, said)
		}
	}
	if km := report.Mileage.ValueKM; km != nil {
		facts = append(facts, "km "+frame.Whole(int64(*km)))
	}
	return facts
}

// isPicture reports whether a sheet may be a picture: it has a link, and is no PDF. A file
// that was sent is not kept, and has no link.
func isPicture(link string) bool {
	at, err := url.Parse(link)
	return err == nil && frame.Followable(link) != "" && !strings.EqualFold(path.Ext(at.Path), ".pdf")
}

// damageMap responds with the drawing of the damage that a sheet reports.
func (p *Pages) damageMap(w http.ResponseWriter, r *http.Request) error {
	found, err := p.find(r)
	if err != nil {
		return err
	}
	_, report, err := reportOf(found)
	if err != nil {
		return err
	}
	// A browser that opens the drawing as a page may apply its styles, nothing else.
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'")
	frame.Send(w, http.StatusOK, "image/svg+xml; charset=utf-8", render.Map(report, p.Language(w, r)))
	return nil
}

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
