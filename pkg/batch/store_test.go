package batch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/batch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
)

func TestStoreOnEveryRedis(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		b := &bench{t: t, conn: conn, Store: batch.NewStore(conn.Client())}
		for name, test := range map[string]func(*bench){
			"a batch is read as it was created":      readAsCreated,
			"duplicates are processed once":          duplicatesAreOne,
			"each row is claimed once":               claimedOnce,
			"the outcome of a row is recorded once":  recordedOnce,
			"a batch ends with its last row":         endsWithTheLast,
			"cancelling ends running rows too":       cancelEndsRunning,
			"failed rows can be retried":             failedRetried,
			"rows without progress are found":        stuckIsFound,
			"a caller's batches are listed in pages": listedInPages,
			"items are read in pages":                itemsInPages,
			"an ended batch becomes inactive":        becomesInactive,
		} {
			t.Run(name, func(t *testing.T) {
				one := *b
				one.t = t
				test(&one)
			})
		}
	})
}

type bench struct {
	*batch.Store
	t    *testing.T
	conn *redisx.Conn
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// create creates a batch of rows with these URLs; "!" is a rejected row.
func (b *bench) create(urls ...string) string {
	b.t.Helper()
	rows := make([]batch.Row, len(urls))
	for i, url := range urls {
		rows[i] = batch.Row{Number: i + 1, Reference: fmt.Sprint("ref ", i), URL: url}
		if url == "!" {
			rows[i].RejectReason = &jobs.Error{Notice: message.Notice{Code: "url_invalid", Message: "No."}}
		}
	}
	rate := money.NewNumber(decimal.NewFromInt(2700))
	options := batch.Options{Terms: batch.Terms{Rate: &rate}}
	created, err := b.Create(b.t.Context(), batch.New{Owner: b.t.Name(), Rows: rows, Options: options})
	b.must(err)
	return created.ID
}

func (b *bench) claim(id string, n int) (indexes []int) {
	b.t.Helper()
	claimed, err := b.ClaimRows(b.t.Context(), id, n)
	b.must(err)
	for _, row := range claimed {
		indexes = append(indexes, row.Index)
	}
	return indexes
}

// states returns the first letters of the rows' states, in their order.
func (b *bench) states(id string) string {
	b.t.Helper()
	reader, err := b.Read(b.t.Context(), id)
	b.must(err)
	items, next, err := reader.Next(b.t.Context(), 0, batch.MaxRows, "", true)
	b.must(err)
	if next != -1 {
		b.t.Errorf("next %d", next)
	}
	var all strings.Builder
	for _, item := range items {
		all.WriteByte(item.State[0])
	}
	return all.String()
}

func (b *bench) is(what, got, want any) {
	b.t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		b.t.Fatalf("%v: %v, want %v", what, got, want)
	}
}

func (b *bench) setJobs(id string, jobs map[int]string, cancelled bool) {
	b.t.Helper()
	got, err := b.SetRowJobs(b.t.Context(), id, jobs)
	b.must(err)
	b.is("cancelled", got, cancelled)
}

func (b *bench) succeed(id string, row int) bool {
	b.t.Helper()
	done, err := b.Succeed(b.t.Context(), id, row, json.RawMessage(fmt.Sprintf(`{"row":%d}`, row)))
	b.must(err)
	return done.Last
}

func (b *bench) fail(id string, row int) bool {
	b.t.Helper()
	done, err := b.Fail(b.t.Context(), id, row, &jobs.Error{Notice: message.Notice{Code: "no_match", Message: "None."}})
	b.must(err)
	return done.Last
}

func readAsCreated(b *bench) {
	id := b.create("a", "!", "b")
	got, err := b.Get(b.t.Context(), id)
	b.must(err)
	b.is("batch", fmt.Sprint(got.Owner, *got.Options.Rate, got.Rows, got.Repeated, got.Counts, got.Ended.IsZero(), got.PerSecond),
		fmt.Sprint(b.t.Name(), 2700, 3, 0, map[batch.State]int{batch.Waiting: 2, batch.Rejected: 1}, true, 0.0))
	reader, err := b.Read(b.t.Context(), id)
	b.must(err)
	items, _, err := reader.Next(b.t.Context(), 0, 10, "", false)
	b.must(err)
	b.is("item", []any{items[2].Number, items[2].Reference, items[2].URL, items[1].Error.Code}, "[3 ref 2 b url_invalid]")
	if _, err := b.Get(b.t.Context(), "nothing"); !errors.Is(err, batch.ErrNotFound) {
		b.t.Error(err)
	}
	if _, err := b.Read(b.t.Context(), "nothing"); !errors.Is(err, batch.ErrNotFound) {
		b.t.Error(err)
	}
}

func duplicatesAreOne(b *bench) {
	id := b.create("a", "b", "a", "!", "a")
	got, err := b.Get(b.t.Context(), id)
	b.must(err)
	b.is("repeated", got.Repeated, 2)
	b.is("claimed", b.claim(id, 10), []int{0, 1})
	b.is("rows", b.states(id), "rrrrr"[:3]+"rr") // the rejected one begins with an r too
	b.succeed(id, 0)
	if !b.fail(id, 1) {
		b.t.Error("the batch did not end")
	}
	b.is("rows", b.states(id), "sfsrs")
	reader, err := b.Read(b.t.Context(), id)
	b.must(err)
	items, _, err := reader.Next(b.t.Context(), 0, 10, batch.Succeeded, true)
	b.must(err)
	for _, item := range items {
		b.is(item.Number, string(item.Result), `{"row":0}`)
	}
	b.is("items", len(items), 3)
}

func claimedOnce(b *bench) {
	urls := make([]string, 250)
	for i := range urls {
		urls[i] = fmt.Sprint("https://a.example/", i)
	}
	id := b.create(urls...)
	seen := map[int]bool{}
	for _, n := range []int{1, 99, 0, 120, 100, 5} {
		for _, row := range b.claim(id, n) {
			if seen[row] {
				b.t.Errorf("row %d was claimed twice", row)
			}
			seen[row] = true
		}
	}
	b.is("claimed", len(seen), 250)
	claimed, err := b.ListStuck(b.t.Context(), id, 0)
	b.must(err)
	for _, row := range claimed {
		b.is(row.Index, row.URL, urls[row.Index])
	}
}

func recordedOnce(b *bench) {
	id := b.create("a", "b")
	b.succeed(id, 0) // before it was claimed
	b.is("rows", b.states(id), "ww")
	b.claim(id, 1)
	b.succeed(id, 0)
	b.fail(id, 0)
	b.is("rows", b.states(id), "sw")
	got, err := b.Get(b.t.Context(), id)
	b.must(err)
	b.is("ended", got.Ended.IsZero(), true)
	if got.PerSecond <= 0 {
		b.t.Errorf("%v a second", got.PerSecond)
	}
}

func endsWithTheLast(b *bench) {
	id := b.create("a", "b")
	b.claim(id, 2)
	b.is("first", b.succeed(id, 0), false)
	b.is("last", b.fail(id, 1), true)
	b.is("again", b.fail(id, 1), false)
	got, err := b.Get(b.t.Context(), id)
	b.must(err)
	if got.Ended.IsZero() || got.Expires.Sub(got.Ended) != batch.Retention {
		b.t.Fatalf("%+v", got)
	}
	left, err := b.conn.Client().PTTL(b.t.Context(), "batch:{"+id+"}:out").Result()
	b.must(err)
	if left > batch.Retention || left < batch.Retention-time.Minute {
		b.t.Errorf("the results expire after %v", left)
	}
}

func cancelEndsRunning(b *bench) {
	id := b.create("a", "b", "b", "c", "d")
	b.claim(id, 3)
	b.setJobs(id, map[int]string{0: "A", 1: "B"}, false)
	b.must(b.Park(b.t.Context(), id, 1, time.Hour))
	b.is("last", b.succeed(id, 0), false)
	b.must(b.Cancel(b.t.Context(), id))
	b.is("rows", b.states(id), "scccc")
	b.is("claimed", b.claim(id, 10), []int(nil))
	got, err := b.Get(b.t.Context(), id)
	b.must(err)
	b.is("ended and cancelled", got.Ended.IsZero() || got.Cancelled.IsZero(), false)
	b.is("an outcome that comes late", b.succeed(id, 1), false)
	b.is("rows", b.states(id), "scccc")

	left := map[int]string{}
	var mu sync.Mutex
	leave := func(_ context.Context, job string, row int) error {
		mu.Lock()
		defer mu.Unlock()
		left[row] = job
		return nil
	}
	b.must(b.Release(b.t.Context(), id, leave))
	b.is("jobs that are left", left, map[int]string{1: "B"})
	b.setJobs(id, map[int]string{3: "C"}, true) // by a process that had claimed the row
	b.must(b.Release(b.t.Context(), id, leave))
	b.must(b.Release(b.t.Context(), id, func(context.Context, string, int) error { return errors.New("once more") }))
	b.is("jobs that are left", left, map[int]string{1: "B", 3: "C"})
	b.must(b.Cancel(b.t.Context(), id))
	b.must(b.Cancel(b.t.Context(), "nothing"))

	b.must(b.Retry(b.t.Context(), id, "again"))
	b.is("rows", b.states(id), "swwww")
	got, err = b.Get(b.t.Context(), id)
	b.must(err)
	b.is("neither ended nor cancelled", got.Ended.IsZero() && got.Cancelled.IsZero(), true)
	b.is("claimed", b.claim(id, 10), []int{1, 3, 4})
	b.is("last", b.succeed(id, 1) || b.succeed(id, 3), false)
	b.is("last", b.fail(id, 4), true)
}

func failedRetried(b *bench) {
	id := b.create("a", "b", "c", "b")
	b.claim(id, 3)
	if err := b.Retry(b.t.Context(), id, "early"); !errors.Is(err, batch.ErrNoneFailed) {
		b.t.Fatal(err)
	}
	b.succeed(id, 0)
	b.fail(id, 1)
	b.fail(id, 2)
	b.must(b.Retry(b.t.Context(), id, "once"))
	b.is("rows", b.states(id), "swww")
	left, err := b.conn.Client().PTTL(b.t.Context(), "batch:{"+id+"}:rows").Result()
	b.must(err)
	b.is("TTL", left, time.Duration(-1)) // no end
	b.is("claimed", b.claim(id, 3), []int{1, 2})
	b.succeed(id, 1)
	b.is("last", b.fail(id, 2), true)
	b.is("rows", b.states(id), "ssfs")
	b.must(b.Retry(b.t.Context(), id, "once"))
	b.is("rows that were retried under the name", b.states(id), "ssfs")
	for name, want := range map[string]bool{"once": true, "early": false} {
		done, err := b.WasRetried(b.t.Context(), id, name)
		b.must(err)
		b.is(name, done, want)
	}
	b.must(b.Retry(b.t.Context(), id, "twice"))
	b.is("rows under another name", b.states(id), "ssws")
}

func stuckIsFound(b *bench) {
	id := b.create("a", "b")
	b.claim(id, 2)
	b.setJobs(id, map[int]string{1: "JOB"}, false)
	stuck, err := b.ListStuck(b.t.Context(), id, time.Minute)
	b.must(err)
	b.is("soon", len(stuck), 0)
	ago := time.Now().Add(-5 * time.Second).UnixMilli()
	b.must(b.conn.Client().HSet(b.t.Context(), "batch:{"+id+"}:running", "0", ago, "1", fmt.Sprint(ago, " JOB")).Err())
	stuck, err = b.ListStuck(b.t.Context(), id, time.Minute)
	b.must(err)
	b.is("without a job for 5 s", len(stuck) == 1 && stuck[0].Index == 0, true)
	stuck, err = b.ListStuck(b.t.Context(), id, 0)
	b.must(err)
	found := map[int]string{}
	for _, row := range stuck {
		found[row.Index] = row.URL + row.Job
	}
	b.is("stuck", found, map[int]string{0: "a", 1: "bJOB"})
	b.succeed(id, 0)
	b.succeed(id, 1)
	b.setJobs(id, map[int]string{1: "LATE"}, false)
	stuck, err = b.ListStuck(b.t.Context(), id, 0)
	b.must(err)
	b.is("afterwards", len(stuck), 0)
}

func listedInPages(b *bench) {
	var want []string
	for range 5 {
		want = append([]string{b.create("a")}, want...)
	}
	b.must(b.conn.Client().Del(b.t.Context(), "batch:{"+want[1]+"}").Err()) // it has expired
	want = append(want[:1], want[2:]...)
	var got []string
	for before := ""; ; before = got[len(got)-1] {
		page, err := b.List(b.t.Context(), b.t.Name(), before, 2)
		b.must(err)
		if len(page) == 0 {
			break
		}
		for _, one := range page {
			got = append(got, one.ID)
		}
	}
	seen := map[string]bool{}
	for _, id := range got {
		seen[id] = true
	}
	b.is("listed", len(got), len(want))
	b.is("different", len(seen), len(want))
	others, err := b.List(b.t.Context(), "another key", "", 10)
	b.must(err)
	b.is("of another", len(others), 0)
	_, err = b.List(b.t.Context(), b.t.Name(), "no id", 10)
	b.is("from no place", errors.Is(err, batch.ErrBadCursor), true)
}

func itemsInPages(b *bench) {
	urls := make([]string, 350)
	for i := range urls {
		urls[i] = fmt.Sprint("https://a.example/", i)
	}
	id := b.create(urls...)
	for _, row := range b.claim(id, 350) {
		if row%3 == 0 {
			b.succeed(id, row)
		}
	}
	reader, err := b.Read(b.t.Context(), id)
	b.must(err)
	var got []int
	for from := 0; from >= 0; {
		items, next, err := reader.Next(b.t.Context(), from, 7, batch.Succeeded, true)
		b.must(err)
		for _, item := range items {
			got = append(got, item.Index)
			b.is(item.Index, string(item.Result), fmt.Sprintf(`{"row":%d}`, item.Index))
		}
		from = next
	}
	b.is("succeeded", len(got), 117)
	for i, index := range got {
		b.is("order", index, 3*i)
	}
}

func becomesInactive(b *bench) {
	id := b.create("a")
	find := func() (found *batch.ActiveBatch) {
		active, err := b.ListActive(b.t.Context())
		b.must(err)
		for _, one := range active {
			if one.ID == id {
				found = &one
			}
		}
		return found
	}
	seen := find()
	b.is("active", []any{seen.Owner, seen.Waiting, seen.Running, seen.Ended || seen.Missing}, []any{b.t.Name(), 1, 0, false})
	b.claim(id, 1)
	b.succeed(id, 0)
	b.is("ended", find().Ended, true)
	b.must(b.RemoveActive(b.t.Context(), *find()))
	if find() == nil {
		b.t.Fatal("the batch was removed at once, while the caller may retry it")
	}
	long := float64(time.Now().Add(-time.Hour).UnixMilli())
	b.must(b.conn.Client().ZIncrBy(b.t.Context(), "batches:open", long-float64(time.Now().UnixMilli()), id).Err())
	old := *find()
	b.must(b.MarkServed(b.t.Context(), id)) // the caller retries it
	b.must(b.RemoveActive(b.t.Context(), old))
	if find() == nil {
		b.t.Fatal("the batch was removed although it was served in between")
	}
	b.must(b.conn.Client().ZIncrBy(b.t.Context(), "batches:open", long-float64(time.Now().UnixMilli()), id).Err())
	b.must(b.RemoveActive(b.t.Context(), *find()))
	if find() != nil {
		b.t.Error("the batch is still active")
	}
}
