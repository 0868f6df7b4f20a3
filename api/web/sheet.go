package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/api/web/frame"
	"ushuru/pkg/match/naming"
	"ushuru/pkg/message"
	"ushuru/pkg/plainjson"
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

// sheetForm is the form for an auction sheet: its link, or a photo or PDF of it.
type sheetForm struct {
	URL     string
	Problem message.Text // why that is no answer; empty for none
}

// Most returns how large a file may be.
func (sheetForm) Most() int { return maxSheet }

// sheet responds with the form. A link in the query fills it.
func (p *Pages) sheet(w http.ResponseWriter, r *http.Request) error {
	return p.Render(w, r, http.StatusOK, sheetScreen(sheetForm{URL: linkIn(r.URL.Query().Get("u"))}))
}

func sheetScreen(body sheetForm) frame.Screen {
	return frame.Screen{Name: "sheet", Title: "sheet.title", Body: body}
}

// submitSheet starts the reading of a sheet, and leads to its page.
func (p *Pages) submitSheet(w http.ResponseWriter, r *http.Request) error {
	if mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err == nil && mediaType == "multipart/form-data" {
		return p.uploadSheet(w, r)
	}
	if err := frame.ParseForm(w, r); err != nil {
		return err
	}
	link := typedLink(r.PostForm, "u")
	if link == "" {
		missing := sheetForm{Problem: message.Say("page/sheet.no_link", nil)}
		return p.Render(w, r, http.StatusUnprocessableEntity, sheetScreen(missing))
	}
	request, err := plainjson.Encode(map[string]any{"url": link})
	if err != nil {
		return err
	}
	return p.begin(w, r, work{path: pathReport, body: request}, func(said message.Text, _ *problem.Problem) frame.Screen {
		return sheetScreen(sheetForm{URL: link, Problem: said})
	})
}

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

// sendSheet starts the reading of the file in the form of a request.
func (p *Pages) sendSheet(w http.ResponseWriter, r *http.Request) error {
	begun, err := p.api.upload(r.Context(), w, r, pathReport)
	if err != nil {
		drop(w, r)
		p.countRefused(r, work{path: pathReport}, err)
		return p.refuse(w, r, err, func(said message.Text, _ *problem.Problem) frame.Screen {
			return sheetScreen(sheetForm{Problem: said})
		})
	}
	body, err := uploaded(begun)
	if err != nil {
		return err
	}
	address, err := p.lead(r, work{path: pathReport, body: body}, begun)
	if err != nil {
		return err
	}
	http.Redirect(w, r, address, http.StatusSeeOther)
	return nil
}

// uploaded returns what stands for the request of a file, which is not kept: its job, or
// the id of its report.
func uploaded(begun started) ([]byte, error) {
	id, _, _ := strings.Cut(begun.job, "?")
	if begun.result != nil {
		var report vehicle.ConditionReport
		if err := json.Unmarshal(begun.result, &report); err != nil {
			return nil, fmt.Errorf("web: report: %w", err)
		}
		id = report.ID
	}
	return plainjson.Encode(map[string]any{"upload": id})
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
	Link      string   // of the sheet; "" for a file
	Listing   string   // of the car, when the sheet was held against it
	Flags     []sheet.RedFlag
	Glance    render.Section
	Sections  []render.Section // but the first and the last
	Questions render.Section
	Map       string
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
	lang := p.Language(w, r)
	sections, err := render.Sections(report, lang, mismatchesOf(answer))
	if err != nil {
		return err
	}
	last := len(sections) - 1
	view := sheetReport{
		Name: sheetName(report), Facts: sheetFacts(report, lang), Listing: frame.Followable(answer.Listing),
		Flags: slices.SortedStableFunc(slices.Values(report.RedFlags), func(a, b sheet.RedFlag) int {
			return b.Severity.Rank() - a.Severity.Rank()
		}),
		Glance: sections[0], Sections: sections[1:last], Questions: sections[last], Map: r.URL.Path + "/map.svg?lang=" + lang,
	}
	view.Glance.Lines = view.Glance.Lines[:max(0, len(view.Glance.Lines)-len(view.Flags))] // they stand above
	if view.made, err = p.madeOf(r, found); err != nil {
		return err
	}
	view.Link = frame.Followable(view.Request.URL)
	if view.Pictured = isPicture(view.Link) && p.canShow(view.Link); view.Pictured && arePicturesAsked(r) {
		view.Picture = view.Link
	}
	view.Warnings = slices.Concat(sorted(answer.Warnings, p.Simulated()))
	questions := make([]string, len(report.Questions))
	for i, question := range report.Questions {
		questions[i] = question.Text.EN
	}
	if view.Message, err = sellerMessage(view.Name, view.Listing, questions); err != nil {
		return err
	}
	headline := strings.TrimPrefix(strings.Join(append([]string{view.Name}, view.Facts...), " · "), " · ")
	if err := view.share(lang, strings.Join(view.Glance.Lines, " "), headline); err != nil {
		return err
	}
	return p.Render(w, r, http.StatusOK, frame.Screen{
		Name: "report", Title: view.Name, Body: view, SellersPictures: view.Picture != "", Preview: view.Preview,
	})
}

// reportOf returns what the API said of a sheet.
func reportOf(found *link) (answer vehicle.ConditionReport, report *sheet.Report, err error) {
	if found.Shown == nil || found.Shown.Result == nil {
		return answer, nil, errUnknown
	}
	if err := json.Unmarshal(found.Shown.Result, &answer); err != nil {
		return answer, nil, fmt.Errorf("web: report: %w", err)
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
		list = append(list, sheet.Mismatch{Field: m.Field, Sheet: m.Sheet, Listing: m.Listing, YearBasis: m.YearBasis})
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
