package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"ushuru/api"
	"ushuru/api/request"
	"ushuru/api/terms"
	"ushuru/pkg/batch"
	"ushuru/pkg/cache"
	"ushuru/pkg/drift"
	"ushuru/pkg/jobs"
	"ushuru/pkg/keys"
	"ushuru/pkg/localtime"
	"ushuru/pkg/message"
	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/tra"
	"ushuru/pkg/vehicle"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
)

// The paths of listings that the worker of the tests treats in a special way;
// any other listing succeeds.
const (
	hangs     = "/hangs"     // never ends
	noMatch   = "/no-match"  // fails with candidates
	forbidden = "/forbidden" // fetching shows that the address is not public
	cancelled = "/cancelled" // the job is cancelled
)

const site = "https://cars.example"

// app is the API over HTTP, with a Redis and a worker behind it.
type app struct {
	*httptest.Server

	api   *api.Server
	conn  *redisx.Conn
	jobs  *jobs.Store
	hub   *jobs.Hub
	keys  *keys.Store
	cache *cache.Cache
	tasks *tasks.Engine
	key   string // a good one
	keyID string
	log   *logLines
	taken chan string // listings that the worker is done with
}

// newOptions builds the stores of an API on a Redis.
func newOptions(conn *redisx.Conn) api.Options {
	client := conn.Client()
	options := api.Options{
		Redis: client, Jobs: jobs.NewStore(client),
		Batches: batch.NewStore(client), Cache: cache.New(client), Catalogue: tra.NewStore(client, tra.StoreOptions{}),
		Drift:  drift.NewStore(client),
		Verify: keys.NewStore(client).Verify, Rates: pace.NewRates(client), Bytes: pace.NewAccounts(client, pace.KindBytes),
		Webhooks:   webhook.NewStore(client, nil),
		AsynqRedis: conn.AsynqOpt(),
	}
	options.Hub = jobs.NewHub(options.Jobs)
	options.Tasks = tasks.New(tasks.Options{
		Redis: client, Jobs: options.Jobs, Results: options.Cache, Webhooks: options.Webhooks,
	})
	return options
}

// newApp starts an API on a Redis; change may set its options.
func newApp(t testing.TB, conn *redisx.Conn, change func(*api.Options)) *app {
	t.Helper()
	options := newOptions(conn)
	a := &app{
		conn: conn, jobs: options.Jobs, hub: options.Hub, keys: keys.NewStore(conn.Client()), cache: options.Cache, tasks: options.Tasks,
		log: &logLines{}, taken: make(chan string, 1000),
	}
	plain, key, err := a.keys.Create(t.Context(), "tests")
	if err != nil {
		t.Fatal(err)
	}
	a.key, a.keyID = plain, key.ID
	options.Log = slog.New(slog.NewJSONHandler(a.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if change != nil {
		change(&options)
	}
	a.api, err = api.New(options)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var listening sync.WaitGroup
	listening.Go(func() { a.hub.Run(ctx) })
	a.Server = httptest.NewServer(a.api)
	t.Cleanup(func() {
		a.Close()
		stop()
		listening.Wait()
		if err := a.api.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// embedded is an empty Redis inside the process.
func embedded(t *testing.T) *redisx.Conn {
	t.Helper()
	return redistest.Embedded(t)
}

// work starts the worker: it takes the first step of every job from the queue
// and ends the job as the listing's path says.
func (a *app) work(t *testing.T) {
	t.Helper()
	queues := tasks.QueuesOf(tasks.RoleAny)
	maps.Copy(queues, tasks.QueuesOf(tasks.RoleAI))
	server := asynq.NewServer(a.conn.AsynqOpt(), asynq.Config{
		Queues: queues, Concurrency: 4, TaskCheckInterval: 10 * time.Millisecond,
		LogLevel: asynq.FatalLevel, ShutdownTimeout: time.Second,
	})
	if err := server.Start(asynq.HandlerFunc(a.handle)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Shutdown)
}

func (a *app) handle(ctx context.Context, task *asynq.Task) error {
	if task.Type() == tasks.TypeDispatch {
		return nil // the tests feed by themselves
	}
	payload, err := tasks.ParseTaskPayload(task.Payload())
	if err != nil {
		return err
	}
	defer func() { a.taken <- payload.URL }()
	path, _, _ := strings.Cut(strings.TrimPrefix(payload.URL, site), "?")
	switch path {
	case hangs:
		return nil
	case cancelled:
		err = a.end(ctx, payload.Job, jobs.End{State: jobs.Cancelled})
	case noMatch, forbidden:
		err = a.end(ctx, payload.Job, jobs.End{State: jobs.Failed, Error: failures[path]})
	default:
		err = a.succeed(ctx, payload)
	}
	return errors.Join(err, a.tasks.Advance(ctx, payload.Job))
}

// succeed ends a job with the result of its listing. A page that was sent is
// made the version of the car, to show that it came through.
func (a *app) succeed(ctx context.Context, payload tasks.TaskPayload) error {
	result := estimateOf(payload.URL)
	job, err := a.jobs.Get(ctx, payload.Job)
	if err != nil {
		return err
	}
	if job.Kind == tasks.KindQuote {
		return a.end(ctx, payload.Job, succeeded(quoteOf(job.Input)))
	}
	if own, there := comparing[job.Kind]; there {
		return own(ctx, a, job)
	}
	var input tasks.EstimateInput
	if err := json.Unmarshal(job.Input, &input); err != nil {
		return err
	}
	if input.Page != "" {
		page, err := a.jobs.Attachment(ctx, job.ID)
		if err != nil {
			return err
		}
		result = versionOf(payload.URL, string(page))
	}
	return a.end(ctx, payload.Job, succeeded(result))
}

// end ends a job, as a worker does.
func (a *app) end(ctx context.Context, id string, how jobs.End) error {
	job, err := a.jobs.Get(ctx, id)
	if err != nil {
		return err
	}
	return a.tasks.End(ctx, job, how)
}

// succeeded is the end of a job with a result.
func succeeded(result json.RawMessage) jobs.End {
	return jobs.End{State: jobs.Succeeded, Result: result}
}

// shown is an estimate as a caller reads it who says nothing about it.
func shown(estimate string) string {
	plain := &request.Request{Request: httptest.NewRequest(http.MethodGet, "/", http.NoBody)}
	fields, err := terms.ReadFields(plain, terms.OfEstimate)
	if err != nil {
		panic(err)
	}
	return string(fields.Of([]byte(estimate), message.View{}))
}

// versionOf is estimateOf with another version.
func versionOf(url, version string) json.RawMessage {
	return json.RawMessage(swap(string(estimateOf(url)), `"version":"HYBRID G"`, `"version":"`+version+`"`))
}

var failures = map[string]*jobs.Error{
	noMatch: {
		Notice:  message.Notice{Code: "no_match", Message: "No TRA entry fits this car."},
		Details: json.RawMessage(`[{"make":"TOYOTA","modelBody":"COROLLA FIELDER - NKE165 - STATION WAGON"}]`), Permanent: true,
	},
	forbidden: {
		Notice:  message.Notice{Code: "url_forbidden", Message: "The host is not public."},
		Details: json.RawMessage(`{"not":"candidates"}`),
	},
}

// estimateOf is the result of a listing, made today: that of testdata with its address.
func estimateOf(url string) json.RawMessage {
	data, err := os.ReadFile("testdata/estimate.json")
	if err != nil {
		panic(err)
	}
	var estimate vehicle.Estimate
	if err := json.Unmarshal(data, &estimate); err != nil {
		panic(err)
	}
	estimate.Input.URL = url
	estimate.DriveAway.AsOf = time.Now().In(localtime.Zone).Format(time.DateOnly) // one of another day is calculated again
	if data, err = json.Marshal(estimate); err != nil {
		panic(err)
	}
	return data
}

// submit asks for an estimate without waiting and returns the job's id.
func (a *app) submit(t *testing.T, path string) string {
	t.Helper()
	job, err := a.tasks.Estimate(t.Context(), site+path, "another caller", jobs.Interactive)
	if err != nil {
		t.Fatal(err)
	}
	return job.ID
}

// authority answers for the status what a test needs.
type authority struct {
	status tra.Status
	err    error
	panics bool
}

func (a authority) Status(context.Context) (tra.Status, error) {
	if a.panics {
		panic("secret cause")
	}
	return a.status, a.err
}

// logLines keeps the lines of a JSON log.
type logLines struct {
	mu    sync.Mutex
	lines []map[string]any
	more  chan struct{} // closed at the next line; nil unless wait is called
}

func (l *logLines) Write(line []byte) (int, error) {
	var entry map[string]any
	if err := json.Unmarshal(line, &entry); err != nil {
		return 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, entry)
	if l.more != nil {
		close(l.more)
		l.more = nil
	}
	return len(line), nil
}

// wait returns the first line whose attribute has the value, waiting for it.
func (l *logLines) wait(t *testing.T, name string, value any) map[string]any {
	t.Helper()
	for {
		l.mu.Lock()
		for _, line := range l.lines {
			if line[name] == value {
				l.mu.Unlock()
				return line
			}
		}
		if l.more == nil {
			l.more = make(chan struct{})
		}
		more := l.more
		l.mu.Unlock()
		select {
		case <-more:
		case <-time.After(10 * time.Second):
			t.Fatalf("no line of the log has %s=%v", name, value)
		}
	}
}

// answer is a response that has been read and checked against openapi.yaml.
type answer struct {
	status int
	header http.Header
	body   string
}

// send sends a request, reads the answer and checks the answer against openapi.yaml.
func (a *app) send(t *testing.T, r *http.Request) answer {
	t.Helper()
	client := &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       2 * time.Minute,
	}
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	client.CloseIdleConnections()
	checkContract(t, r, response, body)
	return answer{response.StatusCode, response.Header, string(body)}
}

// request makes a request with a good key.
func (a *app) request(t *testing.T, method, path, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, a.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Api-Key", a.key)
	return r
}
