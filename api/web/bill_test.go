package web

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/bill"
	"ushuru/pkg/cost"
)

// judging is an API that judges a bill at once, for a car whose estimate is kept, and for
// others first starts a job, as the API does.
func judging(t *testing.T) http.HandlerFunc {
	t.Helper()
	car := estimate(t, nil)
	started := false
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet { // of the job, whose result is the estimate
			_ = json.NewEncoder(w).Encode(map[string]any{"id": "J1", "state": "succeeded", "result": car})
			return
		}
		var body struct {
			URL  string `json:"url"`
			Text string `json:"text"`
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		check := bill.Check{Tables: cost.Embedded(), Day: time.Now()}
		if body.URL != "" {
			if !started {
				started = true
				w.Header().Set("Location", "/v1/jobs/J1")
				w.WriteHeader(http.StatusAccepted)
				_ = json.NewEncoder(w).Encode(map[string]any{"id": "J1", "state": "queued"})
				return
			}
			check.Estimate = &car
		}
		answer, ok := check.Judge(bill.FromText(body.Text))
		if !ok {
			t.Errorf("no amount in %q", body.Text)
		}
		_ = json.NewEncoder(w).Encode(answer)
	}
}

// A bill of a car waits for its estimate and is then judged; one without a car is judged
// at once. The questionable line stands first, and there is a message for the agent.
func TestABillIsCheckedOnItsPage(t *testing.T) {
	t.Parallel()
	_, h := served(t, judging(t))
	for name, u := range map[string]string{"with a car": "https://cars.example/1", "without a car": ""} {
		form := url.Values{"u": {u}, "text": {"Delivery order 250,000\r\nAgency fee 100,000\r\n<b>Chai</b> 20,000"}}
		w := post(h, "/bill", form.Encode(), http.Header{})
		at := w.Header().Get("Location")
		if w.Code != http.StatusSeeOther || !strings.HasPrefix(at, "/bill/") {
			t.Fatalf("%s: %d %s\n%s", name, w.Code, at, w.Body)
		}
		for lang, want := range map[string][]string{
			"en": {"Agency fee", "100000.00", "the agent", "&lt;b&gt;Chai&lt;/b&gt;", "please send the issuer"},
			"sw": {"Agency fee", "wakala", "Inayodaiwa, TSh"},
		} {
			body := get(h, at+"?lang="+lang, nil).Body.String()
			for _, part := range want {
				if !strings.Contains(body, part) {
					t.Errorf("%s, %s: no %q in\n%s", name, lang, part, body)
				}
			}
			if first, second := strings.Index(body, ">Agency fee<"), strings.Index(body, ">Delivery order<"); first < 0 || first > second {
				t.Errorf("%s, %s: the questionable line does not stand first\n%s", name, lang, body)
			}
		}
		if car := strings.Contains(get(h, at, nil).Body.String(), `id="missing"`); car != (u != "") {
			t.Errorf("%s: what will still come is said: %v", name, car)
		}
	}
}

// TestTheAgentIsAskedForLinesWithASum: one without a sum says nothing to the agent.
func TestTheAgentIsAskedForLinesWithASum(t *testing.T) {
	t.Parallel()
	unread := bill.Judged{Name: "Total", Verdict: bill.Unknown}
	if got := messageForAgent([]bill.Judged{unread}); got != "" {
		t.Errorf("got the message %q, want none", got)
	}
	got := messageForAgent([]bill.Judged{unread, {Name: "Chai", AmountTZS: "20000.00", Verdict: bill.Unknown}})
	if strings.Contains(got, "Total") || !strings.HasSuffix(got, "\n1. Chai: TZS 20000") {
		t.Errorf("got the message %q, want the line with a sum alone", got)
	}
}
