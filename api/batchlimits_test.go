package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"ushuru/api"
	"ushuru/pkg/batch"
	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
)

func TestBatchListingsPerKey(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		a := newApp(t, conn, func(o *api.Options) { o.Limits = pace.Limits{BatchItems: 3} })
		hand := func(listings ...string) answer {
			body, err := json.Marshal(map[string][]string{"urls": listings})
			if err != nil {
				t.Fatal(err)
			}
			return a.send(t, a.request(t, http.MethodPost, "/v1/batches", string(body)))
		}
		if got := hand(site+"/1", site+"/2"); got.status != http.StatusCreated {
			t.Fatalf("two: %d %s", got.status, got.body)
		}
		if got := hand(site+"/3", site+"/4"); got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") == "" {
			t.Errorf("two more: %d %s", got.status, got.body)
		}
		if got := hand(site+"/3", site+"/4", site+"/5", site+"/6"); got.status != http.StatusRequestEntityTooLarge {
			t.Errorf("more than ever: %d %s", got.status, got.body)
		}
		if got := hand(site + "/3"); got.status != http.StatusCreated {
			t.Errorf("one more: %d %s", got.status, got.body)
		}
	})
}

func TestBatchesAreListedToTheirOwner(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	var made []string
	for range 3 {
		made = append(made, batchOf("w")(t, a))
	}
	ofAnother(t, a)
	seen := map[string]bool{}
	for path, pages := "/v1/batches?limit=2", 0; path != ""; pages++ {
		var page struct {
			Batches []struct {
				ID string `json:"id"`
			} `json:"batches"`
			Next string `json:"next"`
		}
		if err := json.Unmarshal([]byte(a.send(t, a.request(t, http.MethodGet, path, "")).body), &page); err != nil || pages > 2 {
			t.Fatal(err, pages)
		}
		for _, b := range page.Batches {
			seen[b.ID] = true
		}
		path = ""
		if page.Next != "" {
			path = "/v1/batches?limit=2&cursor=" + page.Next
		}
	}
	if len(seen) != len(made) {
		t.Errorf("listed %v, made %v", seen, made)
	}
}

// TestAListIsAcceptedWithRoomForAllItsResults: a dry run says whether there is that room.
func TestAListIsAcceptedWithRoomForAllItsResults(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), func(o *api.Options) { o.Limits.Bytes = 1 << 20 })
	type storage struct {
		Bytes int64 `json:"bytes"`
		Used  int64 `json:"used"`
		Limit int64 `json:"limit"`
		Fits  bool  `json:"fits"`
	}
	batch := func(query string, from, rows int) (answer, storage) {
		urls := make([]string, rows)
		for i := range urls {
			urls[i] = fmt.Sprintf(`"https://cars.example/row/%d"`, from+i)
		}
		got := a.send(t, a.request(t, http.MethodPost, "/v1/batches"+query, `{"urls":[`+strings.Join(urls, ",")+`]}`))
		var said struct {
			Storage storage `json:"storage"`
		}
		if err := json.Unmarshal([]byte(got.body), &said); err != nil {
			t.Fatal(err)
		}
		return got, said.Storage
	}
	used := int64(0)
	for _, c := range []struct{ rows, status int }{{300, 413}, {70, 201}, {60, 429}, {40, 201}} {
		dry, told := batch("?dryRun=true", 1000*c.rows, c.rows)
		if fits := c.status == 201; dry.status != 200 || told.Fits != fits || told.Used != used || told.Limit != 1<<20 {
			t.Errorf("a dry run of %d rows: got %+v, want %t with %d used", c.rows, told, fits, used)
		}
		got, reserved := batch("", 1000*c.rows, c.rows)
		if got.status != c.status {
			t.Errorf("%d rows: got %d %s, want %d", c.rows, got.status, got.body, c.status)
		}
		if got.status != 201 {
			continue
		}
		if used += told.Bytes; reserved != (storage{told.Bytes, used, 1 << 20, true}) || reserved.Bytes > int64(c.rows)*9<<10+4000 {
			t.Errorf("%d rows: got %+v, want %+v with %d used", c.rows, reserved, told, used)
		}
	}
}

// TestOnlySomeInvalidRowsAreKept: the others would fill Redis with what is not wanted.
func TestOnlySomeInvalidRowsAreKept(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	bad := `"http://127.0.0.1/` + strings.Repeat("x", 150) + `",`
	got := a.send(t, a.request(t, http.MethodPost, "/v1/batches",
		`{"options":{"onInvalid":"skip"},"urls":[`+strings.Repeat(bad, 250)+`"https://cars.example/1"]}`))
	if got.status != http.StatusCreated || !strings.Contains(got.body, `"rejected":250`) {
		t.Fatalf("%d %.300s", got.status, got.body)
	}
	items := a.send(t, a.request(t, http.MethodGet, got.header.Get("Location")+"/items?limit=1000&state=rejected", ""))
	if n := strings.Count(items.body, "127.0.0.1"); n != 200 || strings.Count(items.body, `"row_invalid"`) != 50 {
		t.Errorf("%d rows are kept: %.300s", n, items.body)
	}
}

// TestBatchesAreDecodedAsAStream: what is wrong early is said early, and odd JSON is
// read as it always was.
func TestBatchesAreDecodedAsAStream(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), func(o *api.Options) { o.Limits.PerMinute = 0 })
	const one = `"https://cars.example/1"`
	for name, c := range map[string]struct {
		body, code string
		status     int
	}{
		"a row too many":           {`{"urls":[` + strings.Repeat("0,", batch.MaxRows) + `0,` + strings.Repeat("[", 100), "too_many_rows", 400},
		"nested without an end":    {`{"x":` + strings.Repeat("[", 100_000), "invalid_batch", 400},
		"an unknown field":         {`{"x":{"urls":[1,{"a":[]}]},"URLS":[` + one + `]}`, "", 201},
		"null lists":               {`{"urls":null,"items":[{"url":` + one + `}],"options":null,"webhook":null}`, "", 201},
		"two values":               {`{"urls":[` + one + `]} {}`, "invalid_batch", 400},
		"the body ends":            {`{"urls":[` + one, "invalid_batch", 400},
		"a list that is an object": {`{"urls":{"a":1}}`, "invalid_batch", 400},
		"a row of 100 KB":          {`{"urls":["https://cars.example/` + strings.Repeat("x", 100<<10) + `"]}`, "rows_invalid", 400},
		"bytes that are not UTF-8": {"{\"urls\":[" + one + "],\"x\":\"\xff\"}", "invalid_batch", 400},
		"a language":               {`{"lang":"fr","urls":[` + one + `]}`, "lang_invalid", 400},
	} {
		got := a.send(t, a.request(t, http.MethodPost, "/v1/batches", c.body))
		if got.status != c.status || c.code != "" && !strings.Contains(got.body, `"code":"`+c.code+`"`) {
			t.Errorf("%s: %d %.300s", name, got.status, got.body)
		}
	}
	for name, table := range map[string]string{
		"nothing but commas": "url\n" + strings.Repeat(",", 1<<20), "an endless header": strings.Repeat("url,", 1<<18),
		"an endless quote": "url\n\"" + strings.Repeat("x\n", 1<<19),
	} {
		r := a.request(t, http.MethodPost, "/v1/batches", table)
		r.Header.Set("Content-Type", "text/csv")
		if got := a.send(t, r); got.status != http.StatusBadRequest {
			t.Errorf("%s: %d %.300s", name, got.status, got.body)
		}
	}
}

// TestTheLastPageOfBatchesIsNotEmpty: a list whose length is a multiple of the limit
// ends with its last batch.
func TestTheLastPageOfBatchesIsNotEmpty(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	for range 4 {
		a.send(t, a.request(t, http.MethodPost, "/v1/batches", `{"urls":["`+site+`/1"]}`))
	}
	path, pages := "/v1/batches?limit=2", 0
	for path != "" {
		var page struct {
			Batches []json.RawMessage `json:"batches"`
			Next    string            `json:"next"`
		}
		if err := json.Unmarshal([]byte(a.send(t, a.request(t, http.MethodGet, path, "")).body), &page); err != nil {
			t.Fatal(err)
		}
		if len(page.Batches) != 2 {
			t.Errorf("page %d has %d batches", pages, len(page.Batches))
		}
		if pages, path = pages+1, ""; page.Next != "" {
			path = "/v1/batches?limit=2&cursor=" + page.Next
		}
	}
	if pages != 2 {
		t.Errorf("%d pages", pages)
	}
}

// TestRateLimitInTheDraftsPresentForm is beside the three headers of its early versions.
func TestRateLimitInTheDraftsPresentForm(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), func(o *api.Options) { o.Limits = pace.Limits{PerMinute: 7} })
	got := a.send(t, a.request(t, http.MethodPost, "/v1/batches", `{"urls":["`+site+`/1"]}`))
	if policy := got.header.Get("Ratelimit-Policy"); policy != `"minute";q=7;w=60` {
		t.Errorf("policy %q", policy)
	}
	remaining, reset := got.header.Get("Ratelimit-Remaining"), got.header.Get("Ratelimit-Reset")
	if left := got.header.Get("Ratelimit"); remaining == "" || left != `"minute";r=`+remaining+`;t=`+reset {
		t.Errorf("left %q, the early headers %q and %q", left, remaining, reset)
	}
}

func TestTestEventIsSentOnceUnderOneKey(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	id := hooked(t, a)
	var bodies []string
	for range 2 {
		r := a.request(t, http.MethodPost, "/v1/webhooks/"+id+"/test", "")
		r.Header.Set("Idempotency-Key", "try")
		bodies = append(bodies, a.send(t, r).body)
	}
	a.send(t, a.request(t, http.MethodPost, "/v1/webhooks/"+id+"/test", ""))
	scenario{
		name: "asked again", method: http.MethodPost, url: "/v1/webhooks/" + id + "/verify",
		status: 202, has: []string{`"event":"webhook.verification"`, `"state":"pending"`},
	}.run(t, a)
	log := a.send(t, a.request(t, http.MethodGet, "/v1/webhooks/"+id+"/deliveries", ""))
	if bodies[0] != bodies[1] || strings.Count(log.body, `"event":"webhook.test"`) != 2 || strings.Contains(log.body, "owner") {
		t.Errorf("%s\n%s", bodies, log.body)
	}
}

// ofAnother is a batch of another key.
func ofAnother(t *testing.T, a *app) string {
	t.Helper()
	b, err := batch.NewStore(a.conn.Client()).Create(t.Context(), batch.New{
		Owner: "another", Rows: []batch.Row{{Number: 1, URL: site + "/1"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.ID
}
