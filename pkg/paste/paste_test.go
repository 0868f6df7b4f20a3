package paste_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/paste"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
)

func TestAPageIsKeptOnceAndForAWhile(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		store := paste.NewStore(conn.Client())
		page := strings.Repeat("<p>カローラ</p>", 10_000)
		hash := paste.Hash(page)
		for range 2 {
			if err := store.Put(t.Context(), hash, page); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := store.Get(t.Context(), hash); err != nil || string(got) != page {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		key := "page:{" + hash + "}"
		if size := conn.Client().StrLen(t.Context(), key).Val(); size == 0 || size > int64(len(page))/8 {
			t.Errorf("%d bytes are kept of %d", size, len(page))
		}
		if left := conn.Client().TTL(t.Context(), key).Val(); left < 29*time.Minute || left > 30*time.Minute {
			t.Errorf("kept for %v", left)
		}
		if _, err := store.Get(t.Context(), "0123"); !errors.Is(err, paste.ErrGone) {
			t.Errorf("no such page: %v", err)
		}
	})
}

func TestTheSizeIsLimited(t *testing.T) {
	conn, err := redisx.Open(t.Context(), redisx.Options{AllowEmbedded: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	store := paste.NewStore(conn.Client())
	page := strings.Repeat("x", paste.MaxBytes)
	hash := paste.Hash(page)
	if err := store.Put(t.Context(), hash, page); err != nil {
		t.Fatal(err)
	}
	if got, err := store.Get(t.Context(), hash); err != nil || len(got) != paste.MaxBytes {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if err := store.Put(t.Context(), hash, page+"x"); !errors.Is(err, paste.ErrTooLarge) {
		t.Errorf("one byte more: %v", err)
	}
}
