package api_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"ushuru/pkg/cache"
	"ushuru/tasks"
)

// sent is the body of a request with a page.
func sent(path, page string) string {
	body, err := json.Marshal(map[string]string{"url": site + path, "html": page})
	if err != nil {
		panic(err)
	}
	return string(body)
}

// The limits of what is sent, as api.md gives them.
const maxPage, maxFile = 4 << 20, 12 << 20

func hashOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

// pastedKey is the cache key of a page that the app's API key sent.
func (a *app) pastedKey(path, page string) cache.Key {
	return tasks.EstimateInput{URL: site + path, Page: hashOf(page)}.For(a.keyID).Key()
}

// largest is a page of the largest size, in which every other byte must be
// escaped.
var largest = strings.Repeat("x\n", maxPage/2)

var pastedScenarios = []scenario{
	{
		name: "a page", url: "/v1/estimate", body: sent("/pasted", "page one"),
		status: 200, exact: shown(string(versionOf(site+"/pasted", "page one"))),
	},
	{
		name: "although the URL has an estimate", url: "/v1/estimate", body: sent("/pasted-hit", "page"),
		before: func(t *testing.T, a *app) string { a.put(t, "/pasted-hit"); return "" },
		status: 200, exact: shown(string(versionOf(site+"/pasted-hit", "page"))),
	},
	{
		name: "the URL alone is not answered from a page", url: "/v1/estimate", body: `{"url":"https://cars.example/pasted","html":null}`,
		before: func(t *testing.T, a *app) string {
			a.keep(t, a.pastedKey("/pasted", "page one"), "page one")
			return ""
		},
		status: 200, exact: shown(string(estimateOf(site + "/pasted"))),
	},
	{
		name: "the same page again", url: "/v1/estimate", body: sent("/pasted", "page two"),
		before: func(t *testing.T, a *app) string { a.keep(t, a.pastedKey("/pasted", "page two"), "kept"); return "" },
		status: 200, has: []string{`"version":"kept"`, `"cached":true`},
	},
	{name: "an empty page", url: "/v1/estimate", body: sent("/1", " \n"), status: 400, has: []string{`"code":"page_empty"`}},
	{
		name: "the largest page", url: "/v1/estimate", body: sent("/no-match", largest),
		status: 422, has: []string{`"code":"no_match"`},
	},
	{
		name: "a page above 4 MB", url: "/v1/estimate", body: sent("/1", strings.Repeat("page", maxPage/4+1)),
		status: 413, has: []string{`"code":"page_too_large"`}, hasNot: []string{"pagepage"},
	},
}

func TestEqualPagesShareOneJob(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	locations := make([]string, 3)
	for i, page := range []string{"same", "same", "other"} {
		r := a.request(t, http.MethodPost, "/v1/estimate", sent("/hangs", page))
		r.Header.Set("Prefer", "respond-async")
		got := a.send(t, r)
		locations[i] = got.header.Get("Location")
		if got.status != http.StatusAccepted {
			t.Errorf("%d: %s", got.status, got.body)
		}
	}
	if locations[0] != locations[1] || locations[0] == locations[2] {
		t.Errorf("%q", locations)
	}
}

// TestPageIsNotInTheQueue: it travels beside the task and the job's record.
func TestPageIsNotInTheQueue(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	page := strings.Repeat("mark ", 10_000)
	r := a.request(t, http.MethodPost, "/v1/estimate", sent("/hangs", page))
	r.Header.Set("Prefer", "respond-async")
	id := strings.TrimPrefix(a.send(t, r).header.Get("Location"), "/v1/jobs/")
	job, err := a.jobs.Get(t.Context(), id)
	if err != nil || len(job.Input) > 200 {
		t.Errorf("input %.300s, %v", job.Input, err)
	}
	if kept, err := a.jobs.Attachment(t.Context(), id); err != nil || string(kept) != page {
		t.Errorf("%d bytes are kept, %v", len(kept), err)
	}
}

// TestSlowUpload: a page takes long over a slow line, and the
// server's own time for reading a request is made for small ones.
func TestSlowUpload(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	a.work(t)
	hurried := httptest.NewUnstartedServer(a.api)
	hurried.Config.ReadTimeout, hurried.Config.WriteTimeout = time.Second, 1500*time.Millisecond
	hurried.Start()
	defer hurried.Close()
	body := sent("/slow-upload", strings.Repeat("x", 100<<10))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, hurried.URL+"/v1/estimate", &halting{Reader: strings.NewReader(body)})
	if err != nil {
		t.Fatal(err)
	}
	r.ContentLength = int64(len(body))
	r.Header.Set("X-Api-Key", a.key)
	if got := a.send(t, r); got.status != http.StatusOK {
		t.Errorf("%d: %s", got.status, got.body)
	}
}

// halting is a body that stops in its middle for a while.
type halting struct {
	*strings.Reader
	once sync.Once
}

func (h *halting) Read(p []byte) (int, error) {
	h.once.Do(func() { time.Sleep(2 * time.Second) }) // longer than the server's own times, which net/http measures
	return h.Reader.Read(p)
}

// keep puts an estimate with a version in the cache.
func (a *app) keep(t *testing.T, key cache.Key, version string) {
	t.Helper()
	if err := a.cache.Put(t.Context(), key, versionOf(site+"/pasted", version), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
}
