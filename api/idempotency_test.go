package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"ushuru/api"
	"ushuru/pkg/batch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
	"ushuru/pkg/webhook"
	"ushuru/pkg/webhook/webhooktest"
	"ushuru/tasks"
)

// named adds an Idempotency-Key, and asks for a job instead of waiting.
func named(key string) map[string]string {
	return map[string]string{"Idempotency-Key": key, "Prefer": "respond-async"}
}

// firstUnder sends a request under an Idempotency-Key and returns its job.
func firstUnder(key, url, body string) func(*testing.T, *app) string {
	return func(t *testing.T, a *app) string {
		t.Helper()
		r := a.request(t, http.MethodPost, url, body)
		for name, value := range named(key) {
			r.Header.Set(name, value)
		}
		if strings.HasPrefix(body, "--") {
			r.Header.Set("Content-Type", asForm)
		}
		got := a.send(t, r)
		var made struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal([]byte(got.body), &made); err != nil || made.ID == "" {
			t.Fatal(err, got.body)
		}
		return made.ID
	}
}

// endedUnder is firstUnder for a job that fails before it is asked for again.
func endedUnder(key, url, body string) func(*testing.T, *app) string {
	return func(t *testing.T, a *app) string {
		t.Helper()
		id := firstUnder(key, url, body)(t, a)
		if _, err := a.tasks.CancelFor(t.Context(), id, a.keyID); err != nil {
			t.Fatal(err)
		}
		return id
	}
}

const (
	named1 = `{"url":"https://cars.example/hangs?idem1"}`
	named2 = `{"url":"https://cars.example/hangs?idem2"}`
	quoted = `{"make":"toyota","modelCode":"NKE165","year":2016,"fobPriceUSD":6180}`
	sheet1 = `{"url":"` + auction + `/idem1.jpg"}`
)

var (
	pair1 = pairOf(hangs+"?pair1", hangs+"?pair2", "")
	file1 = form("file", jpeg+" idem1")
)

// namedForm is named for a form.
func namedForm(key string) map[string]string {
	headers := named(key)
	headers["Content-Type"] = asForm
	return headers
}

// reused is a request under a key that another one took before.
func reused(name, url, first, second string, headers map[string]string) scenario {
	return scenario{
		name: name, url: url, body: second, headers: headers, before: firstUnder(headers["Idempotency-Key"], url, first),
		status: 422, has: []string{`"code":"idempotency_key_reused"`},
	}
}

var malformedKey = []string{`"code":"idempotency_key_invalid"`}

var idempotencyScenarios = []scenario{
	{
		name: "again", url: "/v1/estimate", body: `{ "lang": "sw", "url": "HTTPS://cars.example/hangs?idem1"}`, headers: named("one"),
		before: firstUnder("one", "/v1/estimate", named1), status: 202, has: []string{`"id":"{id}"`},
	},
	{
		name: "in quotes", url: "/v1/estimate", body: named1, headers: named(`"one"`),
		before: firstUnder("one", "/v1/estimate", named1), status: 202, has: []string{`"id":"{id}"`},
	},
	reused("another listing", "/v1/estimate", named1, named2, named("two")),
	reused("another rate", "/v1/estimate", named1, `{"url":"https://cars.example/hangs?idem1","rate":2500}`, named("three")),
	{
		name: "a comparison again", url: "/v1/compare", body: pairOf(hangs+"?pair1", hangs+"?pair2", `,"rate":2650.0,"lang":"en"`),
		headers: named("pair"), before: firstUnder("pair", "/v1/compare", pair1), status: 202, has: []string{`"id":"{id}"`},
	},
	reused("a comparison the other way round", "/v1/compare", pair1, pairOf(hangs+"?pair2", hangs+"?pair1", ""), named("pairs")),
	reused("a comparison in Kiswahili", "/v1/compare", pair1, pairOf(hangs+"?pair1", hangs+"?pair2", `,"lang":"sw"`), named("lang")),
	{
		name: "a sheet again", url: "/v1/condition-report", body: `{"lang":"en","url":"` + auction + `/idem1.jpg"}`,
		headers: map[string]string{"Idempotency-Key": "sheet"}, before: firstUnder("sheet", "/v1/condition-report", sheet1),
		status: 200, has: []string{`"id":"` + tasks.ReportInput{URL: auction + "/idem1.jpg"}.ID() + `"`},
	},
	reused("another sheet", "/v1/condition-report", sheet1, `{"url":"`+auction+`/idem2.jpg"}`, named("sheets")),
	reused("a sheet in Kiswahili", "/v1/condition-report", sheet1, `{"url":"`+auction+`/idem1.jpg","lang":"sw"}`, named("lang")),
	reused("another file", "/v1/condition-report", file1, form("file", jpeg+" idem2"), namedForm("files")),
	reused("a file in place of a URL", "/v1/condition-report", sheet1, file1, namedForm("kinds")),
	{
		name: "a file again", url: "/v1/condition-report", body: form("lang", "en", "file", jpeg+" idem1"),
		headers: map[string]string{"Idempotency-Key": "file", "Content-Type": asForm},
		before:  firstUnder("file", "/v1/condition-report", file1), status: 200,
		has: []string{`"lang":"en"`, `"id":"`},
	},
	{name: "a retry under a bad key", method: http.MethodPost, url: "/v1/batches/{id}/retry", headers: named(""), before: batchOf("f"), status: 400, has: malformedKey},
	{
		name: "at another address", url: "/v1/quote", body: quoted, headers: map[string]string{"Idempotency-Key": "four"},
		before: firstUnder("four", "/v1/estimate", named1), status: 200,
	},
	{
		name: "what ended stays ended", url: "/v1/estimate", body: named2, headers: named("five"),
		before: endedUnder("five", "/v1/estimate", named2), status: 409, has: []string{`"code":"cancelled"`},
	},
	{name: "empty", url: "/v1/estimate", body: named1, headers: named(""), status: 400, has: malformedKey},
	{name: "empty in quotes", url: "/v1/estimate", body: named1, headers: named(`""`), status: 400, has: malformedKey},
	{name: "half quoted", url: "/v1/estimate", body: named1, headers: named(`"a`), status: 400, has: malformedKey},
	{name: "unprintable", url: "/v1/estimate", body: named1, headers: named("ufunguo é"), status: 400, has: malformedKey},
	{name: "too long", url: "/v1/estimate", body: named1, headers: named(strings.Repeat("k", 256)), status: 400, has: malformedKey},
	{name: "long", url: "/v1/estimate", body: named1, headers: named(strings.Repeat("k", 255)), status: 202},
}

// TestRecordOfACachedAnswerIsSmallAndCounts: else a caller could fill Redis with
// copies of one answer.
func TestRecordOfACachedAnswerIsSmallAndCounts(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), func(o *api.Options) { o.Limits.PerMinute = 3 })
	a.put(t, "/kept")
	ask := func(name string) answer {
		r := a.request(t, http.MethodPost, "/v1/estimate", `{"url":"https://cars.example/kept"}`)
		r.Header.Set("Idempotency-Key", name)
		return a.send(t, r)
	}
	first := ask("kept")
	for range 5 { // the record is there
		if again := ask("kept"); first.status != 200 || again.body != first.body || again.header.Get("Ratelimit-Limit") != "" {
			t.Fatalf("%d %.100s; %.100s", first.status, first.body, again.body)
		}
	}
	if first.header.Get("Ratelimit-Remaining") != "2" || !strings.HasPrefix(first.header.Get("Key-Bytes"), "used=") {
		t.Errorf("the first was not counted: %v", first.header)
	}
	for i, want := range []int{200, 200, 429} {
		if got := ask("other" + strconv.Itoa(i)); got.status != want {
			t.Errorf("record %d: %d, want %d", i, got.status, want)
		}
	}
	names := a.conn.Client().Keys(t.Context(), "idempotency:*").Val()
	if len(names) != 3 {
		t.Errorf("%d records", len(names))
	}
	for _, name := range names {
		if record := fmt.Sprint(a.conn.Client().HGetAll(t.Context(), name).Val()); len(record) > 200 {
			t.Errorf("%d bytes: %.300s", len(record), record)
		}
	}
}

func TestConcurrentRequestsUnderOneKeyAreOne(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	for i, asked := range [][2]string{
		{"/v1/estimate", named1},
		{"/v1/quote", quoted},
		{"/v1/batches", `{"urls":["https://cars.example/a","https://cars.example/b"]}`},
		{"/v1/compare", pair1},
		{"/v1/condition-report", sheet1},
		{"/v1/condition-report", file1},
	} {
		url, body := asked[0], asked[1]
		ids := make([]string, 10)
		var all sync.WaitGroup
		for caller := range ids {
			all.Go(func() { ids[caller] = firstUnder(strconv.Itoa(i), url, body)(t, a) })
		}
		all.Wait()
		for _, id := range ids {
			if id != ids[0] {
				t.Errorf("%s: ids %v", url, ids)
				break
			}
		}
		if ids[0] == "" {
			t.Errorf("%s: no id", url)
		}
	}
	if got := a.send(t, a.request(t, http.MethodGet, "/v1/batches", "")); strings.Count(got.body, `"id"`) != 1 {
		t.Errorf("batches %s", got.body)
	}
}

// TestAFailureThatMayPassIsTriedAgainUnderOneKey: an answer that says that the same request can
// succeed later keeps its word, and one that says that it cannot is repeated.
func TestAFailureThatMayPassIsTriedAgainUnderOneKey(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	for name, c := range map[string]struct {
		code  string
		again bool
	}{"may pass": {"fetch_timeout", true}, "is definite": {"listing_gone", false}} {
		body := `{"url":"` + site + hangs + `?` + c.code + `"}`
		send := func(prefer string) answer {
			r := a.request(t, http.MethodPost, "/v1/estimate", body)
			r.Header.Set("Idempotency-Key", c.code)
			r.Header.Set("Prefer", prefer)
			return a.send(t, r)
		}
		first, second := "", ""
		for _, id := range []*string{&first, &second} {
			got := send("respond-async")
			*id = strings.TrimPrefix(got.header.Get("Location"), "/v1/jobs/")
			if got.status != http.StatusAccepted {
				break
			}
			if err := a.end(t.Context(), *id, jobs.End{State: jobs.Failed, Error: &jobs.Error{Notice: message.New("error/"+c.code, nil)}}); err != nil {
				t.Fatal(err)
			}
		}
		if again := second != "" && second != first; again != c.again {
			t.Errorf("%s: got the jobs %s and %s, want another one: %v", name, first, second, c.again)
		}
	}
}

// A process that crashes after a request is stored leaves it without an outcome.
func TestRequestWithoutOutcomeIsCarriedOut(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	r := a.request(t, http.MethodPost, "/v1/estimate", named1)
	for name, value := range named("died") {
		r.Header.Set(name, value)
	}
	id := firstUnder("died", "/v1/estimate", named1)(t, a)
	names, err := a.conn.Client().Keys(t.Context(), "idempotency:*").Result()
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	if err := a.conn.Client().HDel(t.Context(), names[0], "outcome").Err(); err != nil {
		t.Fatal(err)
	}
	if got := a.send(t, r); got.status != 202 || !strings.Contains(got.body, id) {
		t.Errorf("%d %s", got.status, got.body)
	}
	if job, err := a.jobs.Get(t.Context(), id); err != nil || job.State != jobs.Queued {
		t.Errorf("%+v, %v", job, err)
	}
}

// sendNamed posts under an Idempotency-Key.
func (a *app) sendNamed(t *testing.T, key, url string) answer {
	t.Helper()
	r := a.request(t, http.MethodPost, url, "")
	r.Header.Set("Idempotency-Key", key)
	return a.send(t, r)
}

func TestBatchIsRetriedOnceUnderOneKey(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	id := batchOf("fs")(t, a)
	retry := "/v1/batches/" + id + "/retry"
	statuses := make([]int, 10)
	var all sync.WaitGroup
	for i := range statuses {
		all.Go(func() { statuses[i] = a.sendNamed(t, "once", retry).status })
	}
	all.Wait()
	for _, status := range statuses {
		if status != http.StatusOK {
			t.Fatalf("answers %v", statuses)
		}
	}
	store := batch.NewStore(a.conn.Client())
	if taken, err := store.ClaimRows(t.Context(), id, 10); err != nil || len(taken) != 1 {
		t.Fatalf("%+v, %v", taken, err)
	}
	if _, err := store.Fail(t.Context(), id, 0, failures[noMatch]); err != nil {
		t.Fatal(err)
	}
	if got := a.sendNamed(t, "once", retry); got.status != http.StatusOK || !strings.Contains(got.body, `"failed":1`) {
		t.Errorf("what has failed again was tried again: %d %s", got.status, got.body)
	}
	if got := a.sendNamed(t, "again", retry); got.status != http.StatusOK || !strings.Contains(got.body, `"failed":0`) {
		t.Errorf("under another key: %d %s", got.status, got.body)
	}
}

// A webhook that was disabled in between stays so, and what was delivered in
// between is not sent again.
func TestWebhookIsEnabledAndSentToOnceUnderOneKey(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	id := hooked(t, a)
	webhooktest.Verify(t, a.conn.Client(), a.keyID, id)
	receiver := &receiver{}
	sender := &webhook.Sender{Store: webhook.NewStore(a.conn.Client(), nil), Post: receiver.Post, Log: slog.New(slog.DiscardHandler)}
	send := func() {
		t.Helper()
		webhooktest.Drain(t, a.conn.Client(), sender)
	}
	got := a.sendNamed(t, "test", "/v1/webhooks/"+id+"/test")
	var made struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal([]byte(got.body), &made); err != nil || got.status != http.StatusAccepted {
		t.Fatal(err, got)
	}
	send()
	again := "/v1/webhooks/" + id + "/deliveries/" + made.ID + "/redeliver"
	for i, state := range []string{"pending", "delivered"} {
		got := a.sendNamed(t, "again", again)
		if got.status != http.StatusAccepted || !strings.Contains(got.body, `"state":"`+state+`"`) {
			t.Errorf("%d: %d %s", i, got.status, got.body)
		}
		send()
	}
	if receiver.got.Load() != 2 {
		t.Errorf("sent %d times", receiver.got.Load())
	}

	receiver.gone.Store(true)
	for range 2 {
		if got := a.sendNamed(t, "other", again); got.status != http.StatusAccepted {
			t.Fatal(got)
		}
		send() // the first time 410, which disables it
		if got := a.sendNamed(t, "enable", "/v1/webhooks/"+id+"/enable"); got.status != http.StatusOK {
			t.Fatal(got)
		}
		a.sendNamed(t, "third", again)
		send()
	}
	got = a.send(t, a.request(t, http.MethodGet, "/v1/webhooks/"+id, ""))
	if !strings.Contains(got.body, `"disabled":"it answered 410 Gone"`) {
		t.Errorf("enabled again: %s", got.body)
	}
}

// receiver takes what is posted, or says that it is gone.
type receiver struct {
	got  atomic.Int32
	gone atomic.Bool
}

func (r *receiver) Post(context.Context, string, http.Header, []byte) (int, http.Header, []byte, error) {
	r.got.Add(1)
	if r.gone.Load() {
		return http.StatusGone, http.Header{}, nil, nil
	}
	return http.StatusOK, http.Header{}, nil, nil
}
