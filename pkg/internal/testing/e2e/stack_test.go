package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"ushuru/pkg/app"
	"ushuru/pkg/cli/clitest"
	"ushuru/pkg/fetch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/keys"
	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/tra"
	"ushuru/pkg/tra/tratest"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// stack is the real program around a simulated authority and listing site.
type stack struct {
	t         *testing.T
	conn      *redisx.Conn
	log       *slog.Logger
	authority *tratest.Server
	site      string // address of the listing site
	base      string // address of the API
	key       string
}

// newStack starts an API on a Redis. The test starts the workers that it needs.
func newStack(t *testing.T, conn *redisx.Conn) *stack {
	t.Helper()
	s := &stack{t: t, conn: conn, authority: tratest.Start(t, tratest.Options{}), log: slog.New(slog.DiscardHandler)}
	site := httptest.NewServer(listingtest.New())
	t.Cleanup(site.Close)
	s.site = site.URL
	var err error
	s.key, _, err = keys.NewStore(conn.Client()).Create(t.Context(), "test")
	must(t, err)
	listener, err := app.Listen(t.Context(), "127.0.0.1:0")
	must(t, err)
	s.base = "http://" + listener.Addr().String()
	s.start(app.Options{API: &app.APIOptions{Listener: listener, WaitMax: 50 * time.Second}})
	return s
}

// forgets waits until the processes have forgotten what they read of keys and of the state
// of TRA, which they remember for a second by their own clocks.
func forgets() { time.Sleep(1100 * time.Millisecond) }

// start starts a process of the service inside this one. stop may be called
// before the test ends.
func (s *stack) start(options app.Options) (stop func()) {
	s.t.Helper()
	options.Redis, options.Log, options.AllowLoopback = s.conn, s.log, true
	if options.Worker != nil {
		options.Redis = redistest.As(s.t, s.conn, userOf(options.Worker.Roles))
	}
	service, err := app.New(options)
	must(s.t, err)
	s.t.Cleanup(service.Stop)
	must(s.t, service.Start(s.t.Context()))
	return service.Stop
}

// userOf returns the user of Redis that a worker is; the user of the role any may do what
// those of the others may.
func userOf(roles []tasks.Role) string {
	if len(roles) == 1 && roles[0] == tasks.RoleAuthority {
		return "authority"
	}
	return "worker"
}

// work starts workers in this process.
func (s *stack) work(roles ...tasks.Role) (stop func()) {
	s.t.Helper()
	return s.start(app.Options{Worker: s.workerOptions(roles...)})
}

func (s *stack) workerOptions(roles ...tasks.Role) *app.WorkerOptions {
	return &app.WorkerOptions{
		Roles: roles, ShutdownTimeout: 5 * time.Second, Fetch: fetch.Options{Timeout: 20 * time.Second},
		Authority: tra.Options{BaseURL: s.authority.URL, Timeout: 20 * time.Second},
	}
}

// spawn starts a worker in a process of its own and returns when it takes
// tasks.
func (s *stack) spawn(redisURL string) *clitest.Process {
	s.t.Helper()
	p, err := clitest.Start(s.t, "worker started", "worker", "--allow-loopback",
		"--redis-url", redistest.URLAs(redisURL, "worker"), "--authority-url", s.authority.URL, "--authority-rate", "0", "--fetch-rate", "0")
	must(s.t, err)
	return p
}

// answer is what the API said.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) estimate(t *testing.T) vehicle.Estimate {
	t.Helper()
	var e vehicle.Estimate
	if a.status != http.StatusOK || json.Unmarshal(a.body, &e) != nil {
		t.Fatalf("status %d: %s", a.status, a.body)
	}
	return e
}

func (s *stack) do(method, path string, body any, headers ...string) answer {
	s.t.Helper()
	data, err := json.Marshal(body)
	must(s.t, err)
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.base+path, bytes.NewReader(data))
	must(s.t, err)
	request.Header.Set("X-Api-Key", s.key)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Error(err)
		return answer{}
	}
	defer func() { _ = response.Body.Close() }()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Error(err)
	}
	return answer{response.StatusCode, response.Header, got}
}

func (s *stack) post(url string, headers ...string) answer {
	s.t.Helper()
	return s.do(http.MethodPost, "/v1/estimate", vehicle.Input{URL: url}, headers...)
}

// submit posts without waiting and returns the job's id.
func (s *stack) submit(url string) string {
	s.t.Helper()
	got := s.post(url, "Prefer", "respond-async")
	location := got.header.Get("Location")
	if got.status != http.StatusAccepted || location == "" {
		s.t.Fatalf("status %d, location %q: %s", got.status, location, got.body)
	}
	return filepath.Base(location)
}

// job reads a job's record until it is as wanted.
func (s *stack) job(id string, wanted func(*jobs.Job) bool) *jobs.Job {
	s.t.Helper()
	store := jobs.NewStore(s.conn.Client())
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		job, err := store.Get(s.t.Context(), id)
		if err == nil && wanted(job) {
			return job
		}
		select {
		case <-s.t.Context().Done():
		case <-time.After(5 * time.Millisecond):
		}
	}
	job, err := store.Get(s.t.Context(), id)
	s.t.Fatalf("job %s is not as wanted after a minute: %+v, %v", id, job, err)
	return nil
}

// car returns the address of a demo car by a part of its path.
func (s *stack) car(i int) string { return s.site + listingtest.Cars()[i].Path() }

// servePage serves one saved page at an address of this machine.
func servePage(t *testing.T, path string) string {
	t.Helper()
	page, err := os.ReadFile(path)
	must(t, err)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(page)
	}))
	_ = server.Listener.Close()
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	return server.URL + "/" + filepath.Base(path)
}
