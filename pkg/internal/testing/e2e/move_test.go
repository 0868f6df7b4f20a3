package e2e

import (
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ushuru/pkg/cli/clitest"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
)

var faultMoves = flag.Bool("fault.moves", false, "TestMoves moves a running service to Sentinel and to a Cluster")

// TestMoves does what docs/redis.md says, with its commands: a service with callers and a
// batch moves from one server to Sentinel, and from one server to a Cluster. It prints
// what callers saw, and rows that were lost or doubled.
func TestMoves(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	if !*faultMoves {
		return // deploy has the short form: TestACopyIsRestored and TestACopyBecomesACluster
	}
	t.Run("to Sentinel", func(t *testing.T) { t.Parallel(); drill(t, toSentinel) })
	t.Run("to a Cluster", func(t *testing.T) { t.Parallel(); drill(t, toCluster) })
}

// moving is a service in processes of its own that moves.
type moving struct {
	*faultRun

	t        *testing.T
	old      *redistest.Server
	balancer *balancer
	apis     []*clitest.Process
	seen     *sightings
}

func drill(t *testing.T, move func(*moving)) {
	testenv.Binary(t, "redis-cli")
	old := redistest.Start(t, redistest.AOF())
	f := startFaultRun(t, old.URL)
	m := &moving{faultRun: f, t: t, old: old, balancer: newBalancer(t), seen: &sightings{codes: map[int]int{}}}
	m.apis = []*clitest.Process{f.api(m.balancer), f.api(m.balancer)}
	f.spawnOnly()
	f.base, f.own = m.balancer.URL, m.balancer.URL
	stop := m.watch()
	f.waitFor(len(f.lots.urls) / 5)
	move(m)
	m.seen.mark("it has moved")
	still := f.standstill()
	stop()
	lost, doubled := f.count()
	t.Logf("%d lost, %d doubled; %d refused and %d cut by the balancer; after the move the longest standstill was %v\n%s",
		lost, doubled, m.balancer.refused.Load(), m.balancer.cut.Load(), still.Round(100*time.Millisecond), m.seen)
	if lost+doubled > 0 {
		t.Errorf("%d rows lost, %d doubled", lost, doubled)
	}
}

// sightings are what callers saw.
type sightings struct {
	mu       sync.Mutex
	began    time.Time
	codes    map[int]int
	failing  time.Time // since when; zero: not
	outages  []string
	progress []string
}

func (s *sightings) mark(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.progress = append(s.progress, fmt.Sprintf("%6.1f s %s", time.Since(s.began).Seconds(), what))
}

func (s *sightings) saw(code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.codes[code]++
	now := time.Now()
	switch failed := code == 0 || code == http.StatusServiceUnavailable || code == http.StatusBadGateway; {
	case failed && s.failing.IsZero():
		s.failing = now
	case !failed && !s.failing.IsZero():
		s.outages = append(s.outages, fmt.Sprintf("%6.1f s for %.1f s", s.failing.Sub(s.began).Seconds(), now.Sub(s.failing).Seconds()))
		s.failing = time.Time{}
	}
}

func (s *sightings) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, code := range slices.Sorted(maps.Keys(s.codes)) {
		fmt.Fprintf(&b, "%d × status %d; ", s.codes[code], code)
	}
	fmt.Fprintf(&b, "\nnot served from\n%s\nprogress\n%s", strings.Join(s.outages, "\n"), strings.Join(s.progress, "\n"))
	return b.String()
}

// watch asks for estimates, ten times a second, until stop. Each submits and does not wait,
// so that the outcome is known at once.
func (m *moving) watch() (stop func()) {
	m.seen.began = time.Now()
	own := newLots(m.t, 2000, 7)
	over := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-over:
				return
			case <-time.After(100 * time.Millisecond):
				m.seen.saw(m.ask(own.urls[i%len(own.urls)]))
			}
		}
	})
	return func() {
		close(over)
		group.Wait()
	}
}

func (m *moving) ask(listing string) int {
	body := strings.NewReader(`{"url":"` + listing + `"}`)
	r, err := http.NewRequestWithContext(m.t.Context(), http.MethodPost, m.balancer.URL+"/v1/estimate", body)
	must(m.t, err)
	r.Header.Set("X-Api-Key", m.key)
	r.Header.Set("Prefer", "respond-async")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0
	}
	_ = response.Body.Close()
	return response.StatusCode
}

// run runs a command of docs/redis.md.
func (m *moving) run(args ...string) {
	m.t.Helper()
	out, err := exec.CommandContext(m.t.Context(), args[0], args[1:]...).CombinedOutput()
	m.seen.mark(strings.Join(args, " "))
	if err != nil {
		m.t.Fatalf("%v: %v\n%s", args, err, out)
	}
	m.t.Logf("$ %s\n%s", strings.Join(args, " "), out)
}

// restart replaces all processes, one after another, by those with another URL.
func (m *moving) restart(url string) {
	m.t.Helper()
	m.url = url
	for i, old := range m.apis {
		m.apis[i] = m.api(m.balancer)
		m.end(old)
	}
	m.seen.mark("the APIs are restarted")
	for i, old := range m.processes {
		m.processes[i] = m.spawn(url)
		m.end(old)
	}
	m.seen.mark("the workers are restarted")
}

// end is SIGTERM, and SIGKILL after 20 s, as a supervisor does.
func (m *moving) end(p *clitest.Process) {
	m.t.Helper()
	must(m.t, p.Signal(syscall.SIGTERM))
	select {
	case <-p.Over:
	case <-time.After(20 * time.Second):
		m.seen.mark("a process had to be killed")
		p.Kill()
	}
}

func port(s *redistest.Server) string { return s.Addr[strings.LastIndex(s.Addr, ":")+1:] }

func toSentinel(m *moving) {
	set := redistest.SentinelOf(m.t, m.old)
	m.seen.mark("a replica follows, a Sentinel watches")
	m.run("redis-cli", "-p", port(set.Sentinel), "SENTINEL", "CKQUORUM", "ushuru")
	m.restart(set.URL)
	m.run("redis-cli", "-p", port(set.Sentinel), "SENTINEL", "FAILOVER", "ushuru")
	m.await("-p", port(set.Replica), "ROLE", "master")
	m.seen.mark("the replica is the master")
}

// await repeats a command of redis-cli until it prints the last argument.
func (m *moving) await(args ...string) {
	m.t.Helper()
	args, want := args[:len(args)-1], args[len(args)-1]
	testenv.Await(m.t, strings.Join(args, " ")+" prints "+want, func() (any, bool) {
		out, err := exec.CommandContext(m.t.Context(), "redis-cli", args...).Output()
		return string(out), err == nil && strings.Contains(string(out), want)
	})
}

func toCluster(m *moving) {
	dir := m.t.TempDir()
	dump, data := filepath.Join(dir, "move.rdb"), filepath.Join(dir, "data")
	spare := []*redistest.Server{redistest.Start(m.t, redistest.Args("--cluster-enabled", "yes")), redistest.Start(m.t, redistest.Args("--cluster-enabled", "yes"))}
	m.run("redis-cli", "-p", port(m.old), "CONFIG", "SET", "repl-diskless-sync-delay", "0", "min-replicas-to-write", "9")
	m.run("redis-cli", "-p", port(m.old), "--rdb", dump)
	m.run("sh", testenv.InRepository(m.t, "deploy", "redis", "restore"), dump, data)
	first := redistest.Start(m.t, redistest.Args("--cluster-enabled", "yes", "--appendonly", "yes", "--dir", data))
	m.run("sh", "-c", "echo yes | redis-cli --cluster fix "+first.Addr)
	m.run("redis-cli", "-p", port(first), "CLUSTER", "INFO")
	m.restart("redis-cluster://" + first.Addr)
	m.run("redis-cli", "-p", port(m.old), "SHUTDOWN", "NOSAVE")
	for _, s := range spare {
		m.run("redis-cli", "--cluster", "add-node", s.Addr, first.Addr)
	}
	m.await("--cluster", "check", first.Addr, "in 3 masters")
	for _, s := range spare {
		m.await("-p", port(s), "CLUSTER", "INFO", "cluster_state:ok")
	}
	m.run("redis-cli", "--cluster", "rebalance", first.Addr, "--cluster-use-empty-masters")
	m.run("redis-cli", "--cluster", "check", first.Addr)
}
