package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"
	"testing"
	"time"

	"ushuru/api"
	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
)

func (a *app) ask(t *testing.T, listing string, headers map[string]string) answer {
	t.Helper()
	r := a.request(t, http.MethodPost, "/v1/estimate", fmt.Sprintf(`{"url":%q}`, site+listing))
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	return a.send(t, r)
}

var async = map[string]string{"Prefer": "respond-async"}

func TestRequestsPerMinute(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		a := newApp(t, conn, func(o *api.Options) { o.Limits = pace.Limits{PerMinute: 3} })
		a.work(t)
		for i := range 3 {
			got := a.ask(t, "/rate"+strconv.Itoa(i), nil)
			if got.status != http.StatusOK || got.header.Get("Ratelimit-Limit") != "3" ||
				got.header.Get("Ratelimit-Remaining") != strconv.Itoa(2-i) || got.header.Get("Ratelimit-Reset") == "" {
				t.Fatalf("request %d: %d %v", i, got.status, got.header)
			}
		}
		got := a.ask(t, "/rate3", nil)
		wait, err := strconv.Atoi(got.header.Get("Retry-After"))
		if got.status != http.StatusTooManyRequests || got.header.Get("Ratelimit-Remaining") != "0" || err != nil || wait < 1 || wait > 60 {
			t.Errorf("the fourth: %d %v\n%s", got.status, got.header, got.body)
		}
		// A key with a limit of its own goes by that.
		if err := a.keys.Limit(t.Context(), a.keyID, pace.Limits{PerMinute: 100}); err != nil {
			t.Fatal(err)
		}
		if got := a.ask(t, "/rate4", nil); got.status != http.StatusOK || got.header.Get("Ratelimit-Limit") != "100" {
			t.Errorf("with a limit of its own: %d %v", got.status, got.header)
		}
	})
}

func TestCachedResponsesDoNotCount(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), func(o *api.Options) { o.Limits = pace.Limits{PerMinute: 1} })
	a.work(t)
	if err := a.cache.Put(t.Context(), estimateKey("/kept"), estimateOf(site+"/kept"), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if got := a.ask(t, "/kept", nil); got.status != http.StatusOK || got.header.Get("Ratelimit-Limit") != "" {
			t.Fatalf("%d %v\n%s", got.status, got.header, got.body)
		}
	}
}

func TestRunningJobsPerKey(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		a := newApp(t, conn, func(o *api.Options) { o.Limits = pace.Limits{Jobs: 2} })
		var ids []string
		for i := range 2 { // without a worker they keep running
			got := a.ask(t, "/jobs"+strconv.Itoa(i), async)
			if got.status != http.StatusAccepted {
				t.Fatalf("job %d: %d %s", i, got.status, got.body)
			}
			ids = append(ids, path.Base(got.header.Get("Location")))
		}
		got := a.ask(t, "/jobs2", async)
		if got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") == "" {
			t.Fatalf("the third: %d %v %s", got.status, got.header, got.body)
		}
		for _, id := range ids {
			if err := a.tasks.Cancel(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 2 {
			if got = a.ask(t, "/later"+strconv.Itoa(i), async); got.status != http.StatusAccepted {
				t.Errorf("after both ended: %d %s", got.status, got.body)
			}
		}
		if got = a.ask(t, "/later2", async); got.status != http.StatusTooManyRequests {
			t.Errorf("and the third after that: %d %s", got.status, got.body)
		}
	})
}

func TestWebhooksCountAgainstTheRate(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		a := newApp(t, conn, func(o *api.Options) { o.Limits = pace.Limits{PerMinute: 3} })
		id := hooked(t, a)
		var made struct {
			ID string `json:"id"`
		}
		post := func(path, body string) answer { return a.send(t, a.request(t, http.MethodPost, path, body)) }
		test := post("/v1/webhooks/"+id+"/test", "")
		if err := json.Unmarshal([]byte(test.body), &made); err != nil {
			t.Fatal(err)
		}
		again := "/v1/webhooks/" + id + "/deliveries/" + made.ID + "/redeliver"
		const body = `{"url":"https://receiver.example/","events":["job.completed"]}`
		for i, got := range []answer{test, post("/v1/webhooks", body), post(again, "")} {
			if got.status/100 != 2 || got.header.Get("Ratelimit-Remaining") != strconv.Itoa(2-i) {
				t.Errorf("request %d: %d %v %s", i, got.status, got.header, got.body)
			}
		}
		for _, path := range []string{"/v1/webhooks", "/v1/webhooks/" + id + "/test", again} {
			got := post(path, body)
			if got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") == "" || got.header.Get("Ratelimit-Remaining") != "0" {
				t.Errorf("%s: %d %v %s", path, got.status, got.header, got.body)
			}
		}
		// What sends nothing goes on.
		for _, path := range []string{"/v1/webhooks/" + id + "/rotate", "/v1/webhooks/" + id + "/enable"} {
			if got := post(path, ""); got.status != http.StatusOK || got.header.Get("Ratelimit-Limit") != "" {
				t.Errorf("%s: %d %v", path, got.status, got.header)
			}
		}
	})
}

// A request that was refused was not done: under the same Idempotency-Key it
// is measured again, and done once there is room.
func TestRefusedRequestMayBeSentAgainUnderItsKey(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), func(o *api.Options) { o.Limits = pace.Limits{BatchItems: 1} })
	retry := "/v1/batches/" + batchOf("ff")(t, a) + "/retry"
	for range 2 {
		if got := a.sendNamed(t, "again", retry); got.status != http.StatusRequestEntityTooLarge {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	if err := a.keys.Limit(t.Context(), a.keyID, pace.Limits{BatchItems: 2}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := a.sendNamed(t, "again", retry); got.status != http.StatusOK || !strings.Contains(got.body, `"waiting":2`) {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
}
