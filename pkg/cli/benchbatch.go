package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/client"
	"ushuru/pkg/keys"
	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/redisx"
	"ushuru/pkg/tra/tratest"
	"ushuru/tasks"
	"ushuru/worker"
)

// benchBatch runs a whole batch over SIMULATED pages and a SIMULATED authority
// that answer at once, on an empty Redis.
type benchBatch struct {
	redisConfig
	Listings int    `default:"10000" help:"Listings in the batch."`
	Window   int    `default:"200" help:"Listings at work at once."`
	Persons  int    `default:"60" help:"Single estimates before, and as many while the batch runs."`
	Profile  string `type:"path" help:"File for a CPU profile of the run."`
}

// steps of an estimate, each a task of the queue.
const stepsOfEstimate = 3

// Run is called by kong.
func (c *benchBatch) Run(r *run) error {
	if r.common.production() {
		return errors.New("the benchmark is refused in production: its figures are made up")
	}
	defer r.close()
	r.log = newLog(r.Err, "error")
	if err := c.ensureRedis(r); err != nil {
		return err
	}
	conn, err := r.redis(c.redisConfig, false)
	if err != nil {
		return err
	}
	if n, err := conn.Client().DBSize(r.ctx).Result(); err != nil || n > 0 {
		return errors.Join(errors.New("the benchmark needs an empty Redis"), err)
	}
	bare, err := worker.Throughput(r.ctx, conn.Client(), c.Listings)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(r.Out, "bare asynq no-op tasks:     %8.0f /s, with as many steps as an estimate has: %.0f /s\n",
		bare, bare/stepsOfEstimate)
	stack, err := c.start(r, conn)
	if err != nil {
		return err
	}
	return stack.measure(r, c, bare/stepsOfEstimate)
}

// ensureRedis starts a redis-server of its own when no URL is given.
func (c *benchBatch) ensureRedis(r *run) error {
	if c.RedisURL != "" {
		return nil
	}
	dir, err := os.MkdirTemp("", "ushuru-bench")
	if err != nil {
		return err
	}
	r.onClose(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "redis")
	//nolint:gosec // our own socket
	command := exec.CommandContext(context.WithoutCancel(r.ctx), "redis-server",
		"--port", "0", "--unixsocket", socket, "--dir", dir,
		"--save", "", "--appendonly", "yes", "--appendfsync", "everysec")
	if err := command.Start(); err != nil {
		return fmt.Errorf("give --redis-url, or install redis-server: %w", err)
	}
	r.onClose(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	c.RedisURL = Secret("redis-socket://" + socket)
	for range 200 {
		if _, err = os.Stat(socket); err == nil {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return err
}

// benchStack is the service and what it is measured by.
type benchStack struct {
	redis     redis.UniversalClient
	authority *tratest.Simulator
	site      string
	base, key string
	client    *client.Client
}

func (c *benchBatch) start(r *run, conn *redisx.Conn) (*benchStack, error) {
	s := &benchStack{redis: conn.Client()}
	var err error
	if s.authority, err = tratest.New(tratest.Options{}); err != nil {
		return nil, err
	}
	addresses := map[string]http.Handler{"authority": s.authority, "site": &instantSite{site: listingtest.New()}}
	for name, handler := range addresses {
		listener, err := r.listen("127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		r.serve(listener, handler)
		if name == "site" {
			s.site = "http://" + listener.Addr().String()
		} else {
			s.base = "http://" + listener.Addr().String() + tratest.Path
		}
	}
	parts := demoParts{allowLoopback: true, simulated: true}
	err = r.startWorker(
		workerConfig{
			Roles: []tasks.Role{tasks.RoleAny, tasks.RoleAuthority}, FetchTimeout: 30 * time.Second,
			ShutdownTimeout: time.Second, BatchWindow: c.Window,
		},
		authorityConfig{AuthorityURL: s.base, AuthorityTimeout: 10 * time.Second}, conn, parts)
	if err != nil {
		return nil, err
	}
	var listener net.Listener
	if listener, err = r.listen("127.0.0.1:0"); err != nil {
		return nil, err
	}
	s.base = "http://" + listener.Addr().String()
	if err := r.startAPI(httpConfig{WaitMax: time.Minute}, listener, conn, parts); err != nil {
		return nil, err
	}
	if s.key, _, err = keys.NewStore(conn.Client()).Create(r.ctx, "bench"); err != nil {
		return nil, err
	}
	s.client, err = client.New(client.Options{URL: s.base, Key: s.key})
	return s, err
}

// benchCars are the cars of the site that need no AI.
func benchCars() []listingtest.Car {
	return slices.DeleteFunc(listingtest.Cars(), func(c listingtest.Car) bool { return c.Code == "" })
}

// instantSite renders each of a site's pages once: what is measured is the
// service, not the templates of a simulator.
type instantSite struct {
	site  http.Handler
	pages sync.Map // path → *sitePage
}

// sitePage is an answer of the site.
type sitePage struct {
	bytes.Buffer

	header http.Header
	status int
}

func (p *sitePage) Header() http.Header    { return p.header }
func (p *sitePage) WriteHeader(status int) { p.status = status }

// ServeHTTP answers with the page at a path, whatever the query.
func (s *instantSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	known, _ := s.pages.Load(r.URL.Path)
	answer, ok := known.(*sitePage)
	if !ok {
		answer = &sitePage{header: http.Header{}, status: http.StatusOK}
		s.site.ServeHTTP(answer, r)
		s.pages.Store(r.URL.Path, answer)
	}
	maps.Copy(w.Header(), answer.header)
	w.WriteHeader(answer.status)
	_, _ = w.Write(answer.Bytes()) //nolint:gosec // pages of our own
}

// listing is the address of the nth of as many listings as one likes.
func (s *benchStack) listing(kind string, n int) string {
	cars := benchCars()
	return fmt.Sprintf("%s%s?%s=%d", s.site, cars[n%len(cars)].Path(), kind, n)
}

func (s *benchStack) measure(r *run, c *benchBatch, ideal float64) error {
	idle, err := s.persons(r.ctx, "idle", c.Persons)
	if err != nil {
		return err
	}
	before, err := usedMemory(r.ctx, s.redis)
	if err != nil {
		return err
	}
	if c.Profile != "" {
		file, err := os.Create(c.Profile)
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(file); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	spent, redisSpent, err := s.processorTime(r.ctx)
	if err != nil {
		return err
	}
	id, begun, err := s.handIn(r.ctx, c.Listings)
	if err != nil {
		return err
	}
	busy := make(chan []time.Duration, 1)
	failed := make(chan error, 1)
	go func() {
		took, err := s.persons(r.ctx, "busy", c.Persons)
		busy <- took
		failed <- err
	}()
	state, most, err := s.untilEnded(r.ctx, id)
	took := time.Since(begun)
	if err != nil {
		return err
	}
	during := <-busy
	if err := <-failed; err != nil {
		return err
	}
	after, err := usedMemory(r.ctx, s.redis)
	if err != nil {
		return err
	}
	spentAfter, redisAfter, err := s.processorTime(r.ctx)
	if err != nil {
		return err
	}
	each := func(total time.Duration) time.Duration {
		return (total / time.Duration(c.Listings)).Round(10 * time.Microsecond)
	}
	rate := float64(c.Listings) / took.Seconds()
	counts := s.authority.Counts()
	_, _ = fmt.Fprintf(r.Out, `listings:                   %8d in %s: %.0f /s, %.0f %% of bare asynq
ended as:                   %s
processor, all of a listing: %7s in this process, %s in Redis
Redis, all of a listing:    %8d bytes
this process at its peak:   %8.0f MB (API, worker, site and authority)
single estimates, p95:      %8s idle, %s while the batch ran: %.2f times
getVehicleDetails:          %8d for %d tuples
`, c.Listings, took.Round(time.Millisecond), rate, 100*rate/ideal, state,
		each(spentAfter-spent), each(redisAfter-redisSpent), (after-before)/int64(c.Listings), float64(most)/(1<<20),
		quantile(idle, 0.95), quantile(during, 0.95), float64(quantile(during, 0.95))/float64(quantile(idle, 0.95)),
		counts.Calls["getVehicleDetails"], len(counts.Tuples))
	return nil
}

func (s *benchStack) handIn(ctx context.Context, n int) (id string, begun time.Time, err error) {
	var body struct {
		URLs []string `json:"urls"`
	}
	for i := range n {
		body.URLs = append(body.URLs, s.listing("lot", i))
	}
	data, err := json.Marshal(body)
	if err != nil {
		return "", begun, err
	}
	begun = time.Now()
	answer, err := s.client.Do(ctx, client.Request{Path: "/v1/batches", Body: data})
	if err != nil {
		return "", begun, err
	}
	var made struct {
		ID string `json:"id"`
	}
	err = json.Unmarshal(answer.Body, &made)
	return made.ID, begun, err
}

// untilEnded waits for the end of a batch and returns how its rows ended, and
// the most memory of this process.
func (s *benchStack) untilEnded(ctx context.Context, id string) (ended string, most int64, err error) {
	for {
		answer, err := s.client.Do(ctx, client.Request{Path: "/v1/batches/" + id})
		if err != nil {
			return "", 0, err
		}
		var b struct {
			State  string         `json:"state"`
			Counts map[string]int `json:"counts"`
		}
		if err := json.Unmarshal(answer.Body, &b); err != nil {
			return "", 0, err
		}
		most = max(most, residentMemory())
		if b.State != "running" {
			return fmt.Sprint(b.Counts), most, nil
		}
		select {
		case <-ctx.Done():
			return "", 0, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// persons asks for single estimates, one after the other, and returns how long
// each took, sorted. None was asked for before.
func (s *benchStack) persons(ctx context.Context, kind string, n int) ([]time.Duration, error) {
	took := make([]time.Duration, 0, n)
	for i := range n {
		begun := time.Now()
		if _, err := s.client.PostAndWait(ctx, "/v1/estimate", map[string]string{"url": s.listing(kind, i)}); err != nil {
			return nil, err
		}
		if i >= len(benchCars()) || kind != "idle" { // the first of each car asks the authority
			took = append(took, time.Since(begun))
		}
	}
	slices.Sort(took)
	return took, nil
}

// processorTime is what this process and Redis have spent so far. Beside
// others' work on the machine it says more than the clock on the wall.
func (s *benchStack) processorTime(ctx context.Context) (own, inRedis time.Duration, err error) {
	info, err := s.redis.Info(ctx, "cpu").Result()
	if err != nil {
		return 0, 0, err
	}
	for _, name := range []string{"used_cpu_user:", "used_cpu_sys:"} {
		_, rest, _ := strings.Cut(info, "\n"+name)
		value, _, _ := strings.Cut(rest, "\r\n")
		seconds, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return 0, 0, err
		}
		inRedis += time.Duration(seconds * float64(time.Second))
	}
	return ownTime(), inRedis, nil
}

// ownTime is the processor time of this process; zero on systems without /proc.
func ownTime() time.Duration {
	data, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0
	}
	const user, system, tick = 11, 12, 10 * time.Millisecond // proc(5); Linux shows it in hundredths of a second
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	ticks := 0
	for _, field := range [][]byte{fields[user], fields[system]} {
		n, err := strconv.Atoi(string(field))
		if err != nil {
			return 0
		}
		ticks += n
	}
	return time.Duration(ticks) * tick
}

func usedMemory(ctx context.Context, client redis.UniversalClient) (int64, error) {
	info, err := client.Info(ctx, "memory").Result()
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(info, "used_memory:")
	value, _, _ := strings.Cut(rest, "\r\n")
	return strconv.ParseInt(value, 10, 64)
}

// residentMemory is what this process holds; of systems without /proc, what
// Go took.
func residentMemory() int64 {
	data, err := os.ReadFile("/proc/self/statm")
	fields := bytes.Fields(data)
	if err == nil && len(fields) > 1 {
		if pages, err := strconv.ParseInt(string(fields[1]), 10, 64); err == nil {
			return pages * int64(os.Getpagesize())
		}
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return int64(memory.Sys) //nolint:gosec // fits
}
