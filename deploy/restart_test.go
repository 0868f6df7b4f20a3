package deploy

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"ushuru/pkg/client"
	"ushuru/pkg/keys"
	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/redisx"
	"ushuru/pkg/testenv"
)

// rowsOfRestart is how many listings the batch has that runs while Redis is restarted.
const rowsOfRestart = 60

// Redis as it is delivered, with its users, is stopped and killed under a batch that runs:
// every key, job and row is there again, and the batch ends.
func TestARestartOfTheDeliveredRedisLosesNothing(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	for _, signal := range []os.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			restart(t, signal)
		})
	}
}

func restart(t *testing.T, signal os.Signal) {
	t.Helper()
	files := newEnv(t)
	dir, err := os.MkdirTemp("", "ushuru-restart") //nolint:usetesting // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	server, socket := runRedis(t, dir, "redis", files["redis.env"])
	operator := as(t, socket, "operator", value(t, files["redis.env"], "REDIS_OPERATOR_PASSWORD"))
	s := startServices(t, users(t, socket, files), operator)
	caller, err := client.New(client.Options{URL: s.url, Key: s.key})
	if err != nil {
		t.Fatal(err)
	}
	canary := redisx.NewCanary(operator.Client())
	if loss, err := canary.Check(t.Context()); loss != nil || err != nil {
		t.Fatal(loss, err)
	}
	var table strings.Builder
	table.WriteString("url\n")
	for i := range rowsOfRestart {
		fmt.Fprintf(&table, "%s%s?restart=%d\n", s.site, listingtest.Cars()[i%8].Path(), i)
	}
	batch, err := caller.CreateBatchFromTable(t.Context(), client.BatchTable{Type: "text/csv", Data: []byte(table.String())}, "a table")
	if err != nil {
		t.Fatal(err)
	}
	testenv.AwaitTrue(t, "a third of the rows", func() bool {
		now, err := caller.Batch(t.Context(), batch.ID)
		return err == nil && now.Counts["succeeded"] >= rowsOfRestart/3
	})
	if err := server.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	_ = server.Wait()
	before := recordsIn(t, dir)
	runRedis(t, dir, "redis", files["redis.env"])
	testenv.AwaitTrue(t, "Redis answers", func() bool { return redisx.Ping(t.Context(), operator.Client()) == nil })
	after := map[string]bool{}
	for _, key := range operator.Client().Keys(t.Context(), "*").Val() {
		after[key] = true
	}
	if len(before) < rowsOfRestart {
		t.Errorf("only %d records before", len(before))
	}
	for key := range before {
		if !after[key] {
			t.Errorf("%s is lost", key)
		}
	}
	if loss, err := canary.Check(t.Context()); loss != nil || err != nil {
		t.Errorf("the canary says %v, %v", loss, err)
	}
	testenv.AwaitTrue(t, "the end of the batch", func() bool {
		now, err := caller.Batch(t.Context(), batch.ID)
		return err == nil && now.State == "completed"
	})
	ended, err := caller.Batch(t.Context(), batch.ID)
	if err != nil || ended.Counts["succeeded"] != rowsOfRestart {
		t.Errorf("the batch ended with %v, %v", ended.Counts, err)
	}
	if _, err := keys.NewStore(operator.Client()).Verify(t.Context(), s.key); err != nil {
		t.Error(err)
	}
}

// recordsIn returns the keys of jobs, batches and API keys that the append-only file of a
// server that has ended created and did not delete.
func recordsIn(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "appendonlydir", "*.incr.aof"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	found := map[string]bool{}
	for words := range commandsIn(read(t, files[0])) {
		switch command := strings.ToLower(words[0]); command {
		case "hset", "set", "hmset":
			for _, prefix := range []string{"job:", "batch:", "key:"} {
				if strings.HasPrefix(words[1], prefix) {
					found[words[1]] = true
				}
			}
		case "del", "unlink":
			for _, key := range words[1:] {
				delete(found, key)
			}
		}
	}
	return found
}

// commandsIn returns the commands of an append-only file, of which the last may be cut off.
func commandsIn(file string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		next := func() string {
			line, rest, _ := strings.Cut(file, "\r\n")
			file = rest
			return line
		}
		number := func(line string) int {
			n, _ := strconv.Atoi(strings.TrimLeft(line, "*$"))
			return n
		}
		for file != "" {
			line := next()
			if !strings.HasPrefix(line, "*") { // an annotation
				continue
			}
			var words []string
			for range number(line) {
				length := number(next())
				if length+len("\r\n") > len(file) {
					return
				}
				words = append(words, file[:length])
				file = file[length+len("\r\n"):]
			}
			if !yield(words) {
				return
			}
		}
	}
}

// A server with the default user of before is one that the service must not use, and the
// canary finds what it loses.
func TestADefaultUserWithAPartOfTheRightsIsFound(t *testing.T) {
	t.Parallel()
	files := newEnv(t)
	scripts, dir := t.TempDir(), t.TempDir()
	for _, name := range []string{"start", "users"} {
		text := strings.Replace(read(t, filepath.Join("redis", name)), "user default off resetpass ~* &* +@all",
			"user default on nopass resetkeys resetchannels -@all +ping", 1)
		if err := os.WriteFile(filepath.Join(scripts, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	server, socket := runRedis(t, dir, scripts, files["redis.env"])
	operator := as(t, socket, "operator", value(t, files["redis.env"], "REDIS_OPERATOR_PASSWORD"))
	if err := operator.CheckDefaultUser(t.Context()); err == nil || !strings.Contains(err.Error(), "user default off resetpass ~* &* +@all") {
		t.Errorf("the default user: %v", err)
	}
	ofProcess := redisx.NewCanary(operator.Client())
	for range 3 {
		if loss, err := ofProcess.Check(t.Context()); loss != nil || err != nil {
			t.Fatal(loss, err)
		}
	}
	_ = server.Process.Kill()
	_ = server.Wait()
	runRedis(t, dir, scripts, files["redis.env"])
	testenv.AwaitTrue(t, "Redis answers", func() bool { return redisx.Ping(t.Context(), operator.Client()) == nil })
	if loss, err := redisx.NewCanary(operator.Client()).Check(t.Context()); loss == nil || loss.Found != 0 || err != nil {
		t.Errorf("the canary of a new process says %v, %v", loss, err)
	}
	if loss, err := redisx.ReadLoss(t.Context(), operator.Client()); loss == nil || err != nil || loss.Expected != 3 {
		t.Errorf("the loss is %v, %v", loss, err)
	}
	if loss, err := ofProcess.Check(t.Context()); loss != nil || err != nil {
		t.Errorf("the canary finds the same loss again: %v, %v", loss, err)
	}
	if err := operator.Client().FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if loss, err := ofProcess.Check(t.Context()); loss == nil || err != nil {
		t.Errorf("the canary of an empty Redis says %v, %v", loss, err)
	}
}
