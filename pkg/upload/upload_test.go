package upload_test

import (
	"bytes"
	"errors"
	"testing"

	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/upload"
)

func TestStore(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		store := upload.NewStore(conn.Client())
		file := []byte("\xff\xd8\xff picture")
		hash := upload.Hash(file)
		if _, err := store.Get(t.Context(), hash); !errors.Is(err, upload.ErrGone) {
			t.Fatalf("before: %v", err)
		}
		if err := store.Put(t.Context(), hash, file); err != nil {
			t.Fatal(err)
		}
		if got, err := store.Get(t.Context(), hash); err != nil || !bytes.Equal(got, file) {
			t.Fatalf("%q, %v", got, err)
		}
		if life := conn.Client().TTL(t.Context(), "upload:{"+hash+"}").Val(); life <= 0 {
			t.Fatalf("a file is kept for %v", life)
		}
		if err := store.Drop(t.Context(), hash); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Get(t.Context(), hash); !errors.Is(err, upload.ErrGone) {
			t.Fatalf("after: %v", err)
		}
		if err := store.Put(t.Context(), hash, make([]byte, upload.MaxBytes+1)); !errors.Is(err, upload.ErrTooLarge) {
			t.Fatalf("too large: %v", err)
		}
	})
}
