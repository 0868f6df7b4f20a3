package api_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ushuru/api"
	"ushuru/pkg/batch"
	"ushuru/pkg/testenv"
)

// TestLargeBodiesCountBeforeTheyAreRead: a body that is refused costs a request.
func TestLargeBodiesCountBeforeTheyAreRead(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), func(o *api.Options) { o.Limits.PerMinute = 2 })
	huge := `{"urls":[` + strings.Repeat("0,", 1<<20) + "0]}"
	for i, want := range []int{400, 400, 429} {
		if got := a.send(t, a.request(t, http.MethodPost, "/v1/batches", huge)); got.status != want {
			t.Errorf("request %d: %d %.200s", i, got.status, got.body)
		}
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

// TestLargeBodiesTakePlaces: those of one key are a few at a time, and another key has
// a place at once.
func TestLargeBodiesTakePlaces(t *testing.T) {
	t.Parallel()
	testenv.Long(t)
	a := newApp(t, embedded(t), nil)
	server := httptest.NewServer(a.api)
	defer server.Close()
	other, _, err := a.keys.Create(t.Context(), "other")
	if err != nil {
		t.Fatal(err)
	}
	begin := func() net.Conn {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		_, _ = fmt.Fprintf(conn, "POST /v1/batches HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\n"+
			"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n{", a.key, 1<<20)
		return conn
	}
	const count, admitted = 31, 24 // four have a place and twenty wait
	refused := make(chan string, count)
	for range count {
		conn := begin()
		go func() {
			_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
			answer, _ := io.ReadAll(io.LimitReader(conn, 12))
			refused <- string(answer)
		}()
	}
	for i := range count - admitted {
		if got := <-refused; got != "HTTP/1.1 429" {
			t.Fatalf("request %d of the same key that is answered: %q", i, got)
		}
	}
	r := a.request(t, http.MethodPost, "/v1/batches", `{"urls":["https://cars.example/1"],"x":"`+strings.Repeat("x", 100<<10)+`"}`)
	r.Header.Set("X-Api-Key", other)
	begun := time.Now()
	if got := a.send(t, r); got.status != http.StatusCreated || time.Since(begun) > time.Second {
		t.Errorf("another key: %d after %v", got.status, time.Since(begun))
	}
}
