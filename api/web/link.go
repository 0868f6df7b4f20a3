package web

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"ushuru/api/problem"
	"ushuru/api/web/frame"
	"ushuru/api/web/links"
	"ushuru/pkg/localtime"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/vehicle"
)

// link is what a visitor asks for, and what the address of its page leads to, with what stands in the
// address itself.
type link struct {
	links.Link

	token string
	terms url.Values // of its answer
	query string     // the terms and their signature
	page  *upload    // of the car, as the visitor sent it; nil for none
}

// fieldMatched has the entry that we matched with a page that was sent. A request with it says so
// of its entry; the API does not get that.
const fieldMatched = "matched"

// fieldsOf are the fields of forms that each endpoint needs.
var fieldsOf = map[string][]string{
	pathEstimate: {"u", "modelBody", "year", "cc", "fuel"},
	pathQuote:    {"make", "model", "code", "modelBody", fieldMatched, "year", "cc", "fuel"},
	pathReport:   {"u"},
	pathBill:     {"u", "text"},
}

// linkOf returns a link to what the fields of a form ask an endpoint for: for the estimate of a car
// whose make they have, that is its quote.
func linkOf(path string, form url.Values) *link {
	if path == pathEstimate && form.Get("make") != "" {
		path = pathQuote
	}
	l := &link{Link: links.Link{Path: path, Fields: url.Values{}}}
	for _, name := range fieldsOf[path] {
		value := form.Get(name)
		switch name {
		case "u":
			value = typedLink(value)
		case "year", "cc":
			value = strings.NewReplacer(",", "", " ", "", "$", "").Replace(value)
		case "text":
			value = strings.ReplaceAll(value, "\r", "")
		case fieldMatched:
			if value != form.Get("modelBody") {
				value = ""
			}
		}
		if value != "" {
			l.Fields.Set(name, value)
		}
	}
	if l.isOfCar() {
		l.terms = termsIn(form)
	}
	return l
}

var numberPattern = regexp.MustCompile(`^(0|[1-9][0-9]{0,8})(\.[0-9]{1,2})?$`)

// body returns the request of a link to the API.
func (l *link) body() ([]byte, error) {
	body, known := map[string]any{}, map[string]any{}
	for name := range frame.Without(l.Fields, fieldMatched, "upload") {
		said, into := l.Fields.Get(name), body
		if l.Path == pathEstimate && slices.Contains([]string{"year", "cc", "fuel"}, name) {
			into = known
		}
		name = cmp.Or(map[string]string{"u": "url", "code": "modelCode", "cc": "engine_cc"}[name], name)
		into[name] = said // the API says what is wrong with a number that is none
		if (name == "year" || name == "engine_cc") && numberPattern.MatchString(said) {
			into[name] = json.Number(said)
		}
	}
	if l.isOfCar() {
		body["byMonth"] = true
	}
	if len(known) > 0 {
		body["known"] = known
	}
	if l.page != nil {
		body["html"] = l.page.html
	}
	return plainjson.Encode(body)
}

// begun sets what the API answered to the request of a link: its job, its result, or the error of a
// job that was over before the API responded, which has a page as that of a slower one has. An error
// of the request itself is returned.
func (l *link) begun(got *frame.Response, err error) error {
	l.Made = time.Now()
	why, refused := errors.AsType[*problem.Problem](err)
	switch {
	case err == nil && got.Status == http.StatusAccepted:
		l.Job = got.Head.Get("Location")
	case err == nil:
		l.Shown = &links.Shown{Result: got.Bytes()}
	case !refused || why.Status < http.StatusUnprocessableEntity || why.Status == http.StatusTooManyRequests ||
		states[why.Code] == state{}:
		return err
	default:
		failed, err := plainjson.Encode(why.Body())
		l.Shown = &links.Shown{Failed: failed}
		return err
	}
	return nil
}

// isOfCar reports whether a link leads to the answer about one car.
func (l *link) isOfCar() bool { return l.Path == pathEstimate || l.Path == pathQuote }

// decode reads what a link has shown; errUnknown while that is nothing.
func decode(shown json.RawMessage, into any) error {
	if shown == nil {
		return errUnknown
	}
	if err := json.Unmarshal(shown, into); err != nil {
		return fmt.Errorf("web: what a link has shown: %w", err)
	}
	return nil
}

// shown returns how the request of a link has ended; nothing before.
func (l *link) shown() links.Shown { return *cmp.Or(l.Shown, &links.Shown{}) }

// estimate returns the estimate that a link shows.
func (l *link) estimate() (e vehicle.Estimate, err error) {
	if err := decode(l.shown().Result, &e); err != nil {
		return e, err
	}
	if e.Summary == nil || e.DriveAway == nil {
		return e, errors.New("web: an estimate without its summary")
	}
	if l.Path == pathQuote {
		e.Car.Source = vehicle.FromRequest
	}
	return e, nil
}

// failure returns why a link shows no result.
func (l *link) failure() (why vehicle.Error, err error) {
	err = decode(l.shown().Failed, &why)
	return why, err
}

// car returns the car of a link as far as it was read, the entry that was used, and those that the
// car may be, the likeliest first.
func (l *link) car() (car vehicle.Car, current string, likely []string, err error) {
	if l.shown().Failed == nil {
		e, err := l.estimate()
		car, current = e.Car, e.Matched.ModelBody
		car.Make = e.Matched.Make
		return car, current, append([]string{current}, labelsOf(e.Matched.Candidates)...), err
	}
	why, err := l.failure()
	if err == nil && (why.Car == nil || why.Car.Make == "") {
		err = errUnknown
	}
	if err != nil {
		return car, "", nil, err
	}
	return *why.Car, "", labelsOf(why.Candidates), nil
}

// figures returns the terms that change the figures of an answer.
func (l *link) figures() url.Values { return frame.Without(l.terms, termWith) }

// hidden returns the terms and their signature as fields of a form.
func (l *link) hidden() url.Values {
	fields, _ := url.ParseQuery(l.query) // our own
	return fields
}

// with returns an address of the same page with the terms of this one.
func (l *link) with(path string) string {
	if l.query == "" {
		return path
	}
	return path + "?" + l.query
}

// form has the fields that repeat a request, and where they go.
type form struct {
	Action string
	Sent   bool // a page that the visitor's browser sent, and that is not kept
	Fields url.Values
}

// form returns the form that asks for what a link leads to again.
func (l *link) form() form {
	actions := map[string]string{pathEstimate: "/go", pathQuote: "/hand", pathReport: "/s", pathBill: "/bill"}
	f := form{actions[l.Path], l.Fields.Has("upload"), frame.Without(l.Fields, "upload", "lang")}
	maps.Copy(f.Fields, l.terms)
	if f.Fields.Get(termLanding) < time.Now().In(localtime.Zone).Format(time.DateOnly) {
		f.Fields.Del(termLanding) // the past, for what is asked again
	}
	if l.terms.Has(termPrice) && !l.terms.Has(termBasis) { // which the form by hand asks for
		f.Fields.Set(termBasis, "fob")
	}
	if l.terms.Has(termTarget) {
		f.Action = "/bid"
	}
	return f
}

// describing returns the form that asks for a car as it was read, when its page was sent: that cannot
// be read again.
func (f form) describing(car vehicle.Car, label string) form {
	if !f.Sent {
		return f
	}
	fields := frame.Without(f.Fields, append([]string{"u"}, fieldsOf[pathQuote]...)...)
	maps.Copy(fields, frame.FieldsOf(car))
	fields.Set("modelBody", label)
	fields.Set(fieldMatched, label)
	return form{"/hand", true, frame.Without(fields)}
}

// ofEstimate returns the form that asks for the car of an estimate again.
func (f form) ofEstimate(e *vehicle.Estimate) form {
	read := e.Car
	read.Make = e.Matched.Make
	return f.describing(read, e.Matched.ModelBody)
}
