// Package apitest has what tests of the API's resources need: the parts of one API process
// on an empty Redis, and requests to a handler as the server makes them.
package apitest

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/mux"
	"github.com/redis/go-redis/v9"

	"ushuru/api/await"
	"ushuru/api/request"
	"ushuru/pkg/batch"
	"ushuru/pkg/cache"
	"ushuru/pkg/jobs"
	"ushuru/pkg/keys"
	"ushuru/pkg/pace"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
	"ushuru/pkg/tra"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
)

// Parts are the parts of one API process.
type Parts struct {
	Redis     redis.UniversalClient
	Jobs      *jobs.Store
	Hub       *jobs.Hub
	Cache     *cache.Cache
	Batches   *batch.Store
	Webhooks  *webhook.Store
	Catalogue *tra.Store
	Outages   *tra.Outages
	Tasks     *tasks.Engine
	Limits    *await.Limits
	Work      *await.Work
	Streams   *await.Streams
}

// WaitMax is how long a request waits for a result at most.
const WaitMax = 10 * time.Second

// New makes the parts of an API process whose keys have limits.
func New(t *testing.T, of pace.Limits) *Parts {
	t.Helper()
	client := redistest.Embedded(t).Client()
	p := &Parts{
		Redis: client, Jobs: jobs.NewStore(client), Cache: cache.New(client), Batches: batch.NewStore(client),
		Webhooks: webhook.NewStore(client, nil), Catalogue: tra.NewStore(client, tra.StoreOptions{}),
	}
	p.Hub = jobs.NewHub(p.Jobs)
	p.Outages = tra.NewOutages(p.Catalogue.Status)
	p.Tasks = tasks.New(tasks.Options{Redis: client, Jobs: p.Jobs, Results: p.Cache, Webhooks: p.Webhooks})
	p.Limits = await.NewLimits(await.LimitOptions{
		Rates: pace.NewRates(client), Processor: pace.NewProcessor(2), Bytes: pace.NewAccounts(client, pace.KindBytes),
		Rows: pace.NewAccounts(client, pace.KindRows),
		Jobs: p.Jobs, Batches: p.Batches, Limits: of, WaitMax: WaitMax,
	})
	ctx, stop := context.WithCancel(context.Background())
	var listening sync.WaitGroup
	listening.Go(func() { p.Hub.Run(ctx) })
	t.Cleanup(func() { stop(); listening.Wait() })
	p.Work = await.New(await.Options{
		Redis: client, Tasks: p.Tasks, Jobs: p.Jobs, Hub: p.Hub, Cache: p.Cache, Webhooks: p.Webhooks, Limits: p.Limits,
		Outages: p.Outages, WaitMax: WaitMax, Draining: ctx,
	})
	p.Streams = await.NewStreams(ctx, time.Second)
	return p
}

// Ask is a request to a handler, of the key "key" unless it names another.
type Ask struct {
	Method  string // POST when there is a body, else GET
	URL     string
	Body    string
	Headers map[string]string
	Vars    map[string]string // of the path
	Key     string
}

// Answer is the response of a handler.
type Answer struct {
	Status int
	Header http.Header
	Body   string
}

// Decode decodes the body of a response.
func (a Answer) Decode(t *testing.T, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.Body), into); err != nil {
		t.Fatalf("%v in %d %s", err, a.Status, a.Body)
	}
}

// Has reports whether a response has a status and pieces in its body.
func (a Answer) Has(status int, pieces ...string) bool {
	for _, piece := range pieces {
		if !strings.Contains(a.Body, piece) {
			return false
		}
	}
	return a.Status == status
}

// Send sends a request to a handler. The long tier holds its answer to openapi.yaml.
func Send(t *testing.T, handler request.Handler, ask Ask) Answer {
	t.Helper()
	method := ask.Method
	if method == "" {
		method = http.MethodGet
		if ask.Body != "" {
			method = http.MethodPost
		}
	}
	known := &request.Request{ID: "test", Key: keys.Key{ID: "key"}}
	if ask.Key != "" {
		known.Key.ID = ask.Key
	}
	plain := httptest.NewRequestWithContext(request.With(t.Context(), known), method, ask.URL, strings.NewReader(ask.Body))
	for name, value := range ask.Headers {
		plain.Header.Set(name, value)
	}
	plain = mux.SetURLVars(plain, ask.Vars)
	w := httptest.NewRecorder()
	w.Header().Set("X-Request-ID", known.ID) // as the server does
	recorder := &request.Recorder{ResponseWriter: w, Request: known}
	defer known.Place.Leave()
	request.Handler(func(w http.ResponseWriter, r *http.Request) error {
		if err := request.From(r).ReadParameters(WaitMax); err != nil {
			return err
		}
		return handler(w, r)
	}).ServeHTTP(recorder, plain)
	if testenv.IsLong() {
		holdToContract(t, plain, w)
	}
	return Answer{w.Code, w.Header(), w.Body.String()}
}

// Succeed ends a job with a result, and what needs it goes on.
func (p *Parts) Succeed(t *testing.T, id, result string) {
	t.Helper()
	p.end(t, id, jobs.End{State: jobs.Succeeded, Result: json.RawMessage(result)})
}

// Fail ends a job with an error.
func (p *Parts) Fail(t *testing.T, id string, why *jobs.Error) {
	t.Helper()
	p.end(t, id, jobs.End{State: jobs.Failed, Error: why})
}

func (p *Parts) end(t *testing.T, id string, how jobs.End) {
	t.Helper()
	job, err := p.Jobs.Get(t.Context(), id)
	if err == nil {
		err = p.Tasks.End(t.Context(), job, how)
	}
	if err != nil {
		t.Fatal(err)
	}
}
