package web

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ushuru/api/web/links"
	"ushuru/pkg/message"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/sheet"
	"ushuru/pkg/vehicle"
)

// readingAPI is an API whose every estimate is cached, of a car with a sheet, and that reads the
// sheet in a job.
type readingAPI struct {
	t       *testing.T
	begun   atomic.Int32                   // readings
	outcome atomic.Pointer[map[string]any] // of the job; nil while it runs
	refused atomic.Pointer[string]         // the response to a reading that does not start
	status  int                            // of that response
	gone    atomic.Bool                    // the API knows no job any longer
	valid   string                         // until when the estimates are; "" for as long as usual
}

// linkedSheetURL has what a person who types an address does not mean with it.
const linkedSheetURL = "https://cars.example/O'Neil.jpg?sheet=(1)"

func (a *readingAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == pathReport:
		a.begun.Add(1)
		var asked struct {
			URL string `json:"url"`
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || asked.URL != linkedSheetURL {
			a.t.Errorf("the API was asked to read %q (%v), want %q", asked.URL, err, linkedSheetURL)
		}
		if said := a.refused.Load(); said != nil {
			w.WriteHeader(a.status)
			_, _ = w.Write([]byte(*said))
			return
		}
		w.Header().Set("Location", "/v1/jobs/1")
		w.WriteHeader(http.StatusAccepted)
	case strings.HasPrefix(r.URL.Path, "/v1/jobs/"):
		if a.gone.Load() {
			refusing(http.StatusNotFound, `{"error":"No such job.","code":"job_not_found"}`)(w, r)
			return
		}
		said := map[string]any{"id": "1", "state": "running", "created": time.Now()}
		if ended := a.outcome.Load(); ended != nil {
			maps.Copy(said, *ended)
		}
		_ = json.NewEncoder(w).Encode(said)
	default:
		answering(a.t, func(e *vehicle.Estimate) {
			address := linkedSheetURL
			e.Car.ConditionReportURL = &address
			e.ValidUntil = cmp.Or(a.valid, e.ValidUntil)
			e.Doubts = []vehicle.Doubt{{Code: "sheet_not_read", Level: "doubt", Text: message.Say("doubt/sheet_not_read", nil)}}
		})(w, r)
	}
}

// badReport is a report on a sheet whose car was in an accident.
func badReport(t *testing.T) vehicle.ConditionReport {
	t.Helper()
	answer := reading(t)
	var report sheet.Report
	if err := json.Unmarshal(answer.Report, &report); err != nil {
		t.Fatal(err)
	}
	grade := "R"
	report.Grades.OverallRaw = &grade
	report.RedFlags = sheet.FindRedFlags(&report)
	var err error
	if answer.Report, err = json.Marshal(report); err != nil {
		t.Fatal(err)
	}
	return answer
}

// TestALinkedSheetIsReadOnceAndSpeaksInTheAnswer: the number stands before it is read, and the
// reading starts once, whoever looks.
func TestALinkedSheetIsReadOnceAndSpeaksInTheAnswer(t *testing.T) {
	t.Parallel()
	api := &readingAPI{t: t}
	_, h := served(t, api.ServeHTTP)
	at := ask(t, h, "u=https://cars.example/1")
	const unread = "There is an auction sheet and it was not read"
	body := shows(t, h, at, `id="number">TSh 45.2 million<`, `data-reading="/e/`, "being read")
	if _, page, _ := strings.Cut(body, "<body"); strings.Contains(page, unread) {
		t.Errorf("the page calls a sheet that is being read not read:\n%s", page)
	}
	for _, elsewhere := range []string{between(body, `og:title" content="`, `"`), unescaped(t, between(body, "wa.me/?text=", `"`))} {
		if !strings.Contains(elsewhere, unread) {
			t.Errorf("got %q for others, want that the sheet was not read", elsewhere)
		}
	}
	shows(t, h, at+"/paper", "<h1", unread)
	if w := get(h, at+"/doubts", nil); w.Code != http.StatusNoContent {
		t.Errorf("before the sheet is read its part has the status %d, want 204", w.Code)
	}
	api.outcome.Store(&map[string]any{"state": "succeeded", "result": badReport(t)})
	body = shows(t, h, at, `<b class="danger">`, "repair history to the body frame", `href="/s/`)
	for _, never := range []string{"data-reading", unread} {
		if strings.Contains(body, never) {
			t.Errorf("the page of a sheet that was read has %q:\n%s", never, body)
		}
	}
	if part := shows(t, h, at+"/doubts", `<b class="danger">`, "id=\"minds\"", "not%20our%20advice"); strings.Contains(part, "<html") {
		t.Errorf("what the sheet changes is a whole page:\n%s", part)
	}
	if title := between(body, `og:title" content="`, `"`); !strings.Contains(title, "not our advice") {
		t.Errorf("got the preview %q, want the doubt of the sheet in it", title)
	}
	shows(t, h, "/s/"+between(body, `href="/s/`, `"`), "Know this before you pay")
	shows(t, h, at+"?lang=sw", "Ona karatasi")
	if n := api.begun.Load(); n != 1 {
		t.Errorf("%d readings of one sheet, want 1", n)
	}
}

// TestALinkedSheetThatIsNotReadIsSaid in one sentence, and fails nothing.
func TestALinkedSheetThatIsNotReadIsSaid(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		outcome map[string]any
		status  int
		refused string
		want    string // "" for nothing of it
	}{
		"no sheet":  {outcome: failedWith("not_a_sheet"), want: "The picture says no."},
		"budget":    {outcome: failedWith("ai_budget_used_up"), want: "The picture says no."},
		"no AI":     {outcome: failedWith("no_ai")},
		"refused":   {status: 400, refused: `{"error":"No such site.","code":"url_unsupported"}`, want: "No such site."},
		"down":      {status: 503, refused: `{"error":"No server.","code":"unavailable"}`, want: "No server."},
		"senseless": {status: 502, refused: `<h1>Bad gateway`, want: "Something went wrong on our side."},
		"no AI now": {status: 503, refused: `{"error":"No AI.","code":"no_ai"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := &readingAPI{t: t, status: c.status}
			if c.outcome != nil {
				api.outcome.Store(&c.outcome)
			}
			if c.refused != "" {
				api.refused.Store(&c.refused)
			}
			_, h := served(t, api.ServeHTTP)
			at := ask(t, h, "u=https://cars.example/1")
			body := shows(t, h, at, `id="number">TSh 45.2 million<`, "There is an auction sheet and it was not read", `href="/s?u=https`)
			if said := "<b>Auction sheet:</b> " + c.want; strings.Contains(body, said) != (c.want != "") || c.want == "" && strings.Contains(body, "<b>Auction sheet:") {
				t.Errorf("want %q beside the number in\n%s", said, body)
			}
			shows(t, h, at, "<h1")
			if n := api.begun.Load(); n != 1 && c.refused == "" {
				t.Errorf("%d readings, want 1", n)
			}
		})
	}
}

func failedWith(code string) map[string]any {
	said := message.Text{EN: "The picture says no.", SW: "Picha inasema hapana."}
	return map[string]any{"state": "failed", "error": vehicle.Error{Code: code, Message: said.EN, Text: &said}}
}

func unescaped(t *testing.T, text string) string {
	t.Helper()
	plain, err := url.QueryUnescape(text)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

// TestASheetWhoseJobIsGoneIsReadAgain: it ended long ago, and nobody looked.
func TestASheetWhoseJobIsGoneIsReadAgain(t *testing.T) {
	t.Parallel()
	const noPage = "There is no such page"
	api := &readingAPI{t: t}
	_, h := served(t, api.ServeHTTP)
	at := ask(t, h, "u=https://cars.example/1")
	shows(t, h, at, "being read")
	api.gone.Store(true)
	body := shows(t, h, at, `id="number">TSh 45.2 million<`, "<b>Auction sheet:</b> The service is temporarily unavailable.")
	if strings.Contains(body, noPage) || api.begun.Load() != 2 {
		t.Errorf("after %d readings, want 2, the page of a lost job is\n%s", api.begun.Load(), body)
	}
	api.gone.Store(false)
	shows(t, h, at, "being read")
	shows(t, h, at, "being read")
	if n := api.begun.Load(); n != 3 {
		t.Errorf("%d readings, want a third one alone", n)
	}
}

// TestASheetOfAnExpiredEstimateIsNotReadAgain: what it says would be held against old figures.
func TestASheetOfAnExpiredEstimateIsNotReadAgain(t *testing.T) {
	t.Parallel()
	api := &readingAPI{t: t, valid: "2026-01-02T00:00:00+03:00"}
	p, h := served(t, api.ServeHTTP)
	at := ask(t, h, "u=https://cars.example/1")
	answer, err := p.linkAt(t.Context(), strings.TrimPrefix(at, "/e/"))
	if err != nil {
		t.Fatal(err)
	}
	fields := url.Values{"u": {linkedSheetURL}}
	token, err := p.tokenOf(t.Context(), answer.Network, pathReport, fields, answer.Made)
	if err != nil {
		t.Fatal(err)
	}
	sheet := links.Link{Path: pathReport, Fields: fields, Job: "/v1/jobs/1", Made: answer.Made, Network: answer.Network}
	if err := p.links.Put(t.Context(), token, sheet); err != nil {
		t.Fatal(err)
	}
	shows(t, h, at, "being read") // the link is that of the sheet
	api.gone.Store(true)
	page := shows(t, h, at, `id="number">TSh 45.2 million<`, `href="/s?u=https`)
	if n := api.begun.Load(); n != 0 || strings.Contains(page, "<b>Auction sheet:") {
		t.Errorf("after %d readings, want none, the page is\n%s", n, page)
	}
}

// TestTheNumberStandsWhereNothingCanBeStored, but for the sheet.
func TestTheNumberStandsWhereNothingCanBeStored(t *testing.T) {
	t.Parallel()
	api := &readingAPI{t: t}
	p, h := served(t, api.ServeHTTP)
	p.links.Redis = redistest.Open(t, redistest.Start(t).URL).Client()
	at := ask(t, h, "u=https://cars.example/1")
	setMemory := func(most string) {
		if err := p.links.Redis.ConfigSet(t.Context(), "maxmemory", most).Err(); err != nil {
			t.Fatal(err)
		}
	}
	setMemory("1")
	shows(t, h, at, `id="number">TSh 45.2 million<`, "<b>Auction sheet:</b> The service is temporarily unavailable.")
	setMemory("0")
	shows(t, h, at, "being read")
	api.outcome.Store(&map[string]any{"state": "succeeded", "result": badReport(t)})
	setMemory("1")
	shows(t, h, at, `id="number">TSh 45.2 million<`, "<b>Auction sheet:</b> The service is temporarily unavailable.")
	setMemory("0")
	shows(t, h, at, "repair history to the body frame")
}
