package web

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
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
	"ushuru/api/request"
	"ushuru/api/web/frame"
	"ushuru/api/web/links"
	"ushuru/pkg/localtime"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/redisx"
	"ushuru/pkg/vehicle"
)

// The endpoints that pages start work at.
const (
	pathEstimate = "/v1/estimate"
	pathQuote    = "/v1/quote"
	pathReport   = "/v1/condition-report"
	pathBill     = "/v1/bill-check"
)

// The kinds of pages with a token: the first part of their addresses.
const (
	kindAnswer     = "e"
	kindComparison = "c"
	kindSheet      = "s"
	kindBid        = "bid"
	kindBill       = "bill"
)

var kinds = []string{kindAnswer, kindComparison, kindSheet, kindBid, kindBill}

// kindOf returns the kind of the page that shows the result of a request on some terms.
func kindOf(path string, terms url.Values) string {
	switch path {
	case pathReport:
		return kindSheet
	case pathBill:
		return kindBill
	}
	switch {
	case terms.Has(termWith):
		return kindComparison
	case terms.Has(termTarget):
		return kindBid
	}
	return kindAnswer
}

// LoggedPath returns a path as the log shows it: without the token, which lets its
// reader see the page.
func LoggedPath(path string) string {
	for _, kind := range kinds {
		prefix := "/" + kind + "/"
		if rest, ok := strings.CutPrefix(path, prefix); ok && len(rest) >= tokenLength {
			return prefix + "…" + rest[tokenLength:]
		}
	}
	return path
}

// tokenLength is that of the tokens: 26 letters, 130 bits.
const tokenLength = 26

var errUnknown = links.ErrUnknown

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

// find returns what the address of a page leads to.
func (p *Pages) find(r *http.Request) (*link, error) { return p.findAt(r, r.URL) }

var tokenPattern = regexp.MustCompile(`^/[a-z]+/([A-Z2-7]{26})(?:/|$)`)

// findAt returns what an address of these pages leads to.
func (p *Pages) findAt(r *http.Request, at *url.URL) (*link, error) {
	named := tokenPattern.FindStringSubmatch(at.Path)
	if named == nil {
		return nil, errUnknown
	}
	token, query := named[1], at.Query()
	terms := termsIn(query)
	found, err := p.linkAt(r.Context(), token)
	if err != nil {
		return nil, err
	}
	address, err := p.addressOf(r.Context(), found.Path, token, terms)
	if err != nil {
		return nil, err
	}
	page, signed, _ := strings.Cut(address, "?")
	given := maps.Clone(terms)
	given.Set(termSignature, query.Get(termSignature))
	if page != at.Path && !strings.HasPrefix(at.Path, page+"/") ||
		len(terms) > 0 && !hmac.Equal([]byte(signed), []byte(given.Encode())) {
		return nil, errUnknown
	}
	found.terms, found.query = terms, signed
	return found, p.price(r, found)
}

// linkAt returns what a token leads to, without the terms of an address.
func (p *Pages) linkAt(ctx context.Context, token string) (*link, error) {
	kept, err := p.links.Find(ctx, token)
	if err != nil {
		return nil, err
	}
	return &link{Link: *kept, token: token}, nil
}

// price puts what a link has shown on the terms of its address.
func (p *Pages) price(r *http.Request, found *link) error {
	figures := found.figures()
	if len(figures) == 0 || found.Shown == nil || found.Shown.Result == nil {
		return nil
	}
	pricing, err := p.options.Terms(figures, found.Made)
	if err != nil {
		return err
	}
	identity := []any{"page", found.token, found.Made, figures.Encode()}
	found.Shown.Result, err = p.options.Compute(r, identity, func() ([]byte, error) {
		return pricing(found.Shown.Result, found.Path == pathQuote)
	})
	return err
}

// tokenOf returns the token of a request of a network on the day of a time.
func (p *Pages) tokenOf(ctx context.Context, network, path string, fields url.Values, at time.Time) (string, error) {
	return p.seal(ctx, "token", network, path, at.In(localtime.Zone).Format(time.DateOnly), fields.Encode())
}

// addressOf returns the address of the page of a request on some terms.
func (p *Pages) addressOf(ctx context.Context, path, token string, terms url.Values) (string, error) {
	address := "/" + kindOf(path, terms) + "/" + token
	if len(terms) == 0 {
		return address, nil
	}
	signature, err := p.seal(ctx, "terms", token, terms.Encode())
	signed := maps.Clone(terms)
	signed.Set(termSignature, signature)
	return address + "?" + signed.Encode(), err
}

// networkOf returns a hash of the visitor's network.
func (p *Pages) networkOf(r *http.Request) (string, error) {
	return p.seal(r.Context(), "network", request.From(r).Network)
}

// seal returns a text that only a server of these pages can make of some others.
func (p *Pages) seal(ctx context.Context, texts ...string) (string, error) {
	secret, err := redisx.Secret(ctx, p.options.Redis, "page:secret")
	if err != nil {
		return "", request.ErrUnavailable.WithCause(err)
	}
	mac := hmac.New(sha256.New, secret)
	_, _ = mac.Write([]byte(strings.Join(texts, "\n")))
	return base32.StdEncoding.EncodeToString(mac.Sum(nil))[:tokenLength], nil
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

// Pricing puts an estimate, as the API has answered it, on the terms of an address. Described says
// that the visitor described the car.
type Pricing func(result []byte, described bool) ([]byte, error)

// The names of the terms in an address. They are signed, so that an address shows what was
// entered in a form here, and nothing else.
const (
	termTarget    = "target" // what the buyer can pay, in shillings
	termPrice     = "price"  // of the car in dollars, as the visitor gave it
	termBasis     = "basis"  // cf when that price has the freight in it
	termFreight   = "freight"
	termInsurance = "insurance" // marine
	termAgent     = "agent"     // the fee of the clearing agent, in shillings
	termRate      = "rate"      // shillings for a dollar
	termLanding   = "landing"   // day
	termWith      = "with"      // what the car is to be compared with, as entered: mostly the address of its answer
	termSignature = "sig"

	termYear = "year" // of manufacture: no term, the authority is asked for it
)

// termSums are the terms that are sums, and their currencies.
var termSums = map[string]string{
	termTarget: "TZS", termPrice: "USD", termFreight: "USD", termInsurance: "USD", termAgent: "TZS", termRate: "TZS",
}

// termsIn returns the terms among the fields of a form or of an address. What is no sum stays as
// it was entered, and is refused by who reads the terms.
func termsIn(fields url.Values) url.Values {
	terms := url.Values{}
	for name, currency := range termSums {
		typed := strings.TrimSpace(fields.Get(name))
		if number, ok := frame.Sum(typed, currency); ok {
			typed = number
		}
		if typed != "" {
			terms.Set(name, typed)
		}
	}
	if day := strings.TrimSpace(fields.Get(termLanding)); day != "" {
		terms.Set(termLanding, day)
	}
	if other := strings.TrimSpace(fields.Get(termWith)); other != "" && len(other) <= maxText {
		terms.Set(termWith, other)
	}
	if terms.Has(termPrice) && fields.Get(termBasis) == "cf" {
		terms.Set(termBasis, "cf")
	}
	return terms
}

// readSum puts the number of a sum in place of how a visitor has typed it; false for what is no sum
// in its currency.
func readSum(form url.Values, name string) bool {
	typed := strings.TrimSpace(form.Get(name))
	if typed == "" {
		return true
	}
	number, ok := frame.Sum(typed, termSums[name])
	if ok {
		form.Set(name, number)
	}
	return ok
}
