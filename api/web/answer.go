package web

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/mux"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/api/web/figures"
	"ushuru/api/web/frame"
	"ushuru/api/web/links"
	"ushuru/pkg/advice"
	"ushuru/pkg/localtime"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// answer responds with what the address of an answer has: the progress of the work, its
// result, or why there is none. What was shown at the end is shown to all later visitors.
func (p *Pages) answer(w http.ResponseWriter, r *http.Request) error {
	if r.URL.Query().Has(paramChange) {
		return p.change(w, r)
	}
	token := mux.Vars(r)["token"]
	found, err := p.find(r)
	if err != nil {
		return err
	}
	if found.Shown == nil {
		current, err := p.settle(r, token, found)
		if err != nil {
			return err
		}
		if current != nil {
			return p.wait(w, r, found, current)
		}
	}
	if found.Shown.Failed != nil {
		return p.refusal(w, r, found)
	}
	kind := kindOf(found.Path, found.terms)
	if kind == kindComparison {
		return p.comparison(w, r, found)
	}
	if frame.WantsJSON(r) {
		frame.Send(w, http.StatusOK, "application/json", found.Shown.Result)
		return nil
	}
	switch kind {
	case kindSheet:
		return p.sheetReport(w, r, found)
	case kindBid:
		return p.maxPrice(w, r, found)
	case kindBill:
		return p.checkedBill(w, r, found)
	}
	return p.result(w, r, found)
}

// settle stores how the work of a link ended, or returns its job when it has not.
func (p *Pages) settle(r *http.Request, token string, found *link) (*job, error) {
	ctx := r.Context()
	var current job
	err := p.api.Get(ctx, found.Job, &current)
	var why *problem.Problem
	switch {
	case errors.As(err, &why) && why.Status == http.StatusNotFound: // it ended long ago, and its page was not opened since
		expired := errUnknown.Body()
		current.Error = &expired
	case err != nil:
		return nil, err
	case !current.hasEnded():
		return &current, nil
	}
	end := links.Shown{Result: current.Result}
	if found.Path == pathBill && current.Error == nil {
		if end.Result, err = p.judgeBill(ctx, found); err != nil {
			return nil, err
		}
	}
	if current.Error != nil {
		if end.Failed, err = json.Marshal(current.Error); err != nil {
			return nil, fmt.Errorf("web: error of a job: %w", err)
		}
	}
	if err := p.links.Show(ctx, token, &found.Link, end); err != nil {
		return nil, request.ErrUnavailable.WithCause(err)
	}
	found.Shown = &end
	p.countAnswered(found, &current)
	return nil, p.price(r, found)
}

// made is what the pages of all results have.
type made struct {
	URL     string // of this page, for others
	Request form   // what gave the result
	Day     string // of the figures
	Old     bool   // they may be others now
	Share   string // address that opens WhatsApp
	Preview *frame.Preview

	simulated bool
}

// madeOf returns what the page of a result has beside it.
func (p *Pages) madeOf(r *http.Request, found *link) (m made, err error) {
	if m.Request, err = formOf(found); err != nil {
		return m, err
	}
	const days = time.DateOnly
	m.URL, m.Day = p.BaseURL(r)+found.with(r.URL.Path), found.Made.In(localtime.Zone).Format(days)
	m.Old = m.Day != time.Now().In(localtime.Zone).Format(days)
	m.simulated = p.Simulated()
	return m, nil
}

// share sets what others get of the page, in the language of the visitor: lines for a messenger,
// and what it shows of the link. About is the last line, and may be empty.
func (m *made) share(lang, about string, lines ...string) error {
	mark := "?"
	if strings.Contains(m.URL, "?") {
		mark = "&"
	}
	address := m.URL + mark + "lang=" + lang
	m.Preview = &frame.Preview{Title: strings.Join(lines, " "), Description: about, URL: address}
	if m.simulated {
		said, err := frame.Say(lang, "layout.simulated")
		if err != nil {
			return err
		}
		m.Preview.Title, lines = "SIMULATED: "+m.Preview.Title, slices.Insert(lines, 0, said)
	}
	if about != "" {
		lines = append(lines, about)
	}
	text := strings.Join(append(lines, address), "\n")
	m.Share = "https://wa.me/?text=" + strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
	return nil
}

// estimateNote says what an estimate is not.
var estimateNote = message.Say("page/layout.estimate", nil)

// result is the page of an estimate.
type result struct {
	vehicle.Estimate
	made

	Link     string // of the listing; "" when it is no link that a browser may follow
	Name     string // TOYOTA COROLLA AXIO 2019
	Facts    string // HYBRID G · NKE165
	Range    figures.Scale
	Why      figures.Grounds
	Change   changes
	Parts    []figures.Part
	Bar      []figures.Segment
	Months   *figures.Months
	Years    []yearCost
	Gravest  *figures.Minded // the one doubt beside the number; nil for none
	Minded   []figures.Minded
	Folded   []figures.Minded
	Choose   string // address of the list of the authority's entries
	Paper    string // address of the page for the clearing agent
	Bid      string // address of the form for the highest price
	Compare  string // address of the form that compares it with another car
	Linked   *linkedSheet
	Look     string // address of what the sheet changes on the page, once it is read
	Sheet    string // address of the page of its auction sheet, or of the form for it; "" without one
	Bill     string // address of the form for its bill; "" for a car without a listing
	Message  string // for the seller
	Percent  int    // taxes in percent of the car and the ship; 0 when that is not known
	HasCost  bool
	Given    string // price that the visitor gave; "" for the listing's
	Pictures pictures

	terms url.Values
	path  string // of the answer's address
}

// result responds with an estimate.
func (p *Pages) result(w http.ResponseWriter, r *http.Request, found *link) error {
	return p.answerWith(w, r, found, found.terms, nil)
}

// answerWith responds with an estimate, and with what the visitor has entered in the form that
// changes it. Wrong says why that does not do; nil for nothing.
func (p *Pages) answerWith(
	w http.ResponseWriter, r *http.Request, found *link, entered url.Values, wrong *problem.Problem,
) error {
	lang, status := p.Language(w, r), http.StatusOK
	view, err := p.resultOf(r, found, lang)
	if err != nil {
		return err
	}
	view.Change = changesOf(&view, entered, lang)
	view.Change.Open = entered.Has(paramChange)
	if wrong != nil {
		wrong.SetHeader(w.Header())
		status = statusOf(wrong)
		view.Change.refuse(wrong)
	}
	if view.Years, err = p.yearsOf(r, found, &view); err != nil {
		return err
	}
	if err := view.share(lang, estimateNote.In(lang), view.headline(lang)...); err != nil {
		return err
	}
	if view.Linked != nil && view.Linked.Reading { // the page says so itself
		isUnread := func(d vehicle.Doubt) bool { return d.Code == advice.SheetNotRead }
		view.Doubts = slices.DeleteFunc(view.Doubts, isUnread)
		view.Gravest, view.Minded, view.Folded = figures.MindedOf(&view.Estimate, p.Simulated())
	}
	return p.Render(w, r, status, frame.Screen{
		Name: "answer", Title: view.Name, Body: &view, SellersPictures: view.Pictures.Shown != nil, Preview: view.Preview,
	})
}

// resultOf returns the page of an estimate.
func (p *Pages) resultOf(r *http.Request, found *link, lang string) (view result, err error) {
	if err := json.Unmarshal(found.Shown.Result, &view.Estimate); err != nil {
		return view, fmt.Errorf("web: estimate: %w", err)
	}
	if view.Summary == nil || view.DriveAway == nil {
		return view, errors.New("web: an estimate without its summary")
	}
	if view.made, err = p.madeOf(r, found); err != nil {
		return view, err
	}
	view.Old, view.terms, view.path = view.Old || hasExpired(view.Estimate), found.terms, r.URL.Path
	if found.Path == pathQuote {
		view.Car.Source = vehicle.FromRequest
	}
	view.Given = givenPrice(view.Car)
	view.Request = view.Request.ofEstimate(&view.Estimate)
	view.Link, view.Facts = frame.Followable(view.Input.URL), frame.FactsOf(view.Car, lang)
	view.Name = frame.NameOf(named(view.Car, view.Matched.ModelBody))
	view.Why = figures.GroundsOf(&view.Estimate, view.Link, view.Request.fields[fieldMatched])
	view.Choose, view.Bid = found.with(r.URL.Path+"/choose"), view.Request.at("/bid", "target")
	view.Compare = "/c?" + url.Values{"u1": {found.with(r.URL.Path)}}.Encode()
	view.Paper, view.Look = found.with(r.URL.Path+"/paper"), found.with(r.URL.Path+"/doubts")
	if view.Link != "" {
		view.Bill = "/bill?" + url.Values{"u": {view.Link}}.Encode()
	}
	view.Linked = p.linkedSheetOf(r, found, &view.Estimate, lang)
	view.Doubts, view.Sheet = view.Linked.doubts(&view.Estimate), view.sheetLink()
	if view.HasCost = view.Summary.OnTheRoad != nil; view.HasCost {
		view.Range = figures.ScaleOf(*view.Summary.OnTheRoad)
	}
	if percent := view.Summary.EffectiveTaxPercent; percent != nil {
		view.Percent = *percent
	}
	view.Pictures = p.picturesFor(r, found, view.Car)
	view.Parts = figures.PartsOf(view.Summary)
	view.Months = figures.MonthsOf(view.Summary)
	view.Bar = figures.BarOf(view.Parts, figures.SumOf(view.Parts))
	view.Gravest, view.Minded, view.Folded = figures.MindedOf(&view.Estimate, p.Simulated())
	view.Message, err = view.askSeller()
	return view, err
}

// askSeller returns a message with the questions of an answer for its seller.
func (v *result) askSeller() (string, error) {
	questions := make([]string, len(v.Summary.Ask))
	for i, question := range v.Summary.Ask {
		questions[i] = question.Text.EN
	}
	car := v.Name
	if v.Car.StockNo != "" {
		car += " (" + v.Car.StockNo + ")"
	}
	return sellerMessage(car, v.Input.URL, questions)
}

// givenPrice returns the price that the visitor gave; "" for that of the listing.
func givenPrice(car vehicle.Car) string {
	price := cmp.Or(car.CFPriceUSD, car.FOBPriceUSD)
	if price == nil || car.PriceSource() != vehicle.FromRequest {
		return ""
	}
	return frame.InDollars(price.Decimal().IntPart())
}

// sheetURL returns the address of the form that reads the auction sheet of a car; ""
// without a sheet.
func sheetURL(car vehicle.Car) string {
	if car.ConditionReportURL == nil || frame.Followable(*car.ConditionReportURL) == "" {
		return ""
	}
	return "/s?" + url.Values{"u": {*car.ConditionReportURL}}.Encode()
}

// sellerMessage returns a message with questions for a seller, who reads English.
func sellerMessage(car, link string, questions []string) (string, error) {
	said, err := frame.Say(message.English, "ask.message", "car", car, "url", link)
	if err != nil {
		return "", err
	}
	lines := []string{strings.Replace(said, ": \n", ".\n", 1)} // what has no link
	for i, question := range questions {
		lines = append(lines, strconv.Itoa(i+1)+". "+question)
	}
	return strings.TrimSpace(strings.Join(lines, "\n")), nil
}

// headline returns what is said of the answer elsewhere: the car and its number with the range and
// the day, whose figures it rests on, and the gravest doubt.
func (v *result) headline(lang string) (lines []string) {
	return append([]string{headlineOf(lang, v.Name, v.Summary.OnTheRoad, v.Day)}, v.reserve(lang)...)
}

// headlineOf returns a car and its number with the range and the day in one line.
func headlineOf(lang, name string, sum *vehicle.Sum, day string) string {
	if sum != nil {
		said, err := frame.Say(lang, "answer.headline",
			"car", name, "total", sum.TZS, "low", sum.LowTZS, "high", sum.HighTZS, "day", day)
		if err == nil {
			return said
		}
	}
	return name + "."
}

// reserve returns with what figures of the visitor a number was made, and the gravest doubt.
func (v *result) reserve(lang string) (lines []string) {
	say := func(key string, values ...any) {
		if line, err := frame.Say(lang, key, values...); err == nil {
			lines = append(lines, line)
		}
	}
	if v.Given != "" {
		say("answer.given", "price", v.Given)
	}
	if v.Changed() {
		say("answer.changed")
	}
	return append(lines, v.Gravest.Lines(lang)...)
}

// hasExpired reports whether the figures of an estimate are no longer kept.
func hasExpired(estimate vehicle.Estimate) bool {
	until, err := time.Parse(time.RFC3339, estimate.ValidUntil)
	return err == nil && time.Now().After(until)
}

// sorted returns the warnings that everybody sees and those that are folded. The banner
// says already that figures are simulated.
func sorted(warnings []message.Notice, simulated bool) (shown, more []message.Notice) {
	for _, w := range message.Limit(slices.Clone(warnings)) {
		switch {
		case w.Code == "simulated" && simulated:
		case w.Level == message.Danger || w.Level == message.Caution:
			shown = append(shown, w)
		default:
			more = append(more, w)
		}
	}
	return shown, more
}
