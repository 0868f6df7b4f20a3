package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"

	"ushuru/api/problem"
	"ushuru/api/web/frame"
	"ushuru/pkg/message"
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

// ofCar returns the address of the answer about a car, compared with another one: an address, or
// what a visitor entered; "" for none.
func (p *Pages) ofCar(ctx context.Context, answer *link, with string) (string, error) {
	terms := frame.Without(answer.figures(), termTarget)
	if with != "" {
		terms.Set(termWith, with)
	}
	return p.addressOf(ctx, answer.Path, answer.token, terms)
}

// compare responds with the form for two cars. Those in the query fill it.
func (p *Pages) compare(w http.ResponseWriter, r *http.Request) error {
	view, err := p.pairOf(r, r.URL.Query())
	if err != nil {
		return err
	}
	return p.showPair(w, r, http.StatusOK, view)
}

func (p *Pages) showPair(w http.ResponseWriter, r *http.Request, status int, view pair) error {
	return p.Render(w, r, status, frame.Screen{Name: "compare", Body: view})
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
