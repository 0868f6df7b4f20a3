package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/app"
	"ushuru/pkg/cli"
	"ushuru/pkg/cli/console"
	"ushuru/pkg/jobs"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
	"ushuru/pkg/tra"
	"ushuru/pkg/tra/tratest"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// quoteJob submits the quote of a car of the simulated authority, without waiting.
func (s *stack) quoteJob(year int) string {
	s.t.Helper()
	got := s.do(http.MethodPost, "/v1/quote",
		map[string]any{"make": "TOYOTA", "modelCode": "NKE165", "year": year, "modelBody": "COROLLA FIELDER - NKE165 - HYBRID - WAGON"}, "Prefer", "respond-async")
	location := got.header.Get("Location")
	if got.status != http.StatusAccepted || location == "" {
		s.t.Fatalf("status %d: %.200s", got.status, got.body)
	}
	return location[len("/v1/jobs/"):]
}

// A worker that the authority refuses must not fail the jobs that a worker
// elsewhere can finish.
func TestARefusedWorkerLeavesItsJobsToAnother(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	s := newStack(t, redistest.Open(t, redistest.Start(t).URL))
	s.work(tasks.RoleAny, tasks.RoleAuthority)
	s.job(s.quoteJob(2014), ended) // the catalogue is there
	abroad := tratest.Start(t, tratest.Options{Faults: tratest.Faults{RefuseRegion: true}})
	refused := s.workerOptions(tasks.RoleAuthority)
	refused.Authority.BaseURL = abroad.URL
	s.start(app.Options{Worker: refused})
	var submitted []string
	for year := 2015; year < 2021; year++ {
		submitted = append(submitted, s.quoteJob(year))
	}
	for i, id := range submitted {
		job := s.job(id, ended)
		if job.State != jobs.Succeeded {
			t.Errorf("quote %d: %s, %+v", i, job.State, job.Error)
		}
		if retries := job.Steps[tasks.StepCalculate].Retries; retries != 0 {
			t.Errorf("quote %d: a refusal cost %d retries", i, retries)
		}
	}
}

func TestASyncByHand(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	s := newStack(t, redistest.Open(t, redis.URL))
	sync := func(args ...string) (int, string, string) {
		var out, errs bytes.Buffer
		status := cli.Main(t.Context(), append([]string{"authority", "sync", "--redis-url", redis.URL}, args...), cli.Streams{Out: &out, Err: &errs})
		return status, out.String(), errs.String()
	}
	if status, _, errs := sync("--wait", "1s"); status != console.ExitFailure || !strings.Contains(errs, "no worker with the role authority") {
		t.Errorf("without a worker: %d, %s", status, errs)
	}
	s.work(tasks.RoleAuthority)
	if status, out, errs := sync(); status != console.ExitOK || !strings.Contains(out, `"failed": 0`) {
		t.Errorf("with a worker: %d, %s %s", status, out, errs)
	}
}

// A total of TZS 2.00 was once served at confidence high, and cached for 14 days.
func TestAPoisonedCalculationIsNotBelieved(t *testing.T) {
	t.Parallel()
	s := newStack(t, redistest.Open(t, redistest.Start(t).URL))
	s.work(tasks.RoleAny, tasks.RoleAuthority)
	s.authority.SetFaults(tratest.Faults{TinyTotals: true})
	poisoned := s.post(s.car(0))
	if poisoned.status != http.StatusInternalServerError || !strings.Contains(string(poisoned.body), `"code":"authority_implausible"`) ||
		!strings.Contains(string(poisoned.body), `"retryable":true`) || strings.Contains(string(poisoned.body), "2.00") {
		t.Errorf("%d %s", poisoned.status, poisoned.body)
	}
	s.authority.SetFaults(tratest.Faults{})
	s.expireJoinGrace()
	good := s.post(s.car(0)).estimate(t)
	if good.Cached || good.Matched.Confidence == vehicle.Low {
		t.Errorf("cached %t, confidence %s, warnings %+v", good.Cached, good.Matched.Confidence, good.Warnings)
	}
}

// A known vehicle is answered of expired figures while TRA cannot be asked, with and
// without a worker of the role authority.
func TestStaleFiguresWhileTheAuthorityIsAway(t *testing.T) {
	t.Parallel()
	conn := redistest.Open(t, redistest.Start(t).URL)
	s := newStack(t, conn)
	stop := s.work(tasks.RoleAuthority)
	s.work(tasks.RoleAny)
	first := s.post(s.car(0)).estimate(t)
	expire := func() { // as when the authority shows a later quarter
		must(t, conn.Client().Set(t.Context(), "tra:period", 99999, 0).Err())
		for _, key := range conn.Client().Keys(t.Context(), "cache:*").Val() {
			must(t, conn.Client().Del(t.Context(), key).Err())
		}
		s.expireJoinGrace()
	}
	stop()
	must(t, conn.Client().Del(t.Context(), "tra:worker").Err()) // as it is 12 s after the end of the worker
	forgets()
	expire()
	stale := s.post(s.car(0)).estimate(t)
	if !stale.Stale || stale.AsOf != first.AsOf || !hasWarning(stale, tra.WarnStale) ||
		stale.Tax.ReferenceNumber != first.Tax.ReferenceNumber {
		t.Errorf("stale %t of %s, %+v", stale.Stale, stale.AsOf, stale.Warnings)
	}
	until, err := time.Parse(time.RFC3339, stale.ValidUntil)
	if err != nil || time.Until(until) > time.Minute {
		t.Errorf("cached until %s, %v", stale.ValidUntil, err)
	}
	s.work(tasks.RoleAuthority)
	forgets()
	expire()
	if fresh := s.post(s.car(0)).estimate(t); fresh.Stale || fresh.Tax.ReferenceNumber == first.Tax.ReferenceNumber {
		t.Errorf("with a worker: stale %t, %s", fresh.Stale, fresh.Tax.ReferenceNumber)
	}
}

// Callers learn at once when nothing can ask TRA, and the job goes on later.
func TestWaitingCallersLearnThatTheAuthorityIsAway(t *testing.T) {
	t.Parallel()
	s := newStack(t, redistest.Open(t, redistest.Start(t).URL))
	stop := s.work(tasks.RoleAny, tasks.RoleAuthority)
	s.post(s.car(0)).estimate(t) // the catalogue is there
	stop()
	must(t, s.conn.Client().Del(t.Context(), "tra:worker").Err()) // as it is 12 s after the end of the worker
	s.work(tasks.RoleAny)
	forgets()
	began := time.Now()
	got := s.post(s.car(1))
	if took := time.Since(began); got.status != http.StatusGatewayTimeout || took > 20*time.Second ||
		!strings.Contains(string(got.body), `"waitingFor":"authority"`) || !strings.Contains(string(got.body), "No worker") {
		t.Fatalf("after %v: %d, %.300s", took, got.status, got.body)
	}
	location := got.header.Get("Location")
	accepted := s.post(s.car(1), "Prefer", "respond-async")
	for _, body := range []answer{accepted, s.do(http.MethodGet, location, nil), s.do(http.MethodGet, location, nil, "Prefer", "wait=40")} {
		if !strings.Contains(string(body.body), `"waitingFor":"authority","message":"No worker`) {
			t.Errorf("%d: %.300s", body.status, body.body)
		}
	}
	s.work(tasks.RoleAuthority)
	if e := s.post(s.car(1)).estimate(t); e.Stale {
		t.Error("stale")
	}
}

// The line to the only worker that asks TRA is cut. A known vehicle is answered at
// once, the status notices the missing worker within 15 s, and what was queued for the
// worker is answered of expired figures; the rest goes on when the line is back.
func TestACutLineToTheAuthority(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	server := redistest.Start(t)
	line := redistest.Proxy(t, server.Addr)
	s := newStack(t, redistest.Open(t, server.URL))
	s.work(tasks.RoleAny)
	far := *s
	far.conn = redistest.Open(t, line.URL)
	far.work(tasks.RoleAuthority)
	s.post(s.car(0)).estimate(t)
	forget := func() {
		for _, key := range s.conn.Client().Keys(t.Context(), "cache:*").Val() {
			must(t, s.conn.Client().Del(t.Context(), key).Err())
		}
		s.expireJoinGrace()
	}
	forget()
	line.Disable()
	cut := time.Now()
	if known := s.post(s.car(0)).estimate(t); known.Stale || time.Since(cut) > 10*time.Second {
		t.Errorf("a known vehicle after %v, stale %t", time.Since(cut), known.Stale)
	}
	forget()
	must(t, s.conn.Client().Set(t.Context(), "tra:period", 99999, 0).Err()) // the figures expire
	forgets()
	queued, cold := s.submit(s.car(0)), s.submit(s.car(1))
	s.job(queued, func(j *jobs.Job) bool { return j.Steps[tasks.StepCalculate].State == jobs.StepReady })
	testenv.AwaitFor(t, 15*time.Second-time.Since(cut), "the status down", func() (any, bool) {
		var body struct {
			Status string `json:"status"`
			Reason string `json:"reason"`
		}
		must(t, json.Unmarshal(s.do(http.MethodGet, "/v1/tra-status", nil).body, &body))
		return body, body.Status == "down"
	})
	noticed := time.Since(cut)
	answered := s.job(queued, ended)
	took := time.Since(cut)
	var e vehicle.Estimate
	if err := json.Unmarshal(answered.Result, &e); err != nil || !e.Stale || took > noticed+15*time.Second {
		t.Errorf("queued: %s after %v, stale %t, %v", answered.State, took, e.Stale, err)
	}
	if record := s.job(cold, func(*jobs.Job) bool { return true }); record.State.Ended() {
		t.Errorf("a cold vehicle: %s, %+v", record.State, record.Error)
	}
	line.Enable()
	back := time.Now()
	if record := s.job(cold, ended); record.State != jobs.Succeeded || time.Since(back) > 20*time.Second {
		t.Errorf("the cold vehicle: %s after %v, %+v", record.State, time.Since(back), record.Error)
	}
	t.Logf("noticed after %v, stale after %v, goes on %v after the return", noticed.Round(time.Millisecond),
		took.Round(time.Millisecond), time.Since(back).Round(time.Millisecond))
}
