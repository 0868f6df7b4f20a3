package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ushuru/pkg/client"
	"ushuru/pkg/localtime"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/tra/tratest"
	"ushuru/tasks"
)

// results are what a batch ended with.
type results struct {
	batch client.Batch
	rows  []map[string]any // as answered
	// deliveries is the number of webhook requests that arrived.
	deliveries int
}

// undisturbed returns the results of the lots when nothing happens.
func undisturbed(t *testing.T, l *lots, seed uint64) *results {
	t.Helper()
	s := newStack(t, redistest.Open(t, redistest.Start(t).URL))
	s.authority = tratest.Start(t, tratest.Options{Seed: seed}) // it numbers the makes
	s.work(tasks.RoleAny, tasks.RoleAuthority)
	api, err := client.New(client.Options{URL: s.base, Key: s.key})
	must(t, err)
	got, err := submitLots(t.Context(), api, l, new(atomic.Int64))
	must(t, err)
	return got
}

// submitLots submits the lots as one batch and returns their results. done counts
// the rows that have ended. The request has an Idempotency-Key, and the client
// sends it again when the response is lost.
func submitLots(ctx context.Context, api *client.Client, l *lots, done *atomic.Int64) (*results, error) {
	body, err := l.body()
	if err != nil {
		return nil, err
	}
	response, err := api.Do(ctx, client.Request{
		Path: "/v1/batches", Body: body, Header: http.Header{"Idempotency-Key": {"the lots"}},
	})
	if err != nil {
		return nil, fmt.Errorf("submit: %w", err)
	}
	var got results
	if err := json.Unmarshal(response.Body, &got.batch); err != nil {
		return nil, err
	}
	for !got.batch.HasEnded() {
		status, err := api.Batch(ctx, got.batch.ID)
		if err != nil {
			return nil, fmt.Errorf("poll: %w", err)
		}
		got.batch = *status
		if sum := total(got.batch.Counts); sum != len(l.urls) {
			return nil, fmt.Errorf("%d rows of %d in a running batch: %v", sum, len(l.urls), got.batch.Counts)
		}
		done.Store(int64(got.batch.Counts["succeeded"] + got.batch.Counts["failed"]))
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("the batch has not ended in time: %v", got.batch.Counts)
		case <-time.After(50 * time.Millisecond):
		}
	}
	return &got, got.read(ctx, api)
}

// read reads the results, and that there is one batch.
func (r *results) read(ctx context.Context, api *client.Client) error {
	response, err := api.Do(ctx, client.Request{Path: "/v1/batches/" + r.batch.ID + "/results?format=ndjson"})
	if err != nil {
		return fmt.Errorf("results: %w", err)
	}
	for line := range bytes.Lines(response.Body) {
		var row map[string]any
		if err := json.Unmarshal(line, &row); err != nil {
			return err
		}
		r.rows = append(r.rows, row)
	}
	var all struct {
		Batches []client.Batch `json:"batches"`
	}
	if response, err = api.Do(ctx, client.Request{Path: "/v1/batches"}); err != nil {
		return err
	}
	if err := json.Unmarshal(response.Body, &all); err != nil || len(all.Batches) != 1 {
		return errors.Join(fmt.Errorf("%d batches: %+v", len(all.Batches), all.Batches), err)
	}
	return nil
}

// some are the counts that are not zero.
func some(s client.Batch) map[string]int {
	counts := maps.Clone(s.Counts)
	maps.DeleteFunc(counts, func(_ string, n int) bool { return n == 0 })
	return counts
}

func total(counts map[string]int) (sum int) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

// counts are the rows by state and error.
func (r *results) counts() map[string]int {
	counts := map[string]int{}
	for _, row := range r.rows {
		counts[strings.TrimSpace(fmt.Sprint(row["state"], " ", codeOf(row)))]++
	}
	return counts
}

func codeOf(row map[string]any) any {
	if failure, ok := row["error"].(map[string]any); ok {
		return failure["code"]
	}
	return ""
}

// wholeOf checks that every listing has one row, in its place, that has ended,
// and that the batch counted as many.
func (r *results) wholeOf(t *testing.T, l *lots) {
	t.Helper()
	if len(r.rows) != len(l.urls) {
		t.Errorf("%d rows of %d listings", len(r.rows), len(l.urls))
	}
	states := map[string]int{}
	for i, row := range r.rows {
		if i < len(l.urls) && (row["url"] != l.urls[i] || row["row"] != float64(i+1)) {
			t.Errorf("row %v of %v stands in the place of %s", row["row"], row["url"], l.urls[i])
		}
		states[fmt.Sprint(row["state"])]++
	}
	if !maps.Equal(states, some(r.batch)) {
		t.Errorf("the rows are %v, the batch counts %v", states, r.batch.Counts)
	}
}

// equals compares the rows with those of another run.
func (r *results) equals(t *testing.T, want *results) {
	t.Helper()
	const shown = 5
	var differ []int
	for i := range min(len(r.rows), len(want.rows)) {
		got, wanted := lasting(t, r.rows[i]), lasting(t, want.rows[i])
		if slices.Equal(got, wanted) {
			continue
		}
		if differ = append(differ, i+1); len(differ) <= shown {
			t.Errorf("row %d, %v, %v %v in place of %v %v (- undisturbed, + disturbed):\n%s", i+1, r.rows[i]["url"],
				r.rows[i]["state"], codeOf(r.rows[i]), want.rows[i]["state"], codeOf(want.rows[i]), difference(wanted, got))
		}
	}
	if len(differ) > 0 {
		t.Errorf("%d of %d rows differ: %v", len(differ), len(r.rows), differ)
	}
}

var readAt = regexp.MustCompile(`"readAt": "[^"]*"`)

// lasting is a row in lines, without what differs between two runs that
// nothing happened to: the number under which the authority answered, when it
// did (and the day, should it change between the two runs), until when that
// holds, when the page was read, and whether the row found it in the cache.
func lasting(t *testing.T, row map[string]any) []string {
	t.Helper()
	text, err := json.MarshalIndent(row, "", " ")
	must(t, err)
	lines := readAt.ReplaceAllString(string(text), `"readAt": "…"`)
	if estimate, ok := row["estimate"].(map[string]any); ok {
		tax, _ := estimate["tax"].(map[string]any)
		for _, value := range []any{tax["referenceNumber"], estimate["asOf"], estimate["validUntil"]} {
			if value, ok := value.(string); ok {
				lines = strings.ReplaceAll(lines, value, "…")
			}
		}
		lines = strings.Replace(lines, `"cached": true`, `"cached": false`, 1)
		if asOf, _ := estimate["asOf"].(string); len(asOf) >= len(time.DateOnly) {
			today := time.Now().In(localtime.Zone)
			for _, day := range []time.Time{today, today.AddDate(0, 0, -1)} {
				lines = strings.ReplaceAll(lines, `"`+day.Format(time.DateOnly)+`"`, `"the day"`)
			}
		}
	}
	return strings.Split(lines, "\n")
}

// difference shows the first lines that only one of two has.
func difference(want, got []string) string {
	const maxLines = 10
	var b strings.Builder
	only := func(mark string, these, those []string) {
		shown := 0
		for _, line := range these {
			if slices.Contains(those, line) {
				continue
			}
			if shown++; shown > maxLines {
				fmt.Fprintf(&b, "%s …\n", mark)
				return
			}
			fmt.Fprintf(&b, "%s %s\n", mark, line)
		}
	}
	only("-", want, got)
	only("+", got, want)
	return b.String()
}
