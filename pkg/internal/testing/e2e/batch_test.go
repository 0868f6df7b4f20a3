package e2e

import (
	"bytes"
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ushuru/pkg/cli"
	"ushuru/pkg/cli/console"
	"ushuru/pkg/redisx/redistest"
	"ushuru/tasks"
)

// The command resumes a batch that was stopped, and does not submit it again.
func TestBatchCommandResumes(t *testing.T) {
	t.Parallel()
	redis := redistest.Embedded(t)
	s := newStack(t, redis)
	dir := t.TempDir()
	table, out := filepath.Join(dir, "lots.csv"), filepath.Join(dir, "results.csv")
	must(t, os.WriteFile(table, []byte("reference,url\nA,"+s.car(0)+"\nB,"+s.site+"/gone\nC,"+s.car(0)+"?utm_source=x\nD,no address\n"), 0o600))
	execute := func(ctx context.Context, more ...string) (int, string) {
		var printed bytes.Buffer
		args := append([]string{"batch", table, "--out", out, "--url", s.base, "--key", s.key}, more...)
		return cli.Main(ctx, args, cli.Streams{Out: &printed, Err: &printed}), printed.String()
	}
	if status, printed := execute(t.Context()); status != console.ExitRefused || !strings.Contains(printed, "1 of 4 rows") ||
		!strings.Contains(printed, "row 5: D: no address") {
		t.Fatalf("a bad row: status %d, %s", status, printed)
	}
	if _, err := os.Stat(out + ".batch"); err == nil {
		t.Error("a refused batch has left its file")
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
	if status, printed := execute(stopped, "--skip"); status != console.ExitFailure || !strings.Contains(printed, "continues on the server") {
		t.Fatalf("stopped: status %d, %s", status, printed)
	}
	saved := <-watching
	s.work(tasks.RoleAny, tasks.RoleAuthority)
	status, printed := execute(t.Context(), "--skip")
	if status != console.ExitRows || !strings.Contains(printed, "2 succeeded, 1 failed, 1 rejected") {
		t.Fatalf("resumed: status %d, %s", status, printed)
	}
	data, err := os.ReadFile(out)
	must(t, err)
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil || len(rows) != 5 || rows[1][3] != "succeeded" || rows[2][4] != "listing_gone" || rows[4][4] != "url_invalid" {
		t.Fatalf("%q, %v", rows, err)
	}
	if found, err := redis.Client().Keys(t.Context(), "batch:{*}").Result(); err != nil || len(found) != 1 {
		t.Errorf("%d batches: %v, %v; saved %s", len(found), found, err, saved)
	}
	if _, err := os.Stat(out + ".batch"); !os.IsNotExist(err) {
		t.Errorf("the saved batch is still there: %v", err)
	}
}
