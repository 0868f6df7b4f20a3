package keys_test

import (
	"context"
	"fmt"

	"ushuru/pkg/keys"
	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
)

// A key is created, limited, verified by every request, and revoked at once.
func ExampleStore() {
	ctx := context.Background()
	conn, err := redisx.Open(ctx, redisx.Options{AllowEmbedded: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()
	store := keys.NewStore(conn.Client())

	plain, key, err := store.Create(ctx, "Dealer in Dar es Salaam")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(store.Limit(ctx, key.ID, pace.Limits{PerMinute: 60}))
	verified, err := store.Verify(ctx, plain)
	fmt.Println(verified.Name, verified.Limits.PerMinute, err)
	fmt.Println(store.Revoke(ctx, key.ID))
	_, err = store.Verify(ctx, plain)
	fmt.Println(err)
	// Output:
	// <nil>
	// Dealer in Dar es Salaam 60 <nil>
	// <nil>
	// keys: invalid key
}
