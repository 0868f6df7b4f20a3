package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"testing"
	"time"

	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/tra/tratest"
	"ushuru/tasks"
)

var (
	faultAway = flag.Duration("fault.away", 4*time.Second, "how long Redis is away in TestFaults")
	faultRows = flag.Int("fault.rows", 200, "listings of each batch of TestFaults")
)

// faultCase is a fault in the middle of a batch. It returns when it is over.
type faultCase struct {
	name  string
	redis func(t *testing.T) (url string, fault func(t *testing.T, f *faultRun))
	still time.Duration // how long nothing may end after the fault
	pages int           // pages that may be fetched twice
}

// faultRun is a batch that a fault interrupts.
type faultRun struct {
	*stack

	lots  *lots
	id    string
	stops []func() // of the workers
}

var faultCases = []faultCase{
	{"Redis is killed and back", func(t *testing.T) (string, func(*testing.T, *faultRun)) {
		server := redistest.Start(t, redistest.AOF())
		return server.URL, func(*testing.T, *faultRun) {
			server.Kill()
			time.Sleep(*faultAway)
			server.Restart()
		}
	}, 5 * time.Second, 40},
	{"the line to Redis is cut", func(t *testing.T) (string, func(*testing.T, *faultRun)) {
		proxy := redistest.Proxy(t, redistest.Start(t).Addr)
		return proxy.URL, func(*testing.T, *faultRun) {
			proxy.Disable()
			time.Sleep(*faultAway)
			proxy.Enable()
		}
	}, 5 * time.Second, 40},
	// It also loses what was written between its snapshot and its death.
	{"Redis loads its data", func(t *testing.T) (string, func(*testing.T, *faultRun)) {
		server := redistest.Start(t)
		return server.URL, func(t *testing.T, f *faultRun) {
			server.RestartLoading(*faultAway)
			for f.conn.Loading(t.Context()) {
				time.Sleep(20 * time.Millisecond)
			}
		}
	}, 10 * time.Second, 80},
	{"Redis goes back by 2 s", func(t *testing.T) (string, func(*testing.T, *faultRun)) {
		server := redistest.Start(t)
		return server.URL, func(t *testing.T, f *faultRun) {
			must(t, f.conn.Client().Save(t.Context()).Err())
			time.Sleep(2 * time.Second)
			server.Restart()
		}
	}, 10 * time.Second, 300},
	{"Redis has no memory", func(t *testing.T) (string, func(*testing.T, *faultRun)) {
		server := redistest.Start(t)
		return server.URL, func(t *testing.T, f *faultRun) {
			must(t, f.conn.Client().ConfigSet(t.Context(), "maxmemory", "1").Err())
			time.Sleep(*faultAway)
			must(t, f.conn.Client().ConfigSet(t.Context(), "maxmemory", "0").Err())
		}
	}, 5 * time.Second, 5},
	{"Sentinel fails over", func(t *testing.T) (string, func(*testing.T, *faultRun)) {
		set := redistest.Sentinel(t)
		return set.URL, func(*testing.T, *faultRun) { set.Master.Kill() }
	}, 10 * time.Second, 80},
	{"a primary of a Cluster dies", func(t *testing.T) (string, func(*testing.T, *faultRun)) {
		set := redistest.ReplicatedCluster(t)
		return set.URL, func(*testing.T, *faultRun) { set.Nodes[0].Kill() }
	}, 10 * time.Second, 80},
	{"workers are restarted in turn", func(t *testing.T) (string, func(*testing.T, *faultRun)) {
		return redistest.Start(t).URL, func(_ *testing.T, f *faultRun) {
			for _, stop := range f.stops {
				stop()
				f.work(tasks.RoleAny, tasks.RoleAuthority)
			}
		}
	}, 5 * time.Second, 40},
}

// TestFaults prints what each fault costs a batch of a few hundred listings: rows
// that were lost or doubled, pages fetched again, and how long nothing ended after
// the fault. With -fault.away 70s -fault.rows 3000 the outages are long ones.
func TestFaults(t *testing.T) {
	var table bytes.Buffer
	_, _ = fmt.Fprintf(&table, "\n%-32s %6s %8s %12s %12s\n", "fault", "lost", "doubled", "pages again", "stood still")
	for _, c := range faultCases {
		t.Run(c.name, func(t *testing.T) {
			url, fault := c.redis(t)
			f := startFaultRun(t, url)
			f.waitFor(len(f.lots.urls) / 5)
			fault(t, f)
			still := f.standstill()
			lost, doubled := f.count()
			again := int(f.lots.site.requests.Load()) - len(f.lots.urls)
			_, _ = fmt.Fprintf(&table, "%-32s %6d %8d %12d %12v\n", c.name, lost, doubled, again, still.Round(10*time.Millisecond))
			if lost+doubled > 0 || still > c.still || again > c.pages {
				t.Errorf("%d lost, %d doubled, %d pages again, stood still for %v (%v allowed)", lost, doubled, again, still, c.still)
			}
		})
	}
	t.Log(table.String())
}

func startFaultRun(t *testing.T, url string) *faultRun {
	t.Helper()
	f := &faultRun{stack: newStack(t, redistest.Open(t, url)), lots: newLots(t, *faultRows, 1)}
	f.authority.SetFaults(tratest.Faults{Latency: tratest.Duration(300 * time.Millisecond)})
	for range 2 {
		f.stops = append(f.stops, f.work(tasks.RoleAny, tasks.RoleAuthority))
	}
	body, err := f.lots.body()
	must(t, err)
	var created batchStatus
	f.postInto("/v1/batches", string(body), &created)
	f.id = created.ID
	return f
}

// done returns how many rows have ended; -1 when the API cannot say.
func (f *faultRun) done() int {
	ctx, cancel := context.WithTimeout(f.t.Context(), 2*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.base+"/v1/batches/"+f.id, http.NoBody)
	must(f.t, err)
	request.Header.Set("X-Api-Key", f.key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return -1
	}
	defer func() { _ = response.Body.Close() }()
	var status batchStatus
	if response.StatusCode != http.StatusOK || json.NewDecoder(response.Body).Decode(&status) != nil {
		return -1
	}
	return status.Counts["succeeded"] + status.Counts["failed"]
}

func (f *faultRun) waitFor(rows int) {
	f.t.Helper()
	for end := time.Now().Add(time.Minute); f.done() < rows; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			f.t.Fatalf("%d rows after a minute", f.done())
		}
	}
}

// standstill waits for the end of the batch and returns the longest time in which no
// row ended.
func (f *faultRun) standstill() (longest time.Duration) {
	f.t.Helper()
	before, since := f.done(), time.Now()
	for end := time.Now().Add(3 * time.Minute); before < len(f.lots.urls); time.Sleep(20 * time.Millisecond) {
		now := f.done()
		longest = max(longest, time.Since(since))
		if now > before {
			before, since = now, time.Now()
		}
		if time.Now().After(end) {
			f.t.Fatalf("%d of %d rows have ended", now, len(f.lots.urls))
		}
	}
	return longest
}

// count returns how many listings have no final row, or more than one.
func (f *faultRun) count() (lost, doubled int) {
	f.t.Helper()
	got := f.do(http.MethodGet, "/v1/batches/"+f.id+"/results?format=ndjson", nil)
	rows := map[int]int{}
	for line := range bytes.Lines(got.body) {
		var row struct {
			Row   int    `json:"row"`
			State string `json:"state"`
		}
		must(f.t, json.Unmarshal(line, &row))
		if row.State == "succeeded" || row.State == "failed" {
			rows[row.Row]++
		}
	}
	for i := range f.lots.urls {
		lost += max(0, 1-rows[i+1])
		doubled += max(0, rows[i+1]-1)
	}
	return lost, doubled
}
