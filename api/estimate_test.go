package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/api"
	"ushuru/pkg/cache"
	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/testenv"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

func estimate(name, path string) scenario {
	return scenario{name: name, url: "/v1/estimate", body: `{"url":"` + site + path + `"}`}
}

func prefer(value string) map[string]string { return map[string]string{"Prefer": value} }

// estimateScenarios share a Redis, so each uses a listing of its own.
var estimateScenarios = []scenario{
	{
		name: "a new listing", url: "/v1/estimate", body: `{"url":"https://cars.example/new"}`,
		status: 200, exact: shown(string(estimateOf("https://cars.example/new"))), want: map[string]string{"Preference-Applied": ""},
	},
	{
		name: "in its canonical form", url: "/v1/estimate", body: `{"url":"HTTPS://CARS.example:443/canonical"}`,
		status: 200, has: []string{`"url":"https://cars.example/canonical"`},
	},
	{
		name: "from the cache", url: "/v1/estimate", body: `{"url":"https://cars.example/hit"}`, headers: prefer("respond-async"),
		before: func(t *testing.T, a *app) string { a.put(t, "/hit"); return "" },
		status: 200, exact: shown(swap(string(estimateOf("https://cars.example/hit")), `"cached":false`, `"cached":true`)),
		want: map[string]string{"Preference-Applied": "", "Cache-Control": "no-store"},
	},
	{
		name: "only the contract", url: "/v1/estimate?fields=contract", body: `{"url":"https://cars.example/contract"}`, status: 200,
		has:    []string{`{"input":{"url":"https://cars.example/contract"},"car":{"make":"TOYOTA",`, `"tax":{"referenceNumber":`, `"cached":false,"object":"estimate"}`},
		hasNot: []string{`"summary"`, `"driveAway"`, `"yearBasis"`, `"reasonCode"`, `"text"`},
	},
	{
		name: "a member that does not exist", url: "/v1/estimate?fields=car.colr", body: `{"url":"https://cars.example/new"}`, status: 400,
		has: []string{`"code":"field_unknown"`, `"param":"fields"`, `car.colr`, `car.make, car.model, `},
	},
	{
		name: "in both languages", url: "/v1/estimate?lang=all", body: `{"url":"https://cars.example/both"}`, status: 200,
		has: []string{`"text":{"en":"About TSh`, `"sw":"Takriban TSh`, `,"draft":true}`}, hasNot: []string{`"draft":true,`},
	},
	{
		name: "no match", url: "/v1/estimate", body: `{"url":"https://cars.example/no-match"}`, status: 422,
		exact: `{"error":"No TRA entry fits this car.","code":"no_match",` +
			`"candidates":[{"make":"TOYOTA","modelBody":"COROLLA FIELDER - NKE165 - STATION WAGON"}],"retryable":false}`,
	},
	{
		name: "fetching shows that the address is not public", url: "/v1/estimate",
		body: `{"url":"https://cars.example/forbidden"}`, status: 400, exact: `{"error":"The host is not public.","code":"url_forbidden","retryable":false}`,
	},
	{
		name: "cancelled", url: "/v1/estimate", body: `{"url":"https://cars.example/cancelled"}`,
		status: 409, has: []string{`"code":"cancelled"`, `"retryable":false`},
	},
	{
		name: "wait preferred, and long enough", url: "/v1/estimate", body: `{"url":"https://cars.example/waited"}`,
		headers: prefer("wait=25"), status: 200, want: map[string]string{"Preference-Applied": "wait=25", "Location": ""},
	},
	{
		name: "a longer wait than the server allows", url: "/v1/estimate", body: `{"url":"https://cars.example/long"}`,
		headers: prefer("wait=100000"), status: 200, want: map[string]string{"Preference-Applied": "wait=25"},
	},
	{
		name: "asynchronous", url: "/v1/estimate", body: `{"url":"https://cars.example/hangs"}`, headers: prefer("respond-async"),
		before: hanging, // and joined
		status: 202, has: []string{`"id":"{id}"`, `"kind":"estimate"`, `"state":"queued"`, `"step":"scrape"`, `"attempt":1`},
		hasNot: []string{"result", "error", "ended"},
		want:   map[string]string{"Location": "/v1/jobs/{id}", "Retry-After": "2", "Preference-Applied": "respond-async"},
	},
	{
		name: "wait preferred, and too short", url: "/v1/estimate", body: `{"url":"https://cars.example/hangs"}`,
		headers: prefer(`foo; bar, Wait="0", respond-async`), before: hanging,
		status: 202, want: map[string]string{"Location": "/v1/jobs/{id}", "Preference-Applied": "respond-async, wait=0"},
	},
	{
		name: "malformed preferences are ignored", url: "/v1/estimate", body: `{"url":"https://cars.example/malformed"}`,
		headers: prefer("wait=-1, wait=soon, handling=lenient,,"), status: 200, want: map[string]string{"Preference-Applied": ""},
	},
}

func estimateKey(path string) cache.Key { return cache.EstimateKey(site + path) }

// put caches the estimate of a listing as a worker does.
func (a *app) put(t *testing.T, path string) {
	t.Helper()
	if err := a.cache.Put(t.Context(), estimateKey(path), estimateOf(site+path), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
}

func TestCacheHitDiffersInCachedAlone(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	a.work(t)
	fresh := a.send(t, a.request(t, http.MethodPost, "/v1/estimate", `{"url":"https://cars.example/1"}`))
	a.put(t, "/1")
	hit := a.send(t, a.request(t, http.MethodPost, "/v1/estimate", `{"url":"https://cars.example/1"}`))
	var one, two map[string]any
	if err := errors.Join(json.Unmarshal([]byte(fresh.body), &one), json.Unmarshal([]byte(hit.body), &two)); err != nil {
		t.Fatal(err)
	}
	if one["cached"] != false || two["cached"] != true {
		t.Errorf("cached is %v, then %v", one["cached"], two["cached"])
	}
	delete(one, "cached")
	delete(two, "cached")
	if !reflect.DeepEqual(one, two) {
		t.Errorf("the hit differs:\n%s\n%s", fresh.body, hit.body)
	}
}

// TestACallerWhoJoinsARowAsItEnds waits for the job of a row whose run does not know of the caller:
// the record does not have the result, and the answer has that of the cache.
func TestACallerWhoJoinsARowAsItEnds(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	row, err := a.tasks.Submit(t.Context(), tasks.KindEstimate, tasks.EstimateInput{URL: site + "/row"}, tasks.Requester{
		Owner: a.keyID, Class: jobs.Bulk, Subscriber: tasks.RowSubscriber("1", 0),
	})
	if err != nil {
		t.Fatal(err)
	}
	answers := make(chan answer, 1)
	go func() {
		answers <- a.send(t, a.request(t, http.MethodPost, "/v1/estimate", `{"url":"https://cars.example/row"}`))
	}()
	testenv.Await(t, "the caller to join the job of the row", func() (any, bool) {
		job, err := a.jobs.Get(t.Context(), row.ID)
		return job, err == nil && job.Class == jobs.Interactive
	})
	a.put(t, "/row")
	if _, _, err := a.jobs.End(t.Context(), row, jobs.End{State: jobs.Succeeded, Result: estimateOf(site + "/row"), Cached: true}); err != nil {
		t.Fatal(err)
	}
	if got := <-answers; got.status != http.StatusOK || !strings.Contains(got.body, `"make"`) {
		t.Errorf("got %d %s, want 200 and the estimate", got.status, got.body)
	}
}

func TestTimeoutNamesTheJob(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), func(o *api.Options) { o.WaitMax = 20 * time.Millisecond })
	s := estimate("timeout", hangs)
	s.before = hanging
	s.status = 504
	s.has = []string{`"code":"not_finished"`}
	s.want = map[string]string{"Location": "/v1/jobs/{id}", "Retry-After": "2", "Preference-Applied": ""}
	s.run(t, a)

	id := a.submit(t, hangs) // the same job still
	if err := a.end(t.Context(), id, succeeded(estimateOf(site+hangs))); err != nil {
		t.Fatal(err)
	}
	scenario{
		name: "later", url: "/v1/jobs/" + id, status: 200,
		has: []string{`"state":"succeeded"`, `"result":` + shown(string(estimateOf(site+hangs)))},
	}.run(t, a)
}

func TestConcurrentCallersShareAJob(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	id := a.submit(t, "/shared")
	const callers = 20
	answers := make(chan answer, callers)
	for range callers {
		go func() {
			answers <- a.send(t, a.request(t, http.MethodPost, "/v1/estimate", `{"url":"https://cars.example/shared"}`))
		}()
	}
	spinUntil(func() bool { return a.hub.Waiting() == callers })
	if err := a.end(t.Context(), id, succeeded(estimateOf(site+"/shared"))); err != nil {
		t.Fatal(err)
	}
	if err := a.tasks.Advance(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	for range callers {
		if got := <-answers; got.status != http.StatusOK || got.body != shown(string(estimateOf(site+"/shared"))) {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
}

func TestDisconnectEndsTheWait(t *testing.T) { //nolint:tparallel // its cases follow one another
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	id := a.submit(t, hangs)
	poll := a.request(t, http.MethodGet, "/v1/jobs/"+id, "")
	poll.Header.Set("Prefer", "wait=25")
	for _, r := range []*http.Request{
		a.request(t, http.MethodPost, "/v1/estimate", `{"url":"https://cars.example/hangs"}`),
		poll,
	} {
		t.Run(r.Method, func(t *testing.T) {
			ctx, leave := context.WithCancel(t.Context())
			r.Header.Set("X-Request-ID", r.Method)
			var gone sync.WaitGroup
			gone.Go(func() {
				response, err := http.DefaultTransport.RoundTrip(r.WithContext(ctx))
				if err == nil {
					_ = response.Body.Close()
					t.Errorf("answered with %s", response.Status)
				}
			})
			spinUntil(func() bool { return a.hub.Waiting() == 1 })
			leave()
			gone.Wait()
			line := a.log.wait(t, "request", r.Method)
			if a.hub.Waiting() != 0 {
				t.Error("the waiter is still there")
			}
			if line["status"] != float64(499) || line["key"] != a.keyID || line["level"] != "INFO" {
				t.Errorf("log line %v", line)
			}
			if job, err := a.jobs.Get(t.Context(), id); err != nil || job.State != jobs.Queued {
				t.Errorf("the job did not go on: %+v, %v", job, err)
			}
		})
	}
}

func TestJobBelongsToItsRequester(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	r := a.request(t, http.MethodPost, "/v1/estimate", `{"url":"https://cars.example/hangs"}`)
	r.Header.Set("Prefer", "respond-async")
	location := a.send(t, r).header.Get("Location")
	job, err := a.jobs.Get(t.Context(), strings.TrimPrefix(location, "/v1/jobs/"))
	if err != nil || job.Owner != a.keyID || job.Class != jobs.Interactive {
		t.Errorf("job %+v, %v; want the owner %s", job, err, a.keyID)
	}
	if line := a.log.wait(t, "status", float64(202)); line["job"] != job.ID {
		t.Errorf("log line %v", line)
	}
}

func TestDrainEndsWaits(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	id := a.submit(t, hangs)
	answers := make(chan answer)
	go func() {
		answers <- a.send(t, a.request(t, http.MethodPost, "/v1/estimate", `{"url":"https://cars.example/hangs"}`))
	}()
	spinUntil(func() bool { return a.hub.Waiting() == 1 })
	a.api.Drain()
	if got := <-answers; got.status != http.StatusGatewayTimeout || got.header.Get("Location") != "/v1/jobs/"+id {
		t.Errorf("%d %v %s", got.status, got.header, got.body)
	}
	scenario{url: "/readyz", keyless: true, status: 503, has: []string{`"code":"unavailable"`}}.run(t, a)
	scenario{url: "/healthz", keyless: true, status: 200}.run(t, a)
}

// spinUntil waits for a state without a notification. The test's own
// timeout bounds it.
func spinUntil(reached func() bool) {
	for !reached() {
		runtime.Gosched()
	}
}

func TestSimulatedIsOnEveryResponse(t *testing.T) { //nolint:tparallel // its cases follow one another
	t.Parallel()
	a := newApp(t, embedded(t), func(o *api.Options) { o.Simulated = true })
	a.work(t)
	said := map[string]string{"X-Simulated": "SIMULATED"}
	for _, s := range []scenario{
		{url: "/v1/estimate", body: `{"url":"https://cars.example/1"}`, status: 200, want: said},
		{url: "/v1/estimate", body: `{`, status: 400, want: said},
		{url: "/v1/tra-status", keyless: true, status: 401, want: said},
		{url: "/healthz", status: 200, want: said},
	} {
		t.Run(strings.TrimSpace(s.method+" "+s.url), func(t *testing.T) { s.run(t, a) })
	}
}

func TestLoopbackOnlyWhenAllowed(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), func(o *api.Options) { o.AllowLoopback = true })
	a.work(t)
	scenario{url: "/v1/estimate", body: `{"url":"http://127.0.0.1:8099/car/1"}`, status: 200}.run(t, a)
	scenario{url: "/v1/estimate", body: `{"url":"http://192.168.1.1/car/1"}`, status: 400}.run(t, a)
}

const chosenLabel = "COROLLA FIELDER - NKE165 - HYBRID - WAGON"

var chosenScenarios = []scenario{
	{
		name: "a label that the caller chose", url: "/v1/estimate",
		body:   `{"url":"https://cars.example/chosen","modelBody":"` + chosenLabel + `"}`,
		before: func(t *testing.T, a *app) string { a.put(t, "/chosen"); return "" },
		status: 200, has: []string{`"cached":false`}, // the estimate without that choice is another
	},
	{
		name: "the same choice again", url: "/v1/estimate",
		body: `{"url":"https://cars.example/chosen","modelBody":"` + chosenLabel + `"}`,
		before: func(t *testing.T, a *app) string {
			a.keep(t, cache.LabelKey(cache.EstimateKey(site+"/chosen"), chosenLabel), "kept")
			return ""
		},
		status: 200, has: []string{`"version":"kept"`, `"cached":true`},
	},
	{
		name: "a label that is a number", url: "/v1/estimate", body: `{"url":"https://cars.example/1","modelBody":5}`,
		status: 400, has: []string{`"code":"field_invalid"`},
	},
	{
		name: "a label that is too long", url: "/v1/estimate",
		body:   `{"url":"https://cars.example/1","modelBody":"` + strings.Repeat("X", 201) + `"}`,
		status: 400, has: []string{`"code":"field_invalid"`},
	},
}

// A doubt that is none at another rate is not kept.
func TestRateRemovesWarnings(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	var kept vehicle.Estimate
	if err := json.Unmarshal(estimateOf(site+"/doubt"), &kept); err != nil {
		t.Fatal(err)
	}
	cheap := money.NewNumber(decimal.NewFromInt(1000)) // far below the authority's value
	kept.Car.Year = kept.Matched.YOM                   // no step of the age is ahead
	kept.Car.FOBPriceUSD, kept.Warnings = &cheap, []vehicle.Warning{{Code: "exchange_rate_odd", Message: "Odd."}}
	data, err := json.Marshal(kept)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.cache.Put(t.Context(), estimateKey("/doubt"), data, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	got := a.send(t, a.request(t, http.MethodPost, "/v1/estimate", `{"url":"https://cars.example/doubt","rate":2500}`))
	var answer vehicle.Estimate
	if err := json.Unmarshal([]byte(got.body), &answer); err != nil || answer.DriveAway.Exchange.Others.String() != "2500" {
		t.Fatalf("got %s (%v), want the rate 2500", got.body, err)
	}
	for _, w := range answer.Warnings {
		if w.Level != message.Info {
			t.Errorf("got the warning %+v, want none above information", w)
		}
	}
}
