package batch_test

import (
	"context"
	"encoding/json"
	"fmt"

	"ushuru/pkg/batch"
	"ushuru/pkg/redisx"
)

// A batch of three listings, one of them twice: each is claimed once, and the
// outcome of the first row is that of its duplicate too.
func ExampleStore() {
	ctx := context.Background()
	conn, err := redisx.Open(ctx, redisx.Options{AllowEmbedded: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()
	store := batch.NewStore(conn.Client())

	created, err := store.Create(ctx, batch.New{Owner: "key1", Rows: []batch.Row{
		{Number: 1, URL: "https://www.example.com/car/1"},
		{Number: 2, URL: "https://www.example.com/car/2"},
		{Number: 3, URL: "https://www.example.com/car/1"},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	claimed, err := store.ClaimRows(ctx, created.ID, 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range claimed {
		ended, err := store.Succeed(ctx, created.ID, row.Index, json.RawMessage(`{}`))
		fmt.Println(row.Number, row.URL, ended.Last, err)
	}
	got, err := store.Get(ctx, created.ID)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(got.Rows, "rows,", got.Repeated, "repeated,", got.Counts[batch.Succeeded], "succeeded")
	// Output:
	// 1 https://www.example.com/car/1 false <nil>
	// 2 https://www.example.com/car/2 true <nil>
	// 3 rows, 1 repeated, 3 succeeded
}
