package webhook_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/webhook"
	"ushuru/pkg/webhook/signature"
)

func TestEndpointsOutliveAnEmptyRedis(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		store, ctx := webhook.NewStore(conn.Client(), nil), t.Context()
		var backup bytes.Buffer
		ids := []string{webhook.NewID(), webhook.NewID()}
		var secret string
		for i, owner := range []string{"key1", "key2"} {
			_, own, err := store.Add(ctx, owner, ids[i], "https://hooks.example/"+owner, []string{webhook.JobCompleted})
			if err != nil {
				t.Fatal(err)
			}
			secret = own
		}
		if n, err := store.Export(ctx, []string{"key1", "key2", "none"}, &backup); err != nil || n != 2 {
			t.Fatalf("exported %d, %v", n, err)
		}
		if text := backup.String(); !strings.HasPrefix(text, `{"notice":"SECRET`) || !strings.Contains(text, secret) {
			t.Errorf("%s", text)
		}
		conn.Client().Del(ctx, "webhook:{key1}") // as after FLUSHALL
		conn.Client().Del(ctx, "webhook:{key2}")
		has := func(owner string) bool { return owner == "key2" }
		for range 2 { // it may run twice
			present, keyless, err := store.Import(ctx, bytes.NewReader(backup.Bytes()), has)
			if err != nil || present != 1 || keyless != 1 {
				t.Fatalf("%d, %d, %v", present, keyless, err)
			}
		}
		if all, err := store.List(ctx, "key1"); err != nil || len(all) != 0 {
			t.Errorf("of a key that is gone: %v, %v", all, err)
		}
		e, again, err := store.Add(ctx, "key2", ids[1], "https://other.example", nil) // returns the one that exists
		if err != nil || e.URL != "https://hooks.example/key2" || again != secret ||
			!slices.Equal(e.Events, []string{webhook.JobCompleted}) {
			t.Errorf("%+v, %v", e, err)
		}
	})
}

func TestOnlyEndpointsThatCanSignAreImported(t *testing.T) {
	conn := redistest.Embedded(t)
	store := webhook.NewStore(conn.Client(), nil)
	good := `{"value":"` + signature.NewSecret() + `"}`
	for _, line := range []string{
		`{`, `{}`, `{"owner":"k","id":"w","url":"https://a.example"}`,
		`{"owner":"k","id":"w","url":"ftp://a.example","secrets":[` + good + `]}`,
		`{"owner":"","id":"w","url":"https://a.example","secrets":[` + good + `]}`,
		`{"owner":"k","id":"w","url":"https://a.example","secrets":[{"value":"x"}]}`,
	} {
		if _, _, err := store.Import(t.Context(), strings.NewReader(line+"\n"), func(string) bool { return true }); err == nil {
			t.Errorf("imported: %s", line)
		}
	}
}
