package batch_test

import (
	"fmt"
	"testing"

	"ushuru/pkg/batch"
	"ushuru/pkg/redisx/redistest"
)

// TestRowsOfManyChunksComeBackWholeAndInOrder, from more chunks than a reader remembers. In
// Redis a chunk has a hundred rows, also for a process of another version.
func TestRowsOfManyChunksComeBackWholeAndInOrder(t *testing.T) {
	t.Parallel()
	conn := redistest.Embedded(t)
	b := &bench{t: t, conn: conn, Store: batch.NewStore(conn.Client())}
	const count = 601
	url := func(i int) string { return fmt.Sprint("https://a.example/", i) }
	urls := make([]string, count)
	for i := range urls {
		urls[i] = url(i)
	}
	id := b.create(urls...)
	chunks, err := conn.Client().HLen(t.Context(), "batch:{"+id+"}:rows").Result()
	b.must(err)
	b.is("chunks", chunks, 7)
	reader, err := b.Read(t.Context(), id)
	b.must(err)
	is := func(item batch.Item, i int) {
		t.Helper()
		b.is("row", []any{item.Index, item.Number, item.Reference, item.URL}, []any{i, i + 1, fmt.Sprint("ref ", i), url(i)})
	}
	read := 0
	for from := 0; from >= 0; {
		items, next, err := reader.Next(t.Context(), from, 70, "", false)
		b.must(err)
		for _, item := range items {
			is(item, read)
			read++
		}
		from = next
	}
	b.is("rows", read, count)
	indexes := []int{600, 0, 99, 100, 599, 500, 199, 200, 399, 300, 1}
	items, err := reader.Items(t.Context(), indexes, true)
	b.must(err)
	b.is("items", len(items), len(indexes))
	for n, i := range indexes {
		is(items[n], i)
	}
	if _, err := reader.Items(t.Context(), []int{count}, true); err == nil {
		t.Error("a row behind the last was read")
	}
}
