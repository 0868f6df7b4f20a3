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

// estimateNote is the key of what an estimate is not.
const estimateNote = "layout.estimate"

// maxPictures is how many pictures a page shows of a car.
const maxPictures = 6

// yearsBeside is how many years before and after that of a car its page shows.
const yearsBeside = 2

// answer responds with what the address of an answer has: the progress of the work, its
// result, or why there is none. What was shown at the end is shown to all later visitors.
func (p *Pages) answer(w http.ResponseWriter, r *http.Request) error {
	if r.URL.Query().Has(paramChange) {
		return p.change(w, r)
	}
	found, err := p.find(r)
	if err != nil {
		return err
	}
	running, err := p.settle(r, found)
	kind := kindOf(found.Path, found.terms)
	switch {
	case err != nil:
		return err
	case running != nil:
		return p.wait(w, r, found, running)
	case found.Shown.Failed == nil && kind == kindComparison:
		return p.comparison(w, r, found)
	case frame.WantsJSON(r):
		frame.Send(w, http.StatusOK, "application/json", slices.Concat(found.Shown.Failed, found.Shown.Result))
		return nil
	case found.Shown.Failed != nil:
		return p.refusal(w, r, found)
	}
	switch kind {
	case kindSheet:
		return p.sheetReport(w, r, found)
	case kindBid:
		return p.maxPrice(w, r, found)
	case kindBill:
		return p.checkedBill(w, r, found)
	}
	return p.answerWith(w, r, found, found.terms, nil)
}

// settle stores how the work of a link ended, unless that is known, or returns its job when it has not.
func (p *Pages) settle(r *http.Request, found *link) (*job, error) {
	if found.Shown != nil {
		return nil, nil //nolint:nilnil // it has ended
	}
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
	if err := p.links.Show(ctx, found.token, found.Link, end); err != nil {
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

	found *link
	path  string // of this page
	lang  string
}

// madeOf returns what the page of a result has beside it.
func (p *Pages) madeOf(w http.ResponseWriter, r *http.Request, found *link) made {
	m := made{found: found, path: r.URL.Path, lang: p.Language(w, r), Request: found.form()}
	m.URL, m.Day = p.BaseURL(r)+found.with(m.path), localtime.Of(found.Made).Format(time.DateOnly)
	m.Old = m.Day != localtime.Of(time.Now()).Format(time.DateOnly)
	return m
}

// say returns a text of the pages in the language of the visitor.
func (m *made) say(key string, values ...any) string {
	said, _ := frame.Say(m.lang, key, values...) // a test knows that the text is there
	return said
}

// share sets what others get of the page, in the language of the visitor: lines for a messenger,
// and what it shows of the link. About is the last line, and may be empty.
func (p *Pages) share(m *made, about string, lines ...string) *frame.Preview {
	mark := "?"
	if strings.Contains(m.URL, "?") {
		mark = "&"
	}
	address := m.URL + mark + "lang=" + m.lang
	preview := &frame.Preview{Title: strings.Join(lines, " "), Description: about, URL: address}
	if p.Simulated() {
		preview.Title, lines = "SIMULATED: "+preview.Title, slices.Insert(lines, 0, m.say("layout.simulated"))
	}
	if about != "" {
		lines = append(lines, about)
	}
	text := strings.Join(append(lines, address), "\n")
	m.Share = "https://wa.me/?text=" + strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
	return preview
}

// headlineOf returns a car and its number with the range and the day in one line.
func (m *made) headlineOf(name string, sum *vehicle.Sum) string {
	if sum == nil {
		return name + "."
	}
	return m.say("answer.headline", "car", name, "total", sum.TZS, "low", sum.LowTZS, "high", sum.HighTZS, "day", m.Day)
}

// result is the page of an estimate.
type result struct {
	car
	made

	Why      figures.Grounds
	Change   changes
	Parts    []figures.Part
	Years    []yearCost
	Gravest  *figures.Minded // the one doubt beside the number; nil for none
	Minded   []figures.Minded
	Folded   []figures.Minded
	Linked   *linkedSheet
	Pictures pictures
}

// answerWith responds with an estimate, and with what the visitor has entered in the form that
// changes it. Wrong says why that does not do; nil for nothing.
func (p *Pages) answerWith(
	w http.ResponseWriter, r *http.Request, found *link, entered url.Values, wrong *problem.Problem,
) error {
	status := http.StatusOK
	view, err := p.resultOf(w, r, found)
	if err != nil {
		return err
	}
	if wrong != nil {
		wrong.SetHeader(w.Header())
		status = frame.StatusOf(wrong)
	}
	view.Change = changesOf(view, entered, wrong, view.lang)
	if view.Years, err = p.yearsOf(r, found, view); err != nil {
		return err
	}
	preview := p.share(&view.made, view.say(estimateNote), view.headline()...)
	if view.Linked != nil && view.Linked.Reading { // the page says so itself
		isUnread := func(d vehicle.Doubt) bool { return d.Code == advice.SheetNotRead }
		view.Doubts = slices.DeleteFunc(view.Doubts, isUnread)
		view.Gravest, view.Minded, view.Folded = figures.MindedOf(&view.Estimate, p.Simulated())
	}
	return p.Render(w, r, status, frame.Screen{
		Name: "answer", Body: view, SellersPictures: view.Pictures.Shown != nil, Preview: preview,
	})
}

// resultOf returns the page of an estimate.
func (p *Pages) resultOf(w http.ResponseWriter, r *http.Request, found *link) (*result, error) {
	e, err := found.estimate()
	if err != nil {
		return nil, err
	}
	view := &result{
		car: car{e}, made: p.madeOf(w, r, found), Parts: figures.PartsOf(e.Summary), Pictures: p.picturesFor(r, found, e.Car),
	}
	view.Old, view.Request = view.Old || view.hasExpired(), view.Request.ofEstimate(&e)
	view.Why = figures.GroundsOf(&e, view.Link(), view.Request.Fields.Get(fieldMatched))
	view.Linked = p.linkedSheetOf(r, found, &e, view.lang)
	view.Doubts = view.Linked.doubts(&e)
	view.Gravest, view.Minded, view.Folded = figures.MindedOf(&view.Estimate, p.Simulated())
	return view, nil
}

// paper responds with an answer on one page for the clearing agent: the customs value, the taxes,
// the authority's reference and the frame number. It folds nothing, so that it prints whole.
func (p *Pages) paper(w http.ResponseWriter, r *http.Request) error {
	view, err := p.resultAbove(w, r, "/paper")
	if err != nil {
		return err
	}
	view.Change = changesOf(view, view.found.terms, nil, view.lang)
	return p.Render(w, r, http.StatusOK, frame.Screen{Name: "paper", Body: view})
}

// doubts responds with the parts of an answer that its auction sheet changes; with none while that
// is being read.
func (p *Pages) doubts(w http.ResponseWriter, r *http.Request) error {
	view, err := p.resultAbove(w, r, "/doubts")
	if err != nil {
		return err
	}
	if view.Linked != nil && view.Linked.Reading {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	p.share(&view.made, view.say(estimateNote), view.headline()...)
	return p.Render(w, r, http.StatusOK, frame.Screen{Name: "answer", Part: "doubts", Body: view})
}

// resultAbove returns the answer that an address belongs to.
func (p *Pages) resultAbove(w http.ResponseWriter, r *http.Request, below string) (*result, error) {
	found, err := p.find(r)
	if err != nil {
		return nil, err
	}
	answer := r.Clone(r.Context()) // whose address the page has
	answer.URL.Path = strings.TrimSuffix(r.URL.Path, below)
	return p.resultOf(w, answer, found)
}

// car is an estimate as pages show it.
type car struct{ vehicle.Estimate }

// Link returns the address of the listing; "" when it is no link that a browser may follow.
func (c *car) Link() string { return frame.Followable(c.Input.URL) }

// Name returns what the car is called: TOYOTA COROLLA AXIO 2019.
func (c *car) Name() string { return frame.NameOf(named(c.Car, c.Matched.ModelBody)) }

// Given returns the price that the visitor gave; "" for that of the listing.
func (c *car) Given() string {
	price := cmp.Or(c.Car.CFPriceUSD, c.Car.FOBPriceUSD)
	if price == nil || c.Car.PriceSource() != vehicle.FromRequest {
		return ""
	}
	return frame.InDollars(price.Decimal().IntPart())
}

// SheetForm returns the address of the form that reads the auction sheet; "" without a sheet.
func (c *car) SheetForm() string {
	if c.Car.ConditionReportURL == nil || frame.Followable(*c.Car.ConditionReportURL) == "" {
		return ""
	}
	return frame.Address("/s", url.Values{"u": {*c.Car.ConditionReportURL}})
}

// hasExpired reports whether the figures are no longer kept.
func (c *car) hasExpired() bool {
	until, err := time.Parse(time.RFC3339, c.ValidUntil)
	return err == nil && time.Now().After(until)
}

// Range returns where the cost and its range lie on a bar.
func (v *result) Range() figures.Scale { return figures.ScaleOf(*v.Summary.OnTheRoad) }

// Bar returns the parts of the cost as pieces of a bar.
func (v *result) Bar() []figures.Segment { return figures.BarOf(v.Parts, figures.SumOf(v.Parts)) }

// Months returns the cost by the month of landing; nil when it is not known.
func (v *result) Months() *figures.Months { return figures.MonthsOf(v.Summary) }

// Percent returns the taxes in percent of the car and the ship; 0 when that is not known.
func (v *result) Percent() int { return *cmp.Or(v.Summary.EffectiveTaxPercent, new(int)) }

// Below returns the address of a page of the answer: the list of entries, the page for the agent.
func (v *result) Below(name string) string { return v.found.with(v.path + "/" + name) }

// Bid returns the address of the form for the highest price.
func (v *result) Bid() string {
	return frame.Address("/bid", frame.Without(v.Request.Fields, termTarget))
}

// Compare returns the address of the form that compares the car with another.
func (v *result) Compare() string {
	return frame.Address("/c", url.Values{"u1": {v.found.with(v.path)}})
}

// Bill returns the address of the form for the bill of the car; "" for a car without a listing.
func (v *result) Bill() string {
	if v.Link() == "" {
		return ""
	}
	return frame.Address("/bill", url.Values{"u": {v.Link()}})
}

// Sheet returns the address of the page of the auction sheet, or of the form that reads it; "" for
// none.
func (v *result) Sheet() string {
	if v.Linked != nil && v.Linked.Page != "" {
		return v.Linked.Page
	}
	return v.SheetForm()
}

// Message returns a message with the questions of the answer for the seller.
func (v *result) Message() string {
	car := v.Name()
	if v.Car.StockNo != "" {
		car += " (" + v.Car.StockNo + ")"
	}
	questions := make([]string, len(v.Summary.Ask))
	for i, question := range v.Summary.Ask {
		questions[i] = question.Text.EN
	}
	return sellerMessage(car, v.Input.URL, questions)
}

// sellerMessage returns a message with questions for a seller, who reads English.
func sellerMessage(car, link string, questions []string) string {
	said := message.Say("page/ask.message", message.Values{"car": car, "url": link}).EN
	lines := append(make([]string, 0, 1+len(questions)), strings.Replace(said, ": \n", ".\n", 1)) // what has no link
	for i, question := range questions {
		lines = append(lines, strconv.Itoa(i+1)+". "+question)
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// headline returns what is said of the answer elsewhere: the car and its number with the range and
// the day, whose figures it rests on, and the gravest doubt.
func (v *result) headline() []string {
	return append([]string{v.headlineOf(v.Name(), v.Summary.OnTheRoad)}, v.reserve()...)
}

// reserve returns with what figures of the visitor a number was made, and the gravest doubt.
func (v *result) reserve() (lines []string) {
	if given := v.Given(); given != "" {
		lines = append(lines, v.say("answer.given", "price", given))
	}
	if v.Changed() {
		lines = append(lines, v.say("answer.changed"))
	}
	return append(lines, v.Gravest.Lines(v.lang)...)
}

// pictures are those of the car, on its page. The visitor's browser loads them from the
// seller's site, when the visitor asks for them.
type pictures struct {
	Count int
	Shown []string // addresses
	Show  string   // query of the page that shows them
}

// picturesFor returns the pictures for a request of an answer's page.
func (p *Pages) picturesFor(r *http.Request, found *link, car vehicle.Car) pictures {
	var addresses []string
	for _, address := range car.Images {
		if p.canShow(address) && len(addresses) < maxPictures {
			addresses = append(addresses, address)
		}
	}
	if !arePicturesAsked(r) {
		return pictures{Count: len(addresses), Show: strings.TrimSuffix("?pictures=1&"+found.query, "&")}
	}
	return pictures{Count: len(addresses), Shown: addresses}
}

// arePicturesAsked reports whether the visitor has asked for the pictures on a page.
func arePicturesAsked(r *http.Request) bool { return r.URL.Query().Get("pictures") != "" }

// canShow reports whether the policy of a page that shows pictures allows an address.
func (p *Pages) canShow(address string) bool {
	at, err := url.Parse(address)
	return err == nil && at.Host != "" && (at.Scheme == "https" || at.Scheme == "http" && p.Simulated())
}

// yearCost is what a car costs if it was made in a year.
type yearCost struct {
	Year int
	Cost *vehicle.Sum // nil where the authority's answer is not known yet
	Own  bool         // it is the year of the car
}

// yearsOf returns what a car costs if it was made in a year beside its own, on the terms of the
// answer; none for a car whose cost is not known, nor beside figures of another day.
func (p *Pages) yearsOf(r *http.Request, found *link, view *result) (years []yearCost, err error) {
	if view.Summary.OnTheRoad == nil || view.Old || view.Car.Year == 0 {
		return nil, nil
	}
	label := view.Matched.ModelBody
	for year := view.Car.Year - yearsBeside; year <= min(view.Car.Year+yearsBeside, localtime.Of(found.Made).Year()); year++ {
		if year == view.Car.Year {
			years = append(years, yearCost{year, view.Summary.OnTheRoad, true})
			continue
		}
		car := view.Car
		car.Make, car.Year = view.Matched.Make, year
		costs, err := p.knownCosts(r, found, car, []string{label})
		if err != nil {
			return nil, err
		}
		other := yearCost{Year: year}
		if known := costs[label]; known.Summary != nil && known.Matched.YOM == year {
			other.Cost = known.Summary.OnTheRoad
		}
		years = append(years, other)
	}
	return years, nil
}

// maxPrice is the page of the highest price of a car.
type maxPrice struct {
	*result

	First, Second priceLimit // First is on the terms of the seller's price
	Asked         int64      // the seller's price in dollars; 0 when there is none
}

// priceLimit is the highest price on one of two terms: fob or cf.
type priceLimit struct {
	*vehicle.PriceLimits

	Basis string
}

// maxPrice responds with the highest price of a car.
func (p *Pages) maxPrice(w http.ResponseWriter, r *http.Request, found *link) error {
	estimate, err := p.resultOf(w, r, found)
	if err != nil {
		return err
	}
	if estimate.MaxPrice == nil {
		return errors.New("web: an estimate without its highest price")
	}
	view := maxPrice{
		result: estimate, First: priceLimit{estimate.MaxPrice.FOB, "fob"}, Second: priceLimit{estimate.MaxPrice.CF, "cf"},
	}
	switch car := estimate.Car; {
	case car.FOBPriceUSD != nil:
		view.Asked = car.FOBPriceUSD.Decimal().IntPart()
	case car.CFPriceUSD != nil:
		view.First, view.Second = view.Second, view.First
		view.Asked = car.CFPriceUSD.Decimal().IntPart()
	}
	preview := p.share(&view.made, view.say(estimateNote), append([]string{view.limit()}, view.reserve()...)...)
	return p.Render(w, r, http.StatusOK, frame.Screen{Name: "maxprice", Body: &view, Preview: preview})
}

// Whole returns the form of the estimate alone, which gives the whole cost.
func (v *maxPrice) Whole() form {
	f := v.Request
	if f.Action = "/go"; f.Fields.Has("make") {
		f.Action = "/hand"
	}
	return f
}

// limit returns the car with the highest price and the target in one line.
func (v *maxPrice) limit() string {
	if v.First.PriceLimits == nil || v.First.Likely == nil {
		return v.Name()
	}
	return v.say("bid.headline", "car", v.Name(), "price", frame.InDollars(*v.First.Likely), "target", v.MaxPrice.TargetTZS)
}
