package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/api/web/frame"
	"ushuru/api/web/links"
	"ushuru/pkg/message"
	"ushuru/pkg/metrics"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// job is a job as the API shows it.
type job struct {
	ID         string          `json:"id"`
	State      string          `json:"state"`
	Step       string          `json:"step"`
	StepSince  time.Time       `json:"stepSince"`
	Car        *vehicle.Car    `json:"car"` // as its page was read
	Created    time.Time       `json:"created"`
	Ended      time.Time       `json:"ended"`
	WaitingFor string          `json:"waitingFor"`
	Text       *message.Text   `json:"text"` // why it waits
	Progress   tasks.Progress  `json:"progress"`
	Result     json.RawMessage `json:"result"`
	Error      *vehicle.Error  `json:"error"`
}

// hasEnded reports whether the job has a result or an error.
func (j *job) hasEnded() bool { return j.Result != nil || j.Error != nil }

// lead starts what a visitor wants, and leads to the page of its answer. When the request is refused,
// again responds with the form that says why.
func (p *Pages) lead(
	w http.ResponseWriter, r *http.Request, wanted *link, again func(message.Text, *problem.Problem) error,
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
	w http.ResponseWriter, r *http.Request, err error, again func(message.Text, *problem.Problem) error,
) error {
	why, ok := err.(*problem.Problem) //nolint:errorlint // the API's own, unwrapped
	if !ok {
		return err
	}
	why.SetHeader(w.Header())
	said := sentenceOf(why)
	if frame.WantsJSON(r) {
		return frame.SendJSON(w, frame.StatusOf(why), vehicle.Error{Code: why.Code, Message: said.EN, Text: &said})
	}
	return again(said, why)
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

// start gives a request to the API, and returns the address of its page. The same request of one
// network and day has the same page, unless that shows an error: then the work starts again.
func (p *Pages) start(r *http.Request, wanted *link) (address string, err error) {
	if len(wanted.terms) > 0 {
		_, err = p.options.Terms(wanted.terms, time.Now())
	}
	usable := false
	if err == nil {
		usable, err = p.isUsable(r, wanted)
	}
	if err == nil && !usable {
		if err = p.begin(r.Context(), wanted, soon); err == nil {
			err = p.keep(r, wanted)
		}
	}
	if err == nil {
		address, err = p.addressOf(r.Context(), wanted.Path, wanted.token, wanted.terms)
	}
	if err != nil {
		p.countRefused(r, wanted, err)
	}
	return address, err
}

// soon waits for a result that comes within a second: its page is then the first that the visitor
// sees. Later does not wait.
const (
	soon  = "respond-async, wait=1"
	later = "respond-async"
)

// begin gives the request of a link to the API.
func (p *Pages) begin(ctx context.Context, wanted *link, prefer string) error {
	body, err := wanted.body()
	if err != nil {
		return err
	}
	header := http.Header{"Content-Type": {"application/json"}, "Prefer": {prefer}}
	return wanted.begun(p.api.Do(ctx, http.MethodPost, wanted.Path, body, header))
}

// upload gives the form of a request to the API as it arrives, and waits for no result.
func (p *Pages) upload(w http.ResponseWriter, r *http.Request) (*link, error) {
	made := &link{Link: links.Link{Path: pathReport, Fields: url.Values{}}}
	sent, err := http.NewRequestWithContext(r.Context(), http.MethodPost, pathReport, r.Body)
	if err != nil {
		return made, fmt.Errorf("web: request: %w", err)
	}
	sent.ContentLength = r.ContentLength
	sent.Header = http.Header{"Content-Type": {r.Header.Get("Content-Type")}, "Prefer": {later}}
	return made, made.begun(p.api.Send(sent, &frame.Response{Head: http.Header{}, Control: http.NewResponseController(w)}))
}

// keep stores a link to work that has started, or is done, unless a page of it is usable.
func (p *Pages) keep(r *http.Request, made *link) error {
	var e vehicle.Estimate
	if err := decode(made.shown().Result, &e); err == nil && e.Input.URL != "" {
		// Links to one car can be written in many ways, and cached results are free: they
		// share a page.
		made.Fields.Set("u", e.Input.URL)
	}
	usable, err := p.isUsable(r, made)
	if err == nil && !usable {
		err = p.links.Put(r.Context(), made.token, made.Link)
		p.countAsked(made)
	}
	if err != nil {
		return request.ErrUnavailable.WithCause(err)
	}
	return nil
}

// isUsable gives a link of the visitor its token, and reports whether its page is there and shows no
// error.
func (p *Pages) isUsable(r *http.Request, of *link) (usable bool, err error) {
	if of.Network, err = p.networkOf(r); err != nil {
		return false, err
	}
	if of.token, err = p.tokenOf(r.Context(), of.Network, of.Path, of.Fields, time.Now()); err != nil {
		return false, err
	}
	known, err := p.linkAt(r.Context(), of.token)
	if errors.Is(err, errUnknown) {
		return false, nil
	}
	return err == nil && known.shown().Failed == nil, err
}

// countRefused counts work that the API refused before there was a page of it.
func (p *Pages) countRefused(r *http.Request, wanted *link, err error) {
	wanted.Network, _ = p.networkOf(r) // without Redis all count as one
	p.options.Metrics.Asked(askOf(wanted))
	code := errInternal
	if why, ok := errors.AsType[*problem.Problem](err); ok {
		code = why.Code
	}
	p.options.Metrics.Answered(askOf(wanted), code, 0)
}

// countAsked counts work that has a page now, with its end when that is there already.
func (p *Pages) countAsked(made *link) {
	p.options.Metrics.Asked(askOf(made))
	if made.Shown != nil {
		p.countAnswered(made, &job{})
	}
}

// countAnswered counts the end of work, when a visitor sees it first.
func (p *Pages) countAnswered(found *link, ended *job) {
	why, err := found.failure()
	if err != nil && found.Shown.Failed != nil {
		why.Code = errInternal
	}
	p.options.Metrics.Answered(askOf(found), why.Code, ended.Ended.Sub(ended.Created))
}

// askOf returns what is counted of work that a visitor wants.
func askOf(wanted *link) metrics.Ask {
	asked := metrics.Ask{Network: wanted.Network, Kind: kindOf(wanted.Path, wanted.terms)}
	if listing, err := url.Parse(wanted.Fields.Get("u")); err == nil { // what is sent has none
		asked.Host = listing.Hostname()
	}
	return asked
}

// errInternal is the code of a failure that says nothing of itself.
const errInternal = "internal"
