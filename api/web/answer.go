package web

import (
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
	"ushuru/api/web/asset"
	"ushuru/pkg/duty"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// answer responds with what the address of an answer has: the progress of the work, its
// result, or why there is none. What was shown at the end is shown to all later visitors.
func (p *Pages) answer(w http.ResponseWriter, r *http.Request) error {
	token := mux.Vars(r)["token"]
	found, err := p.links.find(r.Context(), token)
	if err != nil {
		return err
	}
	if found.Shown == nil {
		current, err := p.settle(r, token, found)
		if err != nil {
			return err
		}
		if current != nil {
			return p.wait(w, r, current)
		}
	}
	if found.Shown.Failed != nil {
		return p.refusal(w, r, found)
	}
	if wantsJSON(r) {
		asset.Send(w, r, http.StatusOK, "application/json", found.Shown.Result, nil)
		return nil
	}
	return p.result(w, r, token, found)
}

// settle stores how the work of a link ended, or returns its job when it has not.
func (p *Pages) settle(r *http.Request, token string, found *link) (*job, error) {
	ctx := r.Context()
	var current job
	err := p.api.get(ctx, found.Job, &current)
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
	end := shown{Result: current.Result}
	if current.Error != nil {
		if end.Failed, err = json.Marshal(current.Error); err != nil {
			return nil, fmt.Errorf("web: error of a job: %w", err)
		}
	}
	if err := p.links.show(ctx, token, found.Made, end); err != nil {
		return nil, errRedis(err)
	}
	found.Shown = &end
	return nil, nil //nolint:nilnil // nothing more to wait for
}

// wantsJSON reports whether a program asks, not a browser.
func wantsJSON(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Accept"), "application/json")
}

// result is the page of an estimate.
type result struct {
	vehicle.Estimate

	URL     string // of this page, for others
	Link    string // of the listing; "" when it is no link that a browser may follow
	Request form   // what gave the estimate
	Name    string // TOYOTA COROLLA AXIO 2019
	Facts   string // HYBRID G · NKE165
	Range   scale
	Parts   []part
	Bar     []segment
	Danger  []message.Notice // danger and caution, at most four
	More    []message.Notice
	Day     string // of the figures
	Old     bool   // they may be calculated again
	Choose  string // address of the list of the authority's entries
	Message string // for the seller
	Share   string // address that opens WhatsApp
	Percent int    // taxes in percent of the car and the ship; 0 when that is not known
	HasCost bool

	Pictures pictures
}

// result responds with an estimate.
func (p *Pages) result(w http.ResponseWriter, r *http.Request, token string, found *link) error {
	var estimate vehicle.Estimate
	if err := json.Unmarshal(found.Shown.Result, &estimate); err != nil {
		return fmt.Errorf("web: estimate: %w", err)
	}
	if estimate.Summary == nil || estimate.DriveAway == nil {
		return errors.New("web: an estimate without its summary")
	}
	request, err := formOf(found.Path, found.Body)
	if err != nil {
		return err
	}
	read := estimate.Car
	read.Make = estimate.Matched.Make
	request = request.describing(read, estimate.Matched.ModelBody)
	lang := p.language(w, r)
	view := result{
		Estimate: estimate, URL: p.baseURL(r) + "/e/" + token, Link: followable(estimate.Input.URL), Request: request,
		Name: nameOf(estimate.Car), Facts: factsOf(estimate.Car, lang),
		Day: found.Made.In(duty.EAT).Format(time.DateOnly), Old: isOld(estimate, found.Made),
		Choose: "/e/" + token + "/choose", HasCost: estimate.Summary.OnTheRoad != nil,
	}
	if view.HasCost {
		view.Range = scaleOf(*estimate.Summary.OnTheRoad)
	}
	if percent := estimate.Summary.EffectiveTaxPercent; percent != nil {
		view.Percent = *percent
	}
	view.Pictures = picturesFor(r, token, estimate.Car)
	view.Parts = partsOf(estimate)
	view.Bar = barOf(view.Parts)
	view.Danger, view.More = sorted(estimate.Warnings, p.options.Simulated)
	if err := view.write(lang); err != nil {
		return err
	}
	return p.render(w, r, http.StatusOK, screen{
		Name: "answer", Title: view.Name, Body: view,
		Preview: &preview{view.headline(lang), estimate.Summary.Text.In(lang), view.URL},
	})
}

// write writes the texts that leave the page: for the seller and for friends.
func (v *result) write(lang string) error {
	lines := make([]string, 0, len(v.Summary.Ask))
	for i, question := range v.Summary.Ask {
		lines = append(lines, strconv.Itoa(i+1)+". "+question.Text.EN)
	}
	car := v.Name
	if v.Car.StockNo != "" {
		car += " (" + v.Car.StockNo + ")"
	}
	said, err := say(message.English, "ask.message", "car", car, "url", v.Input.URL)
	if err != nil {
		return err
	}
	said = strings.Replace(said, ": \n", ".\n", 1) // a described car has no link
	v.Message = strings.TrimSpace(said + "\n" + strings.Join(lines, "\n"))
	v.Share = "https://wa.me/?text=" + strings.ReplaceAll(url.QueryEscape(v.headline(lang)+"\n"+v.URL), "+", "%20")
	return nil
}

// headline returns the car and its number in one line.
func (v *result) headline(lang string) string {
	if !v.HasCost {
		return v.Name
	}
	said, err := say(lang, "answer.headline", "car", v.Name, "total", v.Summary.OnTheRoad.TZS)
	if err != nil {
		return v.Name
	}
	return said
}

// followable returns a URL that a browser may follow: http or https.
func followable(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return raw
}

// nameOf returns make, model and year of a car.
func nameOf(car vehicle.Car) string {
	name := strings.TrimSpace(car.Make + " " + car.Model)
	if car.Year > 0 {
		name += " " + strconv.Itoa(car.Year)
	}
	return strings.TrimSpace(name)
}

// factsOf returns what else is known of a car on one line.
func factsOf(car vehicle.Car, lang string) string {
	facts := []string{car.Version, car.ModelCode}
	if car.EngineCC > 0 {
		facts = append(facts, strconv.Itoa(car.EngineCC)+" cc")
	}
	if car.Fuel != "" {
		facts = append(facts, message.Word(car.Fuel).In(lang))
	}
	if car.MileageKM != nil {
		facts = append(facts, "km "+grouped(int64(*car.MileageKM)))
	}
	return strings.Join(slices.DeleteFunc(facts, func(fact string) bool { return fact == "" }), " · ")
}

// grouped returns a number with commas for thousands.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// isOld reports whether figures may be others now: they have expired, or are of another
// day.
func isOld(estimate vehicle.Estimate, made time.Time) bool {
	until, err := time.Parse(time.RFC3339, estimate.ValidUntil)
	now := time.Now()
	return err == nil && now.After(until) || made.In(duty.EAT).Format(time.DateOnly) != now.In(duty.EAT).Format(time.DateOnly)
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

// Fields returns the hidden fields of a form that repeats the request, but for those
// that the form has itself.
func (f form) Fields(without ...string) (hidden [][2]string) {
	for name, value := range f.fields {
		if value != "" && !slices.Contains(without, name) {
			hidden = append(hidden, [2]string{name, value})
		}
	}
	slices.SortFunc(hidden, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return hidden
}
