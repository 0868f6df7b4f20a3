package console_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/ai"
	"ushuru/pkg/client"
	"ushuru/pkg/fetch"
	"ushuru/pkg/operate/status"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
	"ushuru/pkg/webhook"
)

// until waits until the status is as wanted.
func (s *service) until(what string, is func(status.Status) bool) status.Status {
	s.t.Helper()
	var now status.Status
	testenv.Await(s.t, what, func() (any, bool) {
		now = s.read()
		return now, is(now)
	})
	return now
}

// do posts the form of an action.
func (s *service) do(c *http.Client, action, about string, more ...string) {
	s.t.Helper()
	form := url.Values{"about": {about}}
	for i := 0; i+1 < len(more); i += 2 {
		form.Set(more[i], more[i+1])
	}
	got := s.send(c, http.MethodPost, "/console/do/"+action, form)
	if got.code != http.StatusSeeOther || got.header.Get("Location") != "/console?done="+action {
		s.t.Fatalf("%s: %d %v %s", action, got.code, got.header, got.body)
	}
}

func TestBatchesAreCancelled(t *testing.T) {
	t.Parallel()
	s := start(t)
	api, err := client.New(client.Options{URL: s.URL, Key: s.Key})
	if err != nil {
		t.Fatal(err)
	}
	urls := map[string][]string{"urls": {s.Site + "/slow?n=1", s.Site + "/slow?n=2"}}
	made, err := client.Send[client.Batch](t.Context(), api, "POST /v1/batches", urls)
	if err != nil {
		t.Fatal(err)
	}
	c := s.logIn()
	s.do(c, "batch-cancel", made.ID)
	s.until("the batch is cancelled", func(now status.Status) bool {
		return now.Batches[0].ID == made.ID && now.Batches[0].Cancelled != nil && now.Batches[0].Ended != nil
	})
	if got := s.send(c, http.MethodPost, "/console/do/batch-cancel", url.Values{"about": {"NONE"}}); got.code != http.StatusUnprocessableEntity {
		t.Errorf("a batch that does not exist: %d", got.code)
	}
}

func TestFailedJobsAreTriedAgain(t *testing.T) {
	t.Parallel()
	s := startWith(t, redistest.Open(t, redistest.Start(t).URL))
	api, err := client.New(client.Options{URL: s.URL, Key: s.Key})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		if _, err := api.Estimate(t.Context(), client.EstimateRequest{URL: s.Site + "/redirect-private?n=" + strconv.Itoa(n)}); err == nil {
			t.Fatal("a page on a private address was estimated")
		}
	}
	gone := func(n int64) func(status.Status) bool {
		return func(now status.Status) bool { return len(now.Failures) == 1 && now.Failures[0].Day == n }
	}
	failure := s.until("three have failed", gone(3)).Failures[0]
	if !failure.CanRetry {
		t.Fatalf("%+v", failure)
	}
	c := s.logIn()
	s.do(c, "job-retry", failure.Job)
	s.until("one was tried again", gone(4))

	full := func(memory string) {
		if err := s.conn.Client().ConfigSet(t.Context(), "maxmemory", memory).Err(); err != nil {
			t.Fatal(err)
		}
	}
	full("1")
	all := url.Values{"about": {failure.Code}}
	got := s.send(c, http.MethodPost, "/console/do/failures-retry", all)
	full("0")
	if got.code != http.StatusUnprocessableEntity || !strings.Contains(got.body, "no memory") {
		t.Errorf("without memory: %d %s", got.code, got.body)
	}
	s.do(c, "failures-retry", failure.Code)
	s.until("all were tried again", func(now status.Status) bool { return now.Failures[0].Day >= 7 })
}

func TestSitesAIWebhooksAndTRA(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := s.logIn()
	paused := func() int {
		pauses, err := fetch.Pauses(t.Context(), s.conn.Client())
		if err != nil {
			t.Fatal(err)
		}
		return len(pauses)
	}
	s.do(c, "site-pause", "sbtjapan.com", "minutes", "5")
	if paused() != 2 {
		t.Error("the site is not paused")
	}
	s.do(c, "site-resume", "sbtjapan.com")
	if paused() != 0 {
		t.Error("the site is paused still")
	}
	for _, minutes := range []string{"", "many", "-5"} {
		got := s.send(c, http.MethodPost, "/console/do/site-pause", url.Values{"about": {"sbtjapan.com"}, "minutes": {minutes}})
		if got.code != http.StatusUnprocessableEntity || paused() != 0 {
			t.Errorf("%q minutes: %d", minutes, got.code)
		}
	}

	s.do(c, "ai-budget", "", "tokens", "5000")
	if day, err := ai.ReadBudget(t.Context(), s.conn.Client(), 1, time.Now()); err != nil || day.Limit != 5000 || s.read().AI.Limit != 5000 {
		t.Errorf("%+v, %v", day, err)
	}

	owner := s.read().Keys[0].ID
	const record = `{"id":"wh1","url":"https://hooks.example/secret","state":"verified","disabled":"it answered 410 Gone"}`
	if err := s.conn.Client().HSet(t.Context(), "webhook:{"+owner+"}", "wh1", record).Err(); err != nil {
		t.Fatal(err)
	}
	s.do(c, "webhook-enable", "wh1")
	if e, err := webhook.NewStore(s.conn.Client(), nil).Get(t.Context(), owner, "wh1"); err != nil || e.Disabled != "" {
		t.Errorf("%+v, %v", e, err)
	}
	s.do(c, "webhook-retry", "wh1")
	s.do(c, "breaker-reset", "")
	s.do(c, "authority-sync", "")
}
