package api_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ushuru/api"
	"ushuru/pkg/pace"
	"ushuru/pkg/testenv"
	"ushuru/pkg/webhook"
)

// TestWhoHasUsedItsShareOfTheProcessorsWaits is told so by every endpoint, while another key is
// answered.
func TestWhoHasUsedItsShareOfTheProcessorsWaits(t *testing.T) {
	t.Parallel()
	processor := pace.NewProcessor(2)
	a := newApp(t, embedded(t), func(o *api.Options) { o.Processor = processor })
	if err := a.cache.Put(t.Context(), estimateKey("/kept"), estimateOf(site+"/kept"), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	processor.Bill(a.keyID, 500*time.Second)
	for _, ask := range []struct{ method, path, body string }{
		{http.MethodPost, "/v1/estimate", `{"url":"` + site + `/kept"}`},
		{http.MethodPost, "/v1/estimate", `not even JSON`},
		{http.MethodPost, "/v1/bill-check", `{"text":"freight 100"}`},
		{http.MethodPost, "/v1/batches?dryRun=true", `{"urls":[]}`},
		{http.MethodGet, "/v1/vehicles", ""},
		{http.MethodGet, "/v1/batches/none/results", ""},
		{http.MethodGet, "/v1/jobs/none", ""},
		{http.MethodGet, "/v1/condition-report/" + strings.Repeat("0", 32) + "/map.svg", ""},
	} {
		got := a.send(t, a.request(t, ask.method, ask.path, ask.body))
		wait, err := strconv.Atoi(got.header.Get("Retry-After"))
		if got.status != http.StatusTooManyRequests || !strings.Contains(got.body, `"code":"rate_limited"`) || err != nil || wait < 900 || wait > 1000 ||
			got.header.Get("Ratelimit-Policy") != `"processor";q=20000;w=40` || !strings.HasPrefix(got.header.Get("Ratelimit"), `"processor";r=0;t=`) ||
			got.header.Get("Ratelimit-Limit") != "20000" || got.header.Get("Ratelimit-Remaining") != "0" {
			t.Errorf("%s %s: got %d %v %s", ask.method, ask.path, got.status, got.header, got.body)
		}
	}
	other, _, err := a.keys.Create(t.Context(), "other")
	if err != nil {
		t.Fatal(err)
	}
	r := a.request(t, http.MethodPost, "/v1/estimate", `{"url":"`+site+`/kept","target":{"onTheRoadTZS":30000000}}`)
	r.Header.Set("X-Api-Key", other)
	if got := a.send(t, r); got.status != http.StatusOK {
		t.Errorf("another key: got %d %s", got.status, got.body)
	}
}

// used returns the time of the processors that a request was billed.
func (a *app) used(t *testing.T, p *pace.Processor, path, body string) time.Duration {
	t.Helper()
	paid := func() time.Time { return time.Now().Add(p.Account(a.keyID).Reset) }
	before := paid()
	if got := a.send(t, a.request(t, http.MethodPost, path, body)); got.status != http.StatusOK {
		t.Errorf("POST %s %s: got %d %s", path, body, got.status, got.body)
	}
	return paid().Sub(before)
}

// TestWhatARequestComputesIsBilled: answers on other terms more than those that are cached,
// and once more within a minute no more than these.
func TestWhatARequestComputesIsBilled(t *testing.T) {
	t.Parallel()
	processor := pace.NewProcessor(2)
	a := newApp(t, embedded(t), func(o *api.Options) { o.Processor = processor })
	a.work(t)
	if err := a.cache.Put(t.Context(), estimateKey("/kept"), estimateOf(site+"/kept"), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	processor.Bill(a.keyID, 4*time.Second) // so that nothing is paid for when the next is asked
	const kept = `{"url":"` + site + `/kept"`
	least := func(body string) time.Duration { // a busy machine lengthens one time or the other
		used := a.used(t, processor, "/v1/estimate", body)
		for range 4 {
			used = min(used, a.used(t, processor, "/v1/estimate", body))
		}
		return used
	}
	plain := least(kept + `}`)
	terms := a.used(t, processor, "/v1/estimate", kept+`,"byMonth":true,"target":{"onTheRoadTZS":31000000}}`)
	again := least(kept + `,"byMonth":true,"target":{"onTheRoadTZS":31000000}}`)
	if terms <= 2*plain || again >= terms/2 {
		t.Errorf("billed: cached %s, on other terms %s, on these again %s", plain, terms, again)
	}
	rows := strings.Repeat(`{"url":"`+site+`/kept"},`, 900)
	dry := a.used(t, processor, "/v1/batches?dryRun=true", `{"items":[`+strings.TrimSuffix(rows, ",")+`]}`)
	bill := a.used(t, processor, "/v1/bill-check", `{"text":"`+strings.Repeat(`freight to Dar 1,200 USD\n`, 50)+`"}`)
	if dry <= 2*plain || bill <= plain {
		t.Errorf("billed: cached %s, a dry run of 900 rows %s, a bill of 50 lines %s", plain, dry, bill)
	}
}

// TestAThousandRequestsAtOnceAgainstEachLimit: never one more than the limit is let in.
func TestAThousandRequestsAtOnceAgainstEachLimit(t *testing.T) {
	testenv.Long(t)
	const limit, sent = 7, 1000
	for name, c := range map[string]struct {
		limits     pace.Limits
		path, body string // body has a verb for the number
		accepted   int
		most       int64
	}{
		"running jobs":    {pace.Limits{Jobs: limit}, "/v1/estimate", `{"url":"` + site + `/%d"}`, http.StatusAccepted, limit},
		"requests":        {pace.Limits{PerMinute: limit}, "/v1/estimate", `{"url":"` + site + `/%d"}`, http.StatusAccepted, limit},
		"rows of batches": {pace.Limits{BatchItems: limit}, "/v1/batches", `{"urls":["` + site + `/%d"]}`, http.StatusCreated, limit},
		"webhooks": {
			pace.Limits{},
			"/v1/webhooks", `{"url":"https://hooks.example.com/%d","events":["job.completed"]}`, http.StatusCreated,
			webhook.MaxEndpoints,
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := newApp(t, embedded(t), func(o *api.Options) { o.Limits = c.limits })
			var accepted, refused atomic.Int64
			var all sync.WaitGroup
			for i := range sent {
				all.Go(func() {
					for {
						r := a.request(t, http.MethodPost, c.path, fmt.Sprintf(c.body, i))
						r.Header.Set("Prefer", "respond-async")
						w := httptest.NewRecorder()
						switch a.api.ServeHTTP(w, r); w.Code {
						case http.StatusServiceUnavailable: // so many wait longer for Redis than the API does
							continue
						case c.accepted:
							accepted.Add(1)
						case http.StatusTooManyRequests, http.StatusConflict:
							refused.Add(1)
						default:
							t.Errorf("got %d %s", w.Code, w.Body)
						}
						return
					}
				})
			}
			all.Wait()
			// A batch that is created is counted twice for a moment, so that fewer rows get in.
			n := accepted.Load()
			if n > c.most || n < 1 || n < c.most && name != "rows of batches" || refused.Load() != sent-n {
				t.Errorf("%d accepted, %d refused; want %d, %d", n, refused.Load(), c.most, sent-c.most)
			}
		})
	}
}

// TestAKeyThatComputesAllDayDoesNotSlowOthers has 20 callers of one key ask for a cached answer
// on other terms each time, and wait as long as they are told; another key asks for cached
// answers meanwhile, and is never refused.
func TestAKeyThatComputesAllDayDoesNotSlowOthers(t *testing.T) {
	testenv.Long(t)
	processor := pace.NewProcessor(2)
	a := newApp(t, embedded(t), func(o *api.Options) { o.Processor = processor })
	if err := a.cache.Put(t.Context(), estimateKey("/kept"), estimateOf(site+"/kept"), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	other, _, err := a.keys.Create(t.Context(), "other")
	if err != nil {
		t.Fatal(err)
	}
	ask := func(key, terms string) (int, string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/estimate", strings.NewReader(`{"url":"`+site+`/kept"`+terms+`}`))
		r.Header.Set("X-Api-Key", key)
		w := httptest.NewRecorder()
		a.api.ServeHTTP(w, r)
		return w.Code, w.Header().Get("Retry-After")
	}
	// A processor that computes is not taken away from the computation before its end.
	const times, oneComputation = 400, 60 * time.Millisecond
	measure := func() time.Duration {
		var took []time.Duration
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for range times {
			<-tick.C
			began := time.Now()
			if code, _ := ask(other, ""); code != http.StatusOK {
				t.Errorf("the other key is answered %d", code)
			}
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		return took[times*95/100]
	}
	before := measure()
	processor.Bill(a.keyID, 20*time.Second) // it has computed for a while
	var computed, refused atomic.Int64
	var attack sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	for i := range 20 {
		attack.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				code, after := ask(a.key, fmt.Sprintf(`,"byMonth":true,"target":{"onTheRoadTZS":%d}`, 20_000_000+1000*n+i))
				if code == http.StatusOK {
					computed.Add(1)
					continue
				}
				refused.Add(1)
				wait, _ := strconv.Atoi(after)
				select {
				case <-ctx.Done():
				case <-time.After(time.Duration(wait) * time.Second):
				}
			}
		})
	}
	during := measure()
	stop()
	attack.Wait()
	t.Logf("p95 %s, during %s; %d computed, %d refused", before, during, computed.Load(), refused.Load())
	if computed.Load() == 0 || refused.Load() == 0 || during > 2*before+oneComputation {
		t.Errorf("p95 %s, during %s; %d computed, %d refused", before, during, computed.Load(), refused.Load())
	}
}
