package keys_test

import (
	"bytes"
	"strings"
	"testing"

	"ushuru/pkg/keys"
	"ushuru/pkg/quota"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
)

func TestKeysOutliveAnEmptyRedis(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		store, ctx := keys.NewStore(conn.Client()), t.Context()
		valid, key := create(t, store, "valid")
		if err := store.Limit(ctx, key.ID, quota.Limits{PerMinute: 7}); err != nil {
			t.Fatal(err)
		}
		revoked, gone := create(t, store, "revoked")
		if err := store.Revoke(ctx, gone.ID); err != nil {
			t.Fatal(err)
		}
		var backup bytes.Buffer
		if n, err := store.Export(ctx, &backup); err != nil || n != 2 {
			t.Fatalf("exported %d, %v", n, err)
		}
		if text := backup.String(); strings.Contains(text, valid) || strings.Contains(text, revoked) {
			t.Error("the export holds a key")
		}
		for _, hash := range conn.Client().HVals(ctx, "keys:index").Val() { // as after FLUSHALL
			conn.Client().Del(ctx, "key:"+hash)
		}
		conn.Client().Del(ctx, "keys:index")
		if _, err := store.Verify(ctx, valid); err == nil {
			t.Fatal("a key outlived its record")
		}
		for _, want := range []int{2, 0} { // it may run twice
			if n, err := store.Import(ctx, bytes.NewReader(backup.Bytes())); err != nil || n != want {
				t.Errorf("imported %d, %v; want %d", n, err, want)
			}
		}
		if got, err := store.Verify(ctx, valid); err != nil || got.ID != key.ID || got.Limits.PerMinute != 7 {
			t.Errorf("%+v, %v", got, err)
		}
		if _, err := store.Verify(ctx, revoked); err == nil {
			t.Error("a revoked key is valid again")
		}
	})
}

func TestImportBringsNoRevokedKeyBack(t *testing.T) {
	store, _ := newStore(t)
	plain, key := create(t, store, "x")
	var before bytes.Buffer
	if _, err := store.Export(t.Context(), &before); err != nil {
		t.Fatal(err)
	}
	if err := store.Revoke(t.Context(), key.ID); err != nil {
		t.Fatal(err)
	}
	var after bytes.Buffer
	if _, err := store.Export(t.Context(), &after); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Import(t.Context(), &before); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Verify(t.Context(), plain); err == nil {
		t.Error("an older export brought a revoked key back")
	}
	other, _ := newStore(t) // where the key is still valid
	for _, backup := range []string{strings.ReplaceAll(after.String(), `"revoked"`, `"x"`), after.String()} {
		if _, err := other.Import(t.Context(), strings.NewReader(backup)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := other.Verify(t.Context(), plain); err == nil {
		t.Error("a revocation was not imported")
	}
}

func TestImportRefusesWhatIsNoExport(t *testing.T) {
	store, _ := newStore(t)
	for _, text := range []string{"x", `{"id":"a"}`, `{"sha256":"../","id":"a"}`, "{}"} {
		if n, err := store.Import(t.Context(), strings.NewReader(text)); err == nil || n != 0 {
			t.Errorf("%s: imported %d", text, n)
		}
	}
}
