package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"ushuru/api/problem"
	"ushuru/api/web/figures"
	"ushuru/api/web/frame"
	"ushuru/pkg/advice"
	"ushuru/pkg/localtime"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// pair is the form for two cars. Each field takes what names a car: the link of a listing, a name,
// a chassis number, or the address of an answer.
type pair struct {
	Sides   [2]side
	Problem message.Text // why that is no answer; empty for none
}

// side is one of two cars.
type side struct {
	Field string // u1 or u2
	Typed string // what the visitor entered
	Wrong bool   // it is to blame
	Car   string // name of the car that the answer is about; "" for what is no answer

	answer *link // nil for what is no address of an answer
}

// compare responds with the form for two cars. Those in the query fill it.
func (p *Pages) compare(w http.ResponseWriter, r *http.Request) error {
	view, err := p.pairOf(r, r.URL.Query())
	if err != nil {
		return err
	}
	return p.showPair(w, r, http.StatusOK, view)
}

// submitCompare starts what is needed for the answers about two cars, and leads to the page that
// compares them; for a car that is named in words, to its form by hand.
func (p *Pages) submitCompare(w http.ResponseWriter, r *http.Request) error {
	if err := frame.ParseForm(w, r); err != nil {
		return err
	}
	view, err := p.pairOf(r, r.PostForm)
	if err != nil {
		return err
	}
	if view.Problem.EN == "" && (view.Sides[0].Typed == "" || view.Sides[1].Typed == "") {
		view = view.blame(0, "no_link")
	}
	if view.Problem.EN != "" {
		return p.showPair(w, r, http.StatusUnprocessableEntity, view)
	}
	one, other := 0, 1 // the other waits for the answer of the one
	first, err := p.answerAbout(r, view.Sides[one], "")
	if err == nil && strings.HasPrefix(first, handQuery) {
		one, other = other, one
		first, err = p.answerAbout(r, view.Sides[one], "")
	}
	if err != nil {
		return p.refuseSide(w, r, view, one+1, err)
	}
	with := first
	if strings.HasPrefix(first, handQuery) {
		with = view.Sides[one].Typed // its turn comes later
	}
	second, err := p.answerAbout(r, view.Sides[other], with)
	if err != nil {
		return p.refuseSide(w, r, view, other+1, err)
	}
	if isSameAnswer(first, second) {
		return p.showPair(w, r, http.StatusUnprocessableEntity, view.blame(0, "same"))
	}
	http.Redirect(w, r, second, http.StatusSeeOther)
	return nil
}

func (p *Pages) showPair(w http.ResponseWriter, r *http.Request, status int, view pair) error {
	return p.Render(w, r, status, frame.Screen{Name: "compare", Body: view})
}

// refuseSide responds with the form again, and why a car is none.
func (p *Pages) refuseSide(w http.ResponseWriter, r *http.Request, view pair, number int, err error) error {
	view = view.blame(number, "bad_link")
	if errors.Is(err, errNotCar) {
		return p.showPair(w, r, http.StatusUnprocessableEntity, view)
	}
	return p.refuse(w, r, err, func(said message.Text, why *problem.Problem) error {
		if why.Param != "url" {
			view.Problem = said
		}
		return p.showPair(w, r, frame.StatusOf(why), view)
	})
}

// pairOf reads the fields of the form, and finds the answers whose addresses they have. The error
// names the field whose address is not that of an answer.
func (p *Pages) pairOf(r *http.Request, fields url.Values) (pair, error) {
	var view pair
	for i, name := range []string{"u1", "u2"} {
		s := &view.Sides[i]
		s.Field, s.Typed = name, strings.TrimSpace(fields.Get(name))
		answer, err := p.answerAt(r, s.Typed)
		switch {
		case errors.Is(err, errUnknown):
			view = view.blame(i+1, "gone")
			s.Typed = ""
		case err != nil:
			return view, err
		case answer != nil:
			s.answer = answer
			if car, current, _, err := answer.car(); err == nil {
				s.Car = frame.NameOf(named(car, current))
			}
		}
	}
	return view, nil
}

// Open returns the car that is to be picked while one is not entered, and the other; nothing when both
// are.
func (p pair) Open() []side {
	for i, s := range p.Sides {
		if s.Typed == "" {
			return []side{s, p.Sides[1-i]}
		}
	}
	return nil
}

// blame says what is wrong with a car; with 0 it names no field.
func (p pair) blame(number int, key string) pair {
	p.Problem = message.Say("page/compare."+key, message.Values{"n": strconv.Itoa(number)})
	if number > 0 {
		p.Sides[number-1].Wrong = true
	}
	return p
}

// answerAt returns the answer about one car whose address a text is or has; nil for a text without
// an address of ours, errUnknown for one that leads nowhere or to something else.
func (p *Pages) answerAt(r *http.Request, text string) (*link, error) {
	at := p.ownAnswer(r, text)
	if at == nil {
		return nil, nil //nolint:nilnil // no address of ours
	}
	answer, err := p.findAt(r, at)
	if err == nil && !answer.isOfCar() {
		err = errUnknown
	}
	return answer, err
}

// ownAnswer returns the address of a page of ours that a text is or has; nil for none.
func (p *Pages) ownAnswer(r *http.Request, text string) *url.URL {
	if !strings.HasPrefix(text, "/") {
		text = linkIn(text)
	}
	at, err := url.Parse(text)
	if err != nil || at.Host != "" && !strings.HasSuffix(p.BaseURL(r), "//"+at.Host) || !answerPattern.MatchString(at.Path) {
		return nil
	}
	return at
}

var answerPattern = regexp.MustCompile(`^/(?:e|bid|c|s|bill)/[A-Z2-7]{26}$`)

// errNotCar means that a text is neither a link nor the name of a car.
var errNotCar = errors.New("web: no car")

// handQuery begins the address of the form by hand for a car that is named in words.
const handQuery = "/hand?"

// answerAbout returns the address of the answer about a car, compared with another one unless that
// is "", or the address of its form by hand. It starts the work that is needed.
func (p *Pages) answerAbout(r *http.Request, s side, with string) (string, error) {
	switch {
	case s.answer != nil:
		return p.ofCar(r.Context(), s.answer, with)
	case linkIn(s.Typed) != "" || schemePattern.MatchString(s.Typed): // the API says what is wrong with it
		return p.start(r, linkOf(pathEstimate, url.Values{"u": {s.Typed}, termWith: {with}}))
	}
	form, err := p.described(r, s.Typed)
	if err == nil && !strings.HasPrefix(form, handQuery) {
		err = errNotCar
	}
	if with != "" {
		form += "&" + url.Values{termWith: {with}}.Encode()
	}
	return form, err
}

// ofCar returns the address of the answer about a car, compared with another one: an address, or
// what a visitor entered; "" for none.
func (p *Pages) ofCar(ctx context.Context, answer *link, with string) (string, error) {
	terms := frame.Without(answer.figures(), termTarget)
	if with != "" {
		terms.Set(termWith, with)
	}
	return p.addressOf(ctx, answer.Path, answer.token, terms)
}

// isSameAnswer reports whether two addresses lead to one answer on the same terms.
func isSameAnswer(first, second string) bool {
	plain := func(address string) string {
		at, query, _ := strings.Cut(address, "?")
		terms, _ := url.ParseQuery(query) // our own
		terms.Del(termWith)
		terms.Del(termSignature)
		return path.Base(at) + terms.Encode()
	}
	return plain(first) == plain(second)
}

// comparison is the page of two cars.
type comparison struct {
	made
	*vehicle.Verdict

	Heading     message.Text
	Cost, Rests message.Text // which is cheaper, and the part that differs most; empty when that is not known
	Cars        [2]compared
}

// compared is one of two cars.
type compared struct {
	car
	*vehicle.Arguments

	Number      int
	Answer, Day string // address of its own answer, and the day of that
	Parts       []figures.Part
	Bar         []figures.Segment // on one scale with the other car
	Linked      *linkedSheet
	Gravest     *figures.Minded // the one doubt; nil for none
	Match       string          // key of how sure the match is

	simulated bool
}

// comparison responds with the comparison of an answer with another one.
func (p *Pages) comparison(w http.ResponseWriter, r *http.Request, found *link) error {
	other, instead, err := p.findOther(r, found)
	if err != nil {
		return err
	}
	if instead != "" {
		http.Redirect(w, r, instead, http.StatusSeeOther)
		return nil
	}
	view := comparison{made: p.madeOf(w, r, found)}
	answers := [2]*link{other, found}
	c, err := p.judge(r, answers, &view)
	if err != nil {
		return err
	}
	if frame.WantsJSON(r) {
		return frame.SendJSON(w, http.StatusOK, c)
	}
	var requests [2]form
	for i, e := range []*vehicle.Estimate{&c.Car1, &c.Car2} {
		car := &view.Cars[i]
		requests[i] = answers[i].form().ofEstimate(e)
		car.Estimate, car.Number, car.Parts, car.simulated = *e, i+1, figures.PartsOf(e.Summary), p.Simulated()
		car.Arguments = cmp.Or([]*vehicle.Arguments{c.Verdict.Arguments1, c.Verdict.Arguments2}[i], &vehicle.Arguments{})
		car.Match, _ = figures.SureOf(e.Matched, requests[i].Fields.Get(fieldMatched))
		car.Gravest, _, _ = figures.MindedOf(e, p.Simulated())
		if car.Answer, err = p.ofCar(r.Context(), answers[i], ""); err != nil {
			return err
		}
		car.Day = localtime.Of(answers[i].Made).Format(time.DateOnly)
		view.Old = view.Old || car.hasExpired()
	}
	whole := max(figures.SumOf(view.Cars[0].Parts), figures.SumOf(view.Cars[1].Parts))
	for i := range view.Cars {
		view.Cars[i].Bar = figures.BarOf(view.Cars[i].Parts, whole)
	}
	view.Request = requests[1]
	if view.Cars[0].Day < view.Cars[1].Day { // the older is calculated again first
		view.Request, view.Old, view.Day = requests[0], true, view.Cars[0].Day
		view.Request.Fields.Set(termWith, view.Cars[1].Answer)
	}
	view.Verdict, view.Heading = c.Verdict, view.headingOf(c.Verdict)
	view.weigh()
	preview := p.share(&view.made, view.Heading.In(view.lang)+". "+view.say(estimateNote), view.headline()...)
	return p.Render(w, r, http.StatusOK, frame.Screen{Name: "comparison", Body: &view, Preview: preview})
}

// findOther finds the answer that another one is compared with. While that is being made, or is
// none, it returns the address of the page that says so.
func (p *Pages) findOther(r *http.Request, found *link) (other *link, instead string, err error) {
	typed := found.terms.Get(termWith)
	own, err := p.ofCar(r.Context(), found, "")
	if err != nil {
		return nil, "", err
	}
	other, err = p.answerAt(r, typed)
	switch {
	case errors.Is(err, errUnknown), err == nil && other == nil:
		return nil, frame.Address("/c", url.Values{"u1": {typed}, "u2": {own}}), nil
	case err != nil:
		return nil, "", err
	}
	running, err := p.settle(r, other)
	if err == nil && (running != nil || other.Shown.Failed != nil) {
		instead, err = p.ofCar(r.Context(), other, own)
	}
	return other, instead, err
}

// judge compares two answers, with what is read of their sheets, which it sets in the view.
func (p *Pages) judge(r *http.Request, answers [2]*link, view *comparison) (c vehicle.Comparison, err error) {
	var cars [2]vehicle.Estimate
	var conditions [2]*advice.Condition
	for i, answer := range answers {
		if cars[i], err = answer.estimate(); err != nil {
			return c, err
		}
		view.Cars[i].Linked = p.linkedSheetOf(r, answer, &cars[i], view.lang)
		conditions[i] = view.Cars[i].Linked.condition(&cars[i])
	}
	pair := advice.Pair{Car1: cars[0], Car2: cars[1], Condition1: conditions[0], Condition2: conditions[1]}
	verdict := advice.Judge(pair)
	c = vehicle.Comparison{Object: vehicle.ObjectComparison, Lang: view.lang, Verdict: &verdict}
	c.Recommendation = advice.Write(verdict, pair, view.lang)
	c.Car1, c.Car2 = pair.Cars()
	return c, nil
}

// weigh says which car is cheaper, and what the difference rests on.
func (v *comparison) weigh() {
	if v.DifferenceTZS == nil {
		return
	}
	values := message.Values{"difference": v.DifferenceTZS.String()}
	key := "page/compare.overlap"
	if v.Cheaper != nil {
		key, values["n"] = "page/compare.cheaper", strconv.Itoa(*v.Cheaper)
	}
	v.Cost = message.Say(key, values)
	if v.Bases() { // the same freight is in the one's car and in the other's ship
		return
	}
	greatest, others := int64(0), v.Cars[1].Parts
	for _, first := range v.Cars[0].Parts {
		i := slices.IndexFunc(others, func(second figures.Part) bool { return second.Key == first.Key })
		if i < 0 || !first.Known || !others[i].Known {
			continue
		}
		if apart := max(first.TZS-others[i].TZS, others[i].TZS-first.TZS); apart > greatest {
			greatest = apart
			v.Rests = message.SayWith("page/compare.rests", message.Values{
				"value1": strconv.FormatInt(first.TZS, 10), "value2": strconv.FormatInt(others[i].TZS, 10),
			}, map[string]message.Text{"part": message.Say("page/money."+first.Key, nil)})
		}
	}
}

// headingOf returns the advice in one line: which car, or why none.
func (v *comparison) headingOf(verdict *vehicle.Verdict) message.Text {
	winner := verdict.Winner
	if winner == nil || *winner < 1 || *winner > len(v.Cars) {
		return message.Say("compare/"+string(verdict.Reason), nil)
	}
	return message.Say("compare/winner", message.Values{"winner": strconv.Itoa(*winner), "name": v.Cars[*winner-1].Name()})
}

// headline returns what is said of the comparison elsewhere: each car and its number with the
// range and the day, and the gravest doubt about it.
func (v *comparison) headline() (lines []string) {
	for i := range v.Cars {
		car := &v.Cars[i]
		lines = append(lines, v.headlineOf(car.Name(), car.Summary.OnTheRoad))
		lines = append(lines, car.Gravest.Lines(v.lang)...)
	}
	return lines
}

// Names returns the names of both cars.
func (v *comparison) Names() string { return v.Cars[0].Name() + " – " + v.Cars[1].Name() }

// Change returns the address of the form with both cars.
func (v *comparison) Change() string {
	return frame.Address("/c", url.Values{"u1": {v.Cars[0].Answer}, "u2": {v.Cars[1].Answer}})
}

// Bases reports whether one price has the freight in it, and the other has not.
func (v *comparison) Bases() bool {
	one, other := v.Cars[0].Basis(), v.Cars[1].Basis()
	return one != other && one != "" && other != ""
}

// Terms reports whether the answers are on other rates, for other months or of other days.
func (v *comparison) Terms() bool {
	a, b := v.Cars[0], v.Cars[1]
	return a.DriveAway.Exchange.Others.String() != b.DriveAway.Exchange.Others.String() ||
		a.Summary.Landing.From != b.Summary.Landing.From || a.Summary.Landing.To != b.Summary.Landing.To || a.Day != b.Day
}

// criterion is one thing in which the cars were compared, with bars on one scale for all.
type criterion struct {
	vehicle.Criterion

	Bar1, Bar2, Most int64
}

// Compared returns the criteria with their bars: the widest is that of the greatest weight.
func (v *comparison) Compared() []criterion {
	greatest := 1
	for _, c := range v.Criteria {
		greatest = max(greatest, c.Weight)
	}
	bars := make([]criterion, len(v.Criteria))
	for i, c := range v.Criteria {
		wide := func(points int) int64 { return int64(points) * figures.BarWidth / int64(greatest) }
		bars[i] = criterion{c, wide(c.Points1), wide(c.Points2), wide(c.Weight)}
	}
	return bars
}

// Model returns the name without the year.
func (c *compared) Model() string {
	called := named(c.Car, c.Matched.ModelBody)
	return strings.TrimSpace(called.Make + " " + called.Model)
}

// Basis returns what the price is; "" without one.
func (c *compared) Basis() string {
	switch {
	case c.Car.FOBPriceUSD != nil:
		return "FOB"
	case c.Car.CFPriceUSD != nil:
		return "C&F"
	}
	return ""
}

// Price returns the price that the cost was calculated with; "" for none.
func (c *compared) Price() string {
	if price := cmp.Or(c.Car.FOBPriceUSD, c.Car.CFPriceUSD); price != nil {
		return frame.InDollars(price.Decimal().IntPart())
	}
	return ""
}

// KM returns how far the car has run; "" when that is not known.
func (c *compared) KM() string {
	if c.Car.MileageKM == nil {
		return ""
	}
	return "km " + frame.Whole(int64(*c.Car.MileageKM))
}

// Danger returns the grave warnings of the answer. The banner says already that figures are simulated.
func (c *compared) Danger() []message.Notice {
	return slices.DeleteFunc(slices.Clone(c.Warnings), func(w message.Notice) bool {
		return w.Level != message.Danger || w.Code == "simulated" && c.simulated
	})
}
