package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"ushuru/pkg/batch"
	"ushuru/pkg/jobs"
)

// raw sends a request and returns the header of the response, and its body as it came.
func (a *app) raw(t *testing.T, path, accept string) (http.Header, []byte) {
	t.Helper()
	r := a.request(t, http.MethodGet, path, "")
	if accept != "" {
		r.Header.Set("Accept-Encoding", accept)
	}
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	defer client.CloseIdleConnections()
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.Header, body
}

// plain decompresses.
func plain(t *testing.T, coding string, body []byte) string {
	t.Helper()
	var (
		reader io.Reader = bytes.NewReader(body)
		err    error
	)
	switch coding {
	case "gzip":
		reader, err = gzip.NewReader(reader)
	case "zstd":
		reader, err = zstd.NewReader(reader)
	}
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestResponsesAreCompressed as the request wants, and only those that are worth it.
func TestResponsesAreCompressed(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	_, want := a.raw(t, "/openapi.yaml", "")
	for accept, coding := range map[string]string{
		"": "", "identity": "", "br": "", "gzip": "gzip", "zstd": "zstd", "gzip, zstd": "zstd", "gzip;q=1, zstd;q=0.5": "gzip",
		"gzip;q=0": "", "zstd;q=0, gzip": "gzip",
	} {
		got, body := a.raw(t, "/openapi.yaml", accept)
		if found := got.Get("Content-Encoding"); found != coding || plain(t, coding, body) != string(want) {
			t.Errorf("%q: %q, %d bytes", accept, found, len(body))
		}
		if !strings.Contains(strings.Join(got.Values("Vary"), ","), "Accept-Encoding") {
			t.Errorf("%q: Vary %q", accept, got.Values("Vary"))
		}
		if coding != "" && len(body)*3 > len(want) {
			t.Errorf("%q: %d of %d bytes", accept, len(body), len(want))
		}
	}
	if got, _ := a.raw(t, "/healthz", "gzip"); got.Get("Content-Encoding") != "" {
		t.Error("a response of one packet is compressed")
	}
	got, _ := a.raw(t, "/openapi.json", "gzip")
	tag := got.Get("ETag")
	r := a.request(t, http.MethodGet, "/openapi.json", "")
	r.Header.Set("If-None-Match", tag)
	if again := a.send(t, r); again.status != http.StatusNotModified || !strings.HasPrefix(tag, `W/"`) {
		t.Errorf("%q: %d", tag, again.status)
	}
}

// TestEventsAreNotCompressed: each comes when it happens.
func TestEventsAreNotCompressed(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	id := a.submit(t, "/streamed")
	if err := a.end(t.Context(), id, jobs.End{State: jobs.Failed, Error: failures[noMatch]}); err != nil {
		t.Fatal(err)
	}
	got, body := a.raw(t, "/v1/jobs/"+id+"/events", "gzip, zstd")
	if got.Get("Content-Encoding") != "" || !strings.HasPrefix(string(body), "retry: 2000\n\n") {
		t.Errorf("%q: %.40q", got.Get("Content-Encoding"), body)
	}
}

// endedBatch is a batch of three listings and a repeated one, all with an outcome.
func endedBatch(t *testing.T, a *app) (id string, store *batch.Store) {
	t.Helper()
	store = batch.NewStore(a.conn.Client())
	rows := []batch.Row{{Number: 1, URL: site + "/a"}, {Number: 2, URL: site + "/b"}, {Number: 3, URL: site + "/c"}, {Number: 4, URL: site + "/a"}}
	b, err := store.Create(t.Context(), batch.New{Owner: a.keyID, Rows: rows})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.ClaimRows(t.Context(), b.ID, 10); err != nil {
		t.Fatal(err)
	}
	a.finishRow(t, store, b.ID, 0, nil)
	return b.ID, store
}

// finishRow records the outcome of a row.
func (a *app) finishRow(t *testing.T, store *batch.Store, id string, row int, why *jobs.Error) {
	t.Helper()
	var err error
	if why == nil {
		_, err = store.Succeed(t.Context(), id, row, estimateOf(site+"/a"))
	} else {
		_, err = store.Fail(t.Context(), id, row, why)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// numbers returns the rows of results.
func numbers(t *testing.T, body string) (rows []int, next string) {
	t.Helper()
	var page struct {
		Results []struct {
			Row int `json:"row"`
		} `json:"results"`
		Next string `json:"next"`
	}
	if err := json.Unmarshal([]byte(body), &page); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	for _, r := range page.Results {
		rows = append(rows, r.Row)
	}
	return rows, page.Next
}

// TestResultsInParts by cursor, limit, state and the time of their end.
func TestResultsInParts(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	id, store := endedBatch(t, a)
	path := "/v1/batches/" + id + "/results"
	get := func(query string) answer { return a.send(t, a.request(t, http.MethodGet, path+query, "")) }
	now := time.Now().UTC()
	for _, row := range []int64{0, 3} { // a row that has ended, and its duplicate, did so earlier
		earlier := fmt.Sprintf("%010d", now.Add(-2*time.Second).Unix())
		if err := a.conn.Client().SetRange(t.Context(), "batch:{"+id+"}:ended", row*int64(len(earlier)), earlier).Err(); err != nil {
			t.Fatal(err)
		}
	}
	between := now.Truncate(time.Second).Format(time.RFC3339)
	a.finishRow(t, store, id, 1, failures[noMatch])
	if running := get(""); running.header.Get("ETag") != "" {
		t.Error("a batch that runs has a tag")
	}
	a.finishRow(t, store, id, 2, nil)
	for query, want := range map[string]string{
		"": "[1 2 3 4]", "?state=failed": "[2]", "?limit=3": "[1 2 3]", "?limit=3&cursor=3": "[4]", "?state=succeeded&limit=2": "[1 3]",
		"?since=" + between: "[2 3]", "?since=" + between + "&state=succeeded": "[3]", "?since=2020-01-01T00:00:00Z": "[1 2 3 4]",
		"?since=" + time.Now().Add(time.Hour).UTC().Format(time.RFC3339): "[]", "?cursor=99": "[]",
	} {
		got := get(query)
		if rows, _ := numbers(t, got.body); got.status != 200 || rowList(rows) != want {
			t.Errorf("%s: %d, rows %v, want %s", query, got.status, rows, want)
		}
	}
	first := get("?limit=2&state=succeeded")
	_, next := numbers(t, first.body)
	if link := first.header.Get("Link"); next != "3" || link != `<`+path+`?cursor=3&limit=2&state=succeeded>; rel="next"` {
		t.Errorf("next %q, Link %q", next, link)
	}
	if last := get("?limit=2&state=succeeded&cursor=" + next); last.header.Get("Link") != "" {
		t.Errorf("after the last page: %q", last.header.Get("Link"))
	}
	if lines := get("?format=ndjson&limit=2"); strings.Count(lines.body, "\n") != 2 || lines.header.Get("Link") == "" {
		t.Errorf("lines: %q %.200s", lines.header.Get("Link"), lines.body)
	}
	for query, code := range map[string]string{
		"?limit=0": "page_invalid", "?cursor=x": "page_invalid", "?state=x": "state_unknown", "?since=yesterday": "since_invalid",
	} {
		if got := get(query); got.status != 400 || !strings.Contains(got.body, code) {
			t.Errorf("%s: %d %s", query, got.status, got.body)
		}
	}
}

func rowList(rows []int) string {
	data, _ := json.Marshal(rows)
	if rows == nil {
		return "[]"
	}
	return strings.ReplaceAll(string(data), ",", " ")
}
