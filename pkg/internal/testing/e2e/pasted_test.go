package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"ushuru/pkg/listing"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// asked is a request to /v1/estimate with all it may hold.
type asked struct {
	URL     string `json:"url"`
	HTML    string `json:"html,omitempty"`
	Explain bool   `json:"explain,omitempty"`
}

func (s *stack) ask(q asked) answer { return s.do(http.MethodPost, "/v1/estimate", q) }

// page is the page of a demo car, as a browser would have it.
func (s *stack) page(url string) string {
	s.t.Helper()
	response, err := http.Get(url)
	must(s.t, err)
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	must(s.t, err)
	return string(body)
}

func embeddedRedis(t *testing.T) *redisx.Conn {
	t.Helper()
	conn := redistest.Embedded(t)
	return conn
}

func TestAPageThatWasSentIsForItsSenderAlone(t *testing.T) {
	t.Parallel()
	s := newStack(t, embeddedRedis(t))
	s.work(tasks.Roles...)
	page := s.page(s.car(0))
	const nowhere = "https://cars.example.com/used/1" // never asked: it does not exist
	first := s.ask(asked{URL: nowhere, HTML: page}).estimate(t)
	if first.Input.URL != nowhere || first.Cached || first.Car.ModelCode == "" {
		t.Fatalf("%+v", first)
	}
	if last := first.Warnings[len(first.Warnings)-1]; !hasWarning(first, "pasted_page") {
		t.Errorf("no warning of the page, but %v", last)
	}
	if again := s.ask(asked{URL: nowhere, HTML: page}).estimate(t); !again.Cached {
		t.Error("the same page was read twice")
	}
	made := strings.ReplaceAll(page, "2019", "2016") // a year in which TRA lists the car
	if other := s.ask(asked{URL: s.car(0), HTML: made}).estimate(t); other.Cached {
		t.Error("another page was answered from the cache")
	}
	alone := s.ask(asked{URL: s.car(0)}).estimate(t)
	if alone.Cached || hasWarning(alone, "pasted_page") {
		t.Errorf("the URL alone was answered from a page that another caller sent: %+v", alone)
	}
	var failure vehicle.Error
	got := s.ask(asked{URL: nowhere, HTML: "<p>hello</p>"})
	if err := json.Unmarshal(got.body, &failure); err != nil || got.status != 422 || failure.Code != "not_a_listing" {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func hasWarning(e vehicle.Estimate, code string) bool {
	for _, w := range e.Warnings {
		if w.Code == code {
			return true
		}
	}
	return false
}

func TestAnEstimateIsExplainedToWhoAsks(t *testing.T) {
	t.Parallel()
	s := newStack(t, embeddedRedis(t))
	s.work(tasks.Roles...)
	for _, q := range []asked{{URL: s.car(0), Explain: true}, {URL: s.car(0)}, {URL: s.car(0), Explain: true}} {
		got := s.ask(q)
		var e struct {
			vehicle.Estimate
			Explain []listing.Field `json:"explain"`
			Notes   []string        `json:"notes"`
		}
		must(t, json.Unmarshal(got.body, &e))
		if !q.Explain && (e.Explain != nil || e.Notes != nil) {
			t.Errorf("explained without being asked: %s", got.body)
		}
		if q.Explain && (len(e.Explain) < 8 || e.Explain[0].Source == "" || e.Notes == nil || e.Tax.ReferenceNumber == "") {
			t.Errorf("cached %v: %s", e.Cached, got.body)
		}
	}
}
