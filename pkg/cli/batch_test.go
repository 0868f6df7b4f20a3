package cli

import (
	"bytes"
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ushuru/pkg/redisx"
	"ushuru/tasks"
)

// A batch that was stopped is picked up, not handed in again.
func TestBatchCommandGoesOnWhereItWasStopped(t *testing.T) {
	redis, err := redisx.Open(t.Context(), redisx.Options{AllowEmbedded: true})
	must(t, err)
	t.Cleanup(func() { _ = redis.Close() })
	s := newStack(t, redis)
	dir := t.TempDir()
	table, out := filepath.Join(dir, "lots.csv"), filepath.Join(dir, "results.csv")
	must(t, os.WriteFile(table, []byte("reference,url\nA,"+s.car(0)+"\nB,"+s.site+"/gone\nC,"+s.car(0)+"?utm_source=x\nD,no address\n"), 0o600))
	ask := func(ctx context.Context, more ...string) (int, string) {
		var said bytes.Buffer
		args := append([]string{"batch", table, "--out", out, "--url", s.base, "--key", s.key}, more...)
		return Main(ctx, args, Streams{nil, &said, &said}), said.String()
	}
	if status, said := ask(t.Context()); status != exitFailure || !strings.Contains(said, "1 of 4 rows") {
		t.Fatalf("a bad row: status %d, %s", status, said)
	}
	stopped, stop := context.WithCancel(t.Context())
	watching := make(chan string, 1)
	go func() {
		defer stop()
		for stopped.Err() == nil {
			if data, err := os.ReadFile(out + ".batch"); err == nil && strings.Contains(string(data), `"id":"0`) {
				watching <- string(data)
				return
			}
		}
	}()
	if status, said := ask(stopped, "--skip"); status != exitFailure || !strings.Contains(said, "continues on the server") {
		t.Fatalf("stopped: status %d, %s", status, said)
	}
	note := <-watching
	s.work(tasks.RoleAny, tasks.RoleAuthority)
	status, said := ask(t.Context(), "--skip")
	if status != exitOK || !strings.Contains(said, "2 succeeded, 1 failed, 1 rejected") {
		t.Fatalf("picked up: status %d, %s", status, said)
	}
	data, err := os.ReadFile(out)
	must(t, err)
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil || len(rows) != 5 || rows[1][3] != "succeeded" || rows[2][4] != "listing_gone" || rows[4][4] != "url_invalid" {
		t.Fatalf("%q, %v", rows, err)
	}
	if found, err := redis.Client().Keys(t.Context(), "batch:{*}").Result(); err != nil || len(found) != 1 {
		t.Errorf("%d batches: %v, %v; noted %s", len(found), found, err, note)
	}
	if _, err := os.Stat(out + ".batch"); !os.IsNotExist(err) {
		t.Errorf("the note is still there: %v", err)
	}
}
