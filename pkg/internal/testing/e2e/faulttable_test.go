package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/cli/clitest"
	"ushuru/pkg/client"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
	"ushuru/pkg/tra/tratest"
	"ushuru/tasks"
)

var (
	faultAway = flag.Duration("fault.away", testenv.Pick(4*time.Second, time.Second), "how long Redis is away in TestFaults")
	faultRows = flag.Int("fault.rows", testenv.Pick(100, 40), "listings of each batch of TestFaults")
)

// How long the two faults last that workers do not wait out, unless faultAway is more:
// a line that is cut, and an outage after which asynq has given up all tasks.
const (
	longCut    = 20 * time.Second
	longOutage = 33 * time.Second
)

// faultCase is a fault in the middle of a batch. It returns when it is over.
type faultCase struct {
	name  string
	redis func(t *testing.T) (url string, fault func(t *testing.T, f *faultRun))
	still time.Duration // how long nothing may end after the fault
	pages int           // pages that may be fetched twice
	quick bool          // runs in the short tier too
	// during means that work must go on during the fault too.
	during bool
}

// faultRun is a batch that a fault interrupts.
type faultRun struct {
	*stack

	url       string // of Redis
	own       string // the API in this process
	lots      *lots
	id        string
	stops     []func()           // of the workers in this process
	processes []*clitest.Process // workers
}

// away has a server of a Redis go away for a while.
func away(d time.Duration, server *redistest.Server) func(*testing.T, *faultRun) {
	return func(*testing.T, *faultRun) {
		server.Kill()
		lasts(d)
		server.Restart()
	}
}

// lasts waits as long as a fault lasts: the servers that it is of have clocks of their own.
func lasts(d time.Duration) { time.Sleep(d) }

// refuses has a Redis refuse writes for a while.
func refuses(t *testing.T, f *faultRun, setting, bad, good string) {
	t.Helper()
	must(t, f.conn.Client().ConfigSet(t.Context(), setting, bad).Err())
	lasts(*faultAway)
	must(t, f.conn.Client().ConfigSet(t.Context(), setting, good).Err())
}

var faultCases = []faultCase{
	{name: "Redis is killed and back", redis: func(t *testing.T) (string, func(*testing.T, *faultRun)) {
		server := redistest.Start(t, redistest.AOF())
		return server.URL, away(*faultAway, server)
	}, still: 5 * time.Second, pages: 40, quick: true},
	// It also loses what was written between its snapshot and its death.
	{name: "Redis loads its data", redis: func(t *testing.T) (string, func(*testing.T, *faultRun)) {
		server := redistest.Start(t)
		return server.URL, func(t *testing.T, f *faultRun) {
			server.RestartLoading(*faultAway)
			testenv.AwaitFor(t, time.Minute+*faultAway, "Redis", func() (any, bool) {
				err := f.conn.Client().Ping(t.Context()).Err()
				return err, err == nil
			})
		}
	}, still: 5 * time.Second, pages: 80},
	{name: "Redis goes back by 2 s", redis: func(t *testing.T) (string, func(*testing.T, *faultRun)) {
		server := redistest.Start(t)
		return server.URL, func(t *testing.T, f *faultRun) {
			must(t, f.conn.Client().Save(t.Context()).Err())
			lasts(2 * time.Second)
			server.Restart()
		}
	}, still: 10 * time.Second, pages: 300},
	{name: "Redis has no memory (OOM)", redis: func(t *testing.T) (string, func(*testing.T, *faultRun)) {
		return redistest.Start(t).URL, func(t *testing.T, f *faultRun) { refuses(t, f, "maxmemory", "1", "0") }
	}, still: 5 * time.Second, pages: 5, quick: true},
	{name: "Redis has no replicas (NOREPLICAS)", redis: func(t *testing.T) (string, func(*testing.T, *faultRun)) {
		return redistest.Start(t).URL, func(t *testing.T, f *faultRun) { refuses(t, f, "min-replicas-to-write", "1", "0") }
	}, still: 5 * time.Second, pages: 5},
	{name: "Redis cannot save (MISCONF)", redis: func(t *testing.T) (string, func(*testing.T, *faultRun)) {
		server := redistest.Start(t, redistest.SavePoint())
		return server.URL, func(_ *testing.T, f *faultRun) {
			repair := server.FailSaves()
			f.isReady(http.StatusServiceUnavailable)
			lasts(*faultAway)
			repair()
			f.isReady(http.StatusOK)
		}
	}, still: 5 * time.Second, pages: 5},
	{name: "Sentinel fails over", redis: func(t *testing.T) (string, func(*testing.T, *faultRun)) {
		set := redistest.Sentinel(t)
		return set.URL, func(*testing.T, *faultRun) { set.Master.Kill() }
	}, still: 10 * time.Second, pages: 80},
	{name: "a primary of a Cluster dies", redis: func(t *testing.T) (string, func(*testing.T, *faultRun)) {
		set := redistest.ReplicatedCluster(t)
		return set.URL, func(*testing.T, *faultRun) { set.Nodes[0].Kill() }
	}, still: 10 * time.Second, pages: 80},
	{name: "a Cluster moves slots", redis: func(t *testing.T) (string, func(*testing.T, *faultRun)) {
		set := redistest.Cluster(t)
		return set.URL, func(t *testing.T, _ *faultRun) { t.Logf("%d slots moved", set.Reshard()) }
	}, still: 5 * time.Second, pages: 5, during: true},
	{name: "workers are restarted in turn", redis: func(t *testing.T) (string, func(*testing.T, *faultRun)) {
		return redistest.Start(t).URL, func(_ *testing.T, f *faultRun) {
			for _, stop := range f.stops {
				stop()
				f.work(tasks.RoleAny, tasks.RoleAuthority)
			}
		}
	}, still: 5 * time.Second, pages: 40, during: true},
	{name: "workers are killed in turn", redis: func(t *testing.T) (string, func(*testing.T, *faultRun)) {
		return redistest.Start(t).URL, func(_ *testing.T, f *faultRun) {
			f.spawnOnly()
			for _, victim := range f.processes {
				lasts(time.Second)
				victim.Kill()
				f.spawn(f.url)
			}
		}
	}, still: 10 * time.Second, pages: 80, during: true, quick: true},
	{name: "all processes are restarted in turn", redis: func(t *testing.T) (string, func(*testing.T, *faultRun)) {
		return redistest.Start(t).URL, func(t *testing.T, f *faultRun) { f.roll(t) }
	}, still: 5 * time.Second, pages: 40, during: true},
	{name: "the line to Redis is cut for long", redis: func(t *testing.T) (string, func(*testing.T, *faultRun)) {
		proxy := redistest.Proxy(t, redistest.Start(t).Addr)
		return proxy.URL, func(*testing.T, *faultRun) {
			proxy.Disable()
			lasts(max(longCut, *faultAway))
			proxy.Enable()
		}
	}, still: 5 * time.Second, pages: 40},
	{name: "Redis is away for long", redis: func(t *testing.T) (string, func(*testing.T, *faultRun)) {
		server := redistest.Start(t, redistest.AOF())
		return server.URL, away(max(longOutage, *faultAway), server)
	}, still: 5 * time.Second, pages: 40},
}

// clockCases are for -fault.clock.
var clockCases = []faultCase{
	{name: "the clock of a host is 90 s ahead", redis: clockOf(90), still: 10 * time.Second, pages: 40, during: true},
	{name: "the clock of a host is 90 s behind", redis: clockOf(-90), still: 10 * time.Second, pages: 40, during: true},
}

// TestFaults prints what each fault costs a batch of a few hundred listings: rows
// that were lost or doubled, pages fetched again, and how long nothing ended after
// the fault. With -fault.away 10m -fault.rows 3000 the outages are long ones.
func TestFaults(t *testing.T) {
	t.Parallel()
	cases := faultCases
	if *faultClock {
		cases = slices.Concat(faultCases, clockCases)
	}
	results := make([]string, len(cases))
	t.Cleanup(func() {
		t.Logf("\n%-36s %6s %8s %12s %14s\n%s", "fault", "lost", "doubled", "pages again", "goes on after", strings.Join(results, ""))
	})
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // a fault waits more than it works
			if !c.quick {
				testenv.Long(t)
			}
			results[i] = c.run(t)
		})
	}
}

// run returns a line of the table.
func (c faultCase) run(t *testing.T) string {
	t.Helper()
	url, fault := c.redis(t)
	f := startFaultRun(t, url)
	f.waitFor(len(f.lots.urls) / 5)
	measured := make(chan time.Duration, 1)
	if c.during {
		go func() { measured <- f.standstill() }()
		fault(t, f)
	} else {
		fault(t, f)
		measured <- f.standstill()
	}
	still := <-measured
	lost, doubled := f.count()
	again := int(f.lots.site.requests.Load()) - len(f.lots.urls)
	// A busy machine adds some seconds: with two builds and a browser beside it 8.1 s were
	// measured where 0.3 to 0.9 s are usual, and in the short tier, which runs while others
	// work, 13.4 s. The table has the figure.
	busy := testenv.Pick(8*time.Second, 30*time.Second)
	if lost+doubled > 0 || still > c.still+busy || again > c.pages {
		t.Errorf("%d lost, %d doubled, %d pages again, stood still for %v (%v allowed)", lost, doubled, again, still, c.still)
	}
	return fmt.Sprintf("%-36s %6d %8d %12d %12.1f s\n", c.name, lost, doubled, again, still.Seconds())
}

func startFaultRun(t *testing.T, url string) *faultRun {
	t.Helper()
	f := &faultRun{stack: newStack(t, redistest.Open(t, url)), url: url, lots: newLots(t, *faultRows, 1)}
	f.own = f.base
	f.authority.SetFaults(tratest.Faults{Latency: tratest.Duration(300 * time.Millisecond)})
	for range 2 {
		f.stops = append(f.stops, f.work(tasks.RoleAny, tasks.RoleAuthority))
	}
	body, err := f.lots.body()
	must(t, err)
	var created client.Batch
	f.postInto("/v1/batches", string(body), &created)
	f.id = created.ID
	return f
}

// spawnOnly replaces the workers in this process by two in processes of their own.
func (f *faultRun) spawnOnly() {
	f.t.Helper()
	f.processes = []*clitest.Process{f.spawn(f.url), f.spawn(f.url)}
	for _, stop := range f.stops {
		stop()
	}
}

// isReady waits for an answer of /readyz.
func (f *faultRun) isReady(want int) {
	f.t.Helper()
	testenv.AwaitFor(f.t, 10*time.Second, fmt.Sprint("/readyz ", want), func() (any, bool) {
		got := f.do(http.MethodGet, "/readyz", nil).status
		return got, got == want
	})
}

// done returns how many rows have ended; -1 when the API cannot say.
func (f *faultRun) done() int {
	ctx, cancel := context.WithTimeout(f.t.Context(), 2*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.own+"/v1/batches/"+f.id, http.NoBody)
	must(f.t, err)
	request.Header.Set("X-Api-Key", f.key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return -1
	}
	defer func() { _ = response.Body.Close() }()
	var status client.Batch
	if response.StatusCode != http.StatusOK || json.NewDecoder(response.Body).Decode(&status) != nil {
		return -1
	}
	return status.Counts["succeeded"] + status.Counts["failed"]
}

func (f *faultRun) waitFor(rows int) {
	f.t.Helper()
	testenv.Await(f.t, fmt.Sprint(rows, " rows"), func() (any, bool) {
		done := f.done()
		return done, done >= rows
	})
}

// standstill waits for the end of the batch and returns the longest time in which no
// row ended.
func (f *faultRun) standstill() (longest time.Duration) {
	f.t.Helper()
	before, since := f.done(), time.Now()
	// It samples, and goes on after its limit with an error: the other cases print their lines.
	samples := time.NewTicker(20 * time.Millisecond)
	defer samples.Stop()
	for end := time.Now().Add(3*time.Minute + *faultAway); before < len(f.lots.urls); <-samples.C {
		now := f.done()
		longest = max(longest, time.Since(since))
		if now > before {
			before, since = now, time.Now()
		}
		if time.Now().After(end) {
			f.t.Errorf("%d of %d rows have ended", now, len(f.lots.urls))
			return longest
		}
	}
	return longest
}

// faultCodes are the errors of rows that a fault has ended; the listings themselves have
// others.
var faultCodes = []string{
	"internal", "worker_lost", "deadline_exceeded", "authority_unavailable", "fetch_failed", "fetch_timeout",
}

// count returns how many listings have no final row or one that a fault has ended, and
// how many more than one.
func (f *faultRun) count() (lost, doubled int) {
	f.t.Helper()
	got := f.do(http.MethodGet, "/v1/batches/"+f.id+"/results?format=ndjson", nil)
	rows := map[int]int{}
	for line := range bytes.Lines(got.body) {
		var row struct {
			Row   int    `json:"row"`
			State string `json:"state"`
			Error struct {
				Code string `json:"code"`
			} `json:"error"`
		}
		must(f.t, json.Unmarshal(line, &row))
		if row.State == "succeeded" || row.State == "failed" && !slices.Contains(faultCodes, row.Error.Code) {
			rows[row.Row]++
		}
	}
	for i := range f.lots.urls {
		lost += max(0, 1-rows[i+1])
		doubled += max(0, rows[i+1]-1)
	}
	return lost, doubled
}
