package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"ushuru/pkg/cli/clitest"
	"ushuru/pkg/drift"
	"ushuru/pkg/jobs"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
	"ushuru/pkg/tra/tratest"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

func ended(job *jobs.Job) bool { return job.State.Ended() }

func TestEstimateGoesThroughTheQueueOnEveryRedis(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		s := newStack(t, conn)
		s.work(tasks.RoleAny)
		s.work(tasks.RoleAuthority)
		made := s.post(s.car(0))
		first := made.estimate(t)
		if first.Cached || first.Matched.MatchType != vehicle.ExactCode || first.Matched.ModelBody != "COROLLA AXIO - NKE165 - HYBRID - SEDAN" {
			t.Fatalf("%+v", first.Matched)
		}
		if drive := first.DriveAway; drive == nil || !drive.Complete || drive.TotalTZS.String() == "0.00" || len(drive.Lines) == 0 {
			t.Errorf("drive-away cost %+v", drive)
		}
		rules, err := drift.NewStore(conn.Client()).State(t.Context())
		if err != nil || rules.RulesAgree == nil || !*rules.RulesAgree || rules.Checked != 1 {
			t.Errorf("the rules were not compared with the answer: %+v, %v", rules, err)
		}
		again := s.post(s.car(0))
		if !again.estimate(t).Cached {
			t.Fatal("the second answer did not come from the cache")
		}
		if want := strings.Replace(string(made.body), `"cached":false`, `"cached":true`, 1); string(again.body) != want {
			t.Fatalf("the cache says otherwise:\n%s\n%s", again.body, want)
		}
	})
}

func TestHundredCallersOneJobOneCalculation(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := newStack(t, redistest.Open(t, server.URL))
	s.work(tasks.Roles...)
	var callers sync.WaitGroup
	references := make([]string, 100)
	for i := range references {
		callers.Go(func() { references[i] = s.post(s.car(0)).estimate(t).Tax.ReferenceNumber })
	}
	callers.Wait()
	for _, reference := range references {
		if reference == "" || reference != references[0] {
			t.Fatalf("the callers got several answers: %v", references)
		}
	}
	if n := s.authority.Count("getVehicleDetails"); n != 1 {
		t.Errorf("%d calculations", n)
	}
	records, err := s.conn.Client().Keys(t.Context(), "job:{*").Result()
	if err != nil || len(records) != 1 {
		t.Errorf("%d jobs: %v, %v", len(records), records, err)
	}
}

func TestKilledWorkersStepGoesToAnother(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	for name, slow := range map[string]func(*stack) (url, step string){
		"calculating": func(s *stack) (string, string) {
			s.authority.SetFaults(tratest.Faults{
				Calls: []string{"getVehicleDetails"}, Next: 1, SlowBody: tratest.Duration(time.Minute),
			})
			return s.car(0), tasks.StepCalculate
		},
		"reading": func(s *stack) (string, string) { return s.site + "/slow", tasks.StepScrape },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t, redistest.AOF())
			s := newStack(t, redistest.Open(t, server.URL))
			processes := map[string]*clitest.Process{}
			for range 2 {
				p := s.spawn(server.URL)
				processes[p.Started.Worker] = p
			}
			url, step := slow(s)
			id := s.submit(url)
			if step == tasks.StepCalculate {
				// A closed gate gives the step back and takes it again; not so
				// once the calculation is asked for.
				s.job(id, func(*jobs.Job) bool { return s.authority.Count("getVehicleDetails") == 1 })
			}
			job := s.job(id, func(job *jobs.Job) bool { return job.Steps[step].State == jobs.StepClaimed })
			processes[job.Steps[step].Worker].Kill()
			killed := time.Now()
			taken := s.job(id, func(job *jobs.Job) bool {
				return job.Steps[step].Attempt > 1 && job.Steps[step].State != jobs.StepReady || job.State.Ended()
			})
			if took := time.Since(killed); took > 20*time.Second {
				t.Errorf("another worker took over after %v", took)
			}
			if step == tasks.StepScrape {
				if taken.Steps[step].Worker == job.Steps[step].Worker {
					t.Fatal("the dead worker took its own step")
				}
				return
			}
			done := s.job(id, ended)
			t.Logf("done %v after the kill", time.Since(killed).Round(10*time.Millisecond))
			if took := time.Since(killed); done.State != jobs.Succeeded || took > 20*time.Second {
				t.Errorf("%s %v after %v", done.State, done.Error, took)
			}
		})
	}
}

// A worker that dies while it fetches the catalogue must not keep the others
// from fetching it.
func TestKilledSyncIsRestarted(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	server := redistest.Start(t, redistest.AOF())
	s := newStack(t, redistest.Open(t, server.URL))
	s.authority.SetFaults(tratest.Faults{Calls: []string{"getMakes"}, Next: 2, SlowBody: tratest.Duration(2 * time.Minute)})
	first := s.spawn(server.URL)
	id := s.submit(s.car(0))
	s.job(id, func(*jobs.Job) bool { return s.authority.Count("getMakes") == 2 }) // probe and sync hang
	s.spawn(server.URL)
	first.Kill()
	killed := time.Now()
	job := s.job(id, ended)
	t.Logf("done %v after the kill", time.Since(killed).Round(10*time.Millisecond))
	if took := time.Since(killed); job.State != jobs.Succeeded || took > 20*time.Second {
		t.Errorf("%s %v after %v", job.State, job.Error, took)
	}
}

func TestNoJobIsLostWhileRedisIsAway(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	server := redistest.Start(t)
	proxy := redistest.Proxy(t, server.Addr)
	s := newStack(t, redistest.Open(t, "redis://"+proxy.Addr))
	s.work(tasks.Roles...)
	s.post(s.car(0)).estimate(t) // everything is warm
	s.authority.SetFaults(tratest.Faults{Latency: tratest.Duration(300 * time.Millisecond)})
	var ids []string
	for i := range 20 {
		ids = append(ids, s.submit(fmt.Sprintf("%s?n=%d", s.car(1+i%3), i)))
	}
	proxy.Disable()
	select {
	case <-time.After(5 * time.Second):
	case <-t.Context().Done():
	}
	proxy.Enable()
	for _, id := range ids {
		if job := s.job(id, ended); job.State != jobs.Succeeded {
			t.Errorf("job %s: %s %v", id, job.State, job.Error)
		}
	}
}

func TestFailuresReachTheCaller(t *testing.T) {
	t.Parallel()
	redis := redistest.Embedded(t)
	s := newStack(t, redis)
	s.work(tasks.Roles...)
	for path, want := range map[string]struct {
		status int
		code   string
	}{
		"/gone":             {http.StatusUnprocessableEntity, "listing_gone"},
		"/blocked":          {http.StatusInternalServerError, "listing_blocked"},
		"/list":             {http.StatusUnprocessableEntity, "several_cars"},
		"/huge":             {http.StatusUnprocessableEntity, "fetch_too_large"},
		"/redirect-private": {http.StatusBadRequest, "url_forbidden"},
	} {
		got := s.post(s.site + path)
		if got.status != want.status || !bytes.Contains(got.body, []byte(`"code":"`+want.code+`"`)) {
			t.Errorf("%s: %d %s, want %d %s", path, got.status, got.body, want.status, want.code)
		}
	}
	if got := s.post(s.site + "/flaky"); got.status != http.StatusOK {
		t.Errorf("a site that answers the second time: %d %s", got.status, got.body)
	}
}

func TestRealPageGivesAnExactEstimate(t *testing.T) {
	t.Parallel()
	page := testenv.Reference(t, "pages", "beforward_2026-09_detail_excerpt.html")
	redis := redistest.Embedded(t)
	s := newStack(t, redis)
	s.work(tasks.Roles...)
	e := s.post(servePage(t, page)).estimate(t)
	if e.Matched.MatchType != vehicle.ExactCode || e.Matched.ModelBody != "COROLLA AXIO - NKE165 - HYBRID - SEDAN" ||
		e.Matched.YOM != 2019 || e.Matched.FuelType != "PETROL & ELECTRIC" || e.Matched.CapacityBand != "1001 - 1500 CC" ||
		e.Matched.Confidence != vehicle.Medium || len(e.Matched.Adjustments) != 1 {
		t.Fatalf("%+v", e.Matched)
	}
}
