package batches

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"ushuru/api/apitest"
	"ushuru/pkg/batch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
)

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
	s, p := newResource(t)
	rows := []batch.Row{{Number: 1, URL: "https://cars.example/a"}, {Number: 2, URL: "https://cars.example/b"}, {Number: 3, URL: "https://cars.example/c"}, {Number: 4, URL: "https://cars.example/a"}}
	made, err := p.Batches.Create(t.Context(), batch.New{Owner: "key", Rows: rows})
	if err != nil {
		t.Fatal(err)
	}
	id, path := made.ID, "/v1/batches/"+made.ID+"/results"
	get := func(query string) apitest.Answer {
		return apitest.Send(t, s.GetResults, apitest.Ask{URL: path + query, Vars: of(id)})
	}
	estimate, err := os.ReadFile("../testdata/estimate.json")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Batches.ClaimRows(t.Context(), id, 10); err != nil {
		t.Fatal(err)
	}
	succeed := func(row int) {
		t.Helper()
		if _, err := p.Batches.Succeed(t.Context(), id, row, estimate); err != nil {
			t.Fatal(err)
		}
	}
	succeed(0)
	now := time.Now().UTC()
	for _, row := range []int64{0, 3} { // a row that has ended, and its duplicate, did so earlier
		earlier := fmt.Sprintf("%010d", now.Add(-2*time.Second).Unix())
		if err := p.Redis.SetRange(t.Context(), "batch:{"+id+"}:ended", row*int64(len(earlier)), earlier).Err(); err != nil {
			t.Fatal(err)
		}
	}
	between := now.Truncate(time.Second).Format(time.RFC3339)
	if _, err := p.Batches.Fail(t.Context(), id, 1, &jobs.Error{Notice: message.New("error/not_a_listing", nil)}); err != nil {
		t.Fatal(err)
	}
	if running := get(""); running.Header.Get("ETag") != "" {
		t.Error("a batch that runs has a tag")
	}
	succeed(2)
	for query, want := range map[string]string{
		"": "[1 2 3 4]", "?state=failed": "[2]", "?limit=3": "[1 2 3]", "?limit=3&cursor=3": "[4]", "?state=succeeded&limit=2": "[1 3]",
		"?since=" + between: "[2 3]", "?since=" + between + "&state=succeeded": "[3]", "?since=2020-01-01T00:00:00Z": "[1 2 3 4]",
		"?since=" + time.Now().Add(time.Hour).UTC().Format(time.RFC3339): "[]", "?cursor=99": "[]",
	} {
		got := get(query)
		if rows, _ := numbers(t, got.Body); got.Status != 200 || rowList(rows) != want {
			t.Errorf("%s: %d, rows %v, want %s", query, got.Status, rows, want)
		}
	}
	first := get("?limit=2&state=succeeded")
	_, next := numbers(t, first.Body)
	if link := first.Header.Get("Link"); next != "3" || link != `<`+path+`?cursor=3&limit=2&state=succeeded>; rel="next"` {
		t.Errorf("next %q, Link %q", next, link)
	}
	if last := get("?limit=2&state=succeeded&cursor=" + next); last.Header.Get("Link") != "" {
		t.Errorf("after the last page: %q", last.Header.Get("Link"))
	}
	if lines := get("?format=ndjson&limit=2"); strings.Count(lines.Body, "\n") != 2 || lines.Header.Get("Link") == "" {
		t.Errorf("lines: %q %.200s", lines.Header.Get("Link"), lines.Body)
	}
	for query, code := range map[string]string{
		"?limit=0": "page_invalid", "?cursor=x": "page_invalid", "?state=x": "state_unknown", "?since=yesterday": "since_invalid",
	} {
		if got := get(query); got.Status != 400 || !strings.Contains(got.Body, code) {
			t.Errorf("%s: %d %s", query, got.Status, got.Body)
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
