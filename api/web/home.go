package web

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/api/web/frame"
	"ushuru/api/web/links"
	"ushuru/pkg/message"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/vehicle"
)

// home is the form for a car: its link, its name, or whatever else a visitor has of it.
type home struct {
	URL     string       // what the visitor typed
	Links   []string     // of several cars that were typed
	Problem message.Text // why that is no answer; empty for none
}

// Most returns how large a file may be.
func (home) Most() int { return maxSheet }

// home responds with the form. A link in the query, or in a text that a phone shares,
// fills it.
func (p *Pages) home(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	typed, shared := strings.TrimSpace(query.Get("u")), strings.TrimSpace(query.Get("text"))
	filled := cmp.Or(linkIn(typed), typed, linkIn(shared), shared)
	filled = filled[:min(len(filled), maxText)]
	return p.Render(w, r, http.StatusOK, frame.Screen{Name: "home", Index: len(query) == 0, Body: home{URL: filled}})
}

// submit answers the forms that need an estimate: it starts the work, and leads to the
// page of its answer.
func (p *Pages) submit(w http.ResponseWriter, r *http.Request) error {
	page, release, err := p.readForm(w, r)
	defer release()
	typed := strings.TrimSpace(r.PostForm.Get("u"))
	switch {
	case err != nil:
		return err
	case page == nil:
		if answered, err := p.meant(w, r, typed); answered || err != nil {
			return err
		}
	case page.html == "":
		if page, err = p.sentFile(w, r, page.file); page == nil {
			return err
		}
	}
	fields := estimateRequest(r.PostForm)
	if page != nil {
		fields["upload"] = page.hash()
	}
	request, err := plainjson.Encode(fields)
	if err != nil {
		return err
	}
	r = r.WithContext(withUpload(r.Context(), page))
	wanted := work{pathEstimate, request, termsIn(r.PostForm)}
	return p.begin(w, r, wanted, func(said message.Text, _ *problem.Problem) frame.Screen {
		return frame.Screen{Name: "home", Body: home{URL: typed, Problem: said}}
	})
}

// work is what a visitor asks for: a request to the API, and the terms of its answer, which
// stand in the address of the page.
type work struct {
	path  string
	body  []byte
	terms url.Values
}

// begin starts work, and leads to the page of its answer. When the
// request is refused it responds with a form again, which says why.
func (p *Pages) begin(
	w http.ResponseWriter, r *http.Request, wanted work, again func(message.Text, *problem.Problem) frame.Screen,
) error {
	address, err := p.start(r, wanted)
	if err != nil {
		return p.refuse(w, r, err, again)
	}
	http.Redirect(w, r, address, http.StatusSeeOther)
	return nil
}

// refuse responds with the form again and why what was entered does not do. Other errors
// are returned.
func (p *Pages) refuse(
	w http.ResponseWriter, r *http.Request, err error, again func(message.Text, *problem.Problem) frame.Screen,
) error {
	why, ok := err.(*problem.Problem) //nolint:errorlint // the API's own, unwrapped
	if !ok {
		return err
	}
	why.SetHeader(w.Header())
	if frame.WantsJSON(r) {
		said := sentenceOf(why)
		return frame.SendJSON(w, statusOf(why), vehicle.Error{Code: why.Code, Message: said.EN, Text: &said})
	}
	return p.Render(w, r, statusOf(why), again(sentenceOf(why), why))
}

// statusOf returns the status of the page that says a problem of the API.
func statusOf(why *problem.Problem) int {
	if why.Status == http.StatusBadRequest {
		return http.StatusUnprocessableEntity
	}
	return why.Status
}

// said are the texts of the pages for problems whose own text is for programs.
var said = map[string]string{
	"url_missing": "home.no_link", "field_invalid": "home.bad_value",
	"form_invalid": "sheet.no_file", "file_empty": "sheet.no_file",
}

// sentenceOf returns what the page says of a problem. Limits of keys are none of the
// visitor's.
func sentenceOf(why *problem.Problem) message.Text {
	if why.Status == http.StatusTooManyRequests {
		return message.Say("page/busy", nil)
	}
	if key, has := said[why.Code]; has {
		return message.Say("page/"+key, nil)
	}
	return frame.TextOf(why.Notice)
}

// estimateRequest returns the body of a request to /v1/estimate from the fields of a
// form.
func estimateRequest(form url.Values) map[string]any {
	body := map[string]any{"url": typedLink(form, "u"), "byMonth": true}
	if label := form.Get("modelBody"); label != "" {
		body["modelBody"] = label
	}
	if known := knownOf(form); len(known) > 0 {
		body["known"] = known
	}
	return body
}

// typedLink returns the link in a field of a form, or what was typed when it has none.
func typedLink(form url.Values, name string) string {
	typed := strings.TrimSpace(form.Get(name))
	return cmp.Or(linkIn(typed), typed)
}

// knownOf returns what the visitor knows of the car, but for its price, which is a term. The API
// checks it.
func knownOf(form url.Values) map[string]any {
	known := map[string]any{}
	number := func(name, field string) {
		digits := strings.NewReplacer(",", "", " ", "", "$", "").Replace(form.Get(field))
		if digits != "" {
			known[name] = json.Number(digits)
			if !isNumber(digits) {
				known[name] = digits // the API says what is wrong with it
			}
		}
	}
	number("year", "year")
	number("engine_cc", "cc")
	if fuel := form.Get("fuel"); fuel != "" {
		known["fuel"] = fuel
	}
	return known
}

var numberPattern = regexp.MustCompile(`^(0|[1-9][0-9]{0,8})(\.[0-9]{1,2})?$`)

func isNumber(text string) bool { return numberPattern.MatchString(text) }

// start gives work to the API, and returns the address of its page. The same request of one
// network and day has the same page, unless that shows an error: then the work starts again.
func (p *Pages) start(r *http.Request, wanted work) (address string, err error) {
	if address, err = p.startWork(r, wanted); err != nil {
		p.countRefused(r, wanted, err)
	}
	return address, err
}

func (p *Pages) startWork(r *http.Request, wanted work) (address string, err error) {
	ctx := r.Context()
	if len(wanted.terms) > 0 {
		if _, err := p.options.Terms(wanted.terms, time.Now()); err != nil {
			return "", err
		}
	}
	token, found, err := p.usable(r, wanted)
	if err != nil {
		return "", err
	}
	if !found {
		sent, err := withPage(ctx, wanted.body)
		if err != nil {
			return "", err
		}
		begun, err := p.api.start(ctx, wanted.path, sent, soon)
		if err != nil {
			return "", err
		}
		return p.lead(r, wanted, begun)
	}
	return p.addressOf(ctx, wanted.path, token, wanted.terms)
}

// lead returns the address of the page of work that has started, or is done.
func (p *Pages) lead(r *http.Request, wanted work, begun started) (address string, err error) {
	if begun.result != nil {
		// Links to one car can be written in many ways, and cached results are free: they
		// share a page.
		wanted.body = canonical(wanted.body, begun.result)
	}
	made := linkTo(wanted, begun)
	token, found, err := p.usable(r, wanted)
	if err == nil && !found {
		if made.Network, err = p.networkOf(r); err == nil {
			err = p.links.Put(r.Context(), token, made.Link)
			p.countAsked(wanted, made)
		}
	}
	if err != nil {
		return "", request.ErrUnavailable.WithCause(err)
	}
	return p.addressOf(r.Context(), wanted.path, token, wanted.terms)
}

// linkTo returns a link to work that has started, or is done.
func linkTo(wanted work, begun started) link {
	made := link{Link: links.Link{Path: wanted.path, Body: wanted.body, Job: begun.job, Made: time.Now()}}
	if begun.result != nil || begun.failed != nil {
		made.Shown = &links.Shown{Result: begun.result, Failed: begun.failed}
	}
	return made
}

// usable returns the token of the page of work, and whether that page is there and shows no
// error.
func (p *Pages) usable(r *http.Request, wanted work) (token string, found bool, err error) {
	network, err := p.networkOf(r)
	if err != nil {
		return "", false, err
	}
	if token, err = p.tokenOf(r.Context(), network, wanted.path, wanted.body, time.Now()); err != nil {
		return "", false, err
	}
	known, err := p.linkAt(r.Context(), token)
	if errors.Is(err, errUnknown) {
		return token, false, nil
	}
	return token, err == nil && (known.Shown == nil || known.Shown.Failed == nil), err
}

// canonical returns a request with the URL of its result.
func canonical(body, result []byte) []byte {
	var estimate struct {
		Input struct {
			URL string `json:"url"`
		} `json:"input"`
	}
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(result, &estimate) != nil || json.Unmarshal(body, &fields) != nil || estimate.Input.URL == "" {
		return body
	}
	url, err := plainjson.Encode(estimate.Input.URL)
	if err != nil {
		return body
	}
	fields["url"] = url
	if data, err := plainjson.Encode(fields); err == nil {
		return data
	}
	return body
}
