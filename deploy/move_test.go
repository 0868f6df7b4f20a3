package deploy

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ushuru/pkg/keys"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
)

// runs has a command of docs/redis.md run.
func runs(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
}

// The copy of one server becomes the first node of a Cluster, with its API keys. TestMoves of
// pkg/cli does it with a service that runs, and moves slots to two more nodes.
func TestACopyBecomesACluster(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	testenv.Binary(t, "redis-cli")
	old := redistest.Start(t)
	before := redistest.Open(t, old.URL).Client()
	key, _, err := keys.NewStore(before).Create(t.Context(), "drill")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	dump, data := filepath.Join(dir, "move.rdb"), filepath.Join(dir, "data")
	host, port, _ := strings.Cut(old.Addr, ":")
	runs(t, "redis-cli", "-h", host, "-p", port, "CONFIG", "SET", "repl-diskless-sync-delay", "0", "min-replicas-to-write", "9")
	if err := before.Set(t.Context(), "late", "x", 0).Err(); err == nil || !strings.Contains(err.Error(), "NOREPLICAS") {
		t.Errorf("the old server takes writes that nothing copies: %v", err)
	}
	runs(t, "redis-cli", "-h", host, "-p", port, "--rdb", dump)
	runs(t, "sh", "redis/restore", dump, data)
	node := redistest.Start(t, redistest.Args("--cluster-enabled", "yes", "--appendonly", "yes", "--dir", data))
	runs(t, "sh", "-c", "echo yes | redis-cli --cluster fix "+node.Addr)
	after := redistest.Open(t, strings.Replace(node.URL, "redis://", "redis-cluster://", 1)).Client()
	if _, err := keys.NewStore(after).Verify(t.Context(), key); err != nil {
		t.Errorf("the API key in the Cluster: %v", err)
	}
	if _, _, err := keys.NewStore(after).Create(t.Context(), "after"); err != nil {
		t.Errorf("the Cluster takes no writes: %v", err)
	}
}

// A user of Redis has two passwords while processes are restarted, and then the new one only.
func TestPasswordsOfRedisAreReplaced(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	files := newEnv(t)
	socket := startRedis(t, files["redis.env"])
	operator := as(t, socket, "operator", value(t, files["redis.env"], "REDIS_OPERATOR_PASSWORD"))
	old := value(t, files["redis.env"], "REDIS_WORKER_PASSWORD")
	opens := func(password string) error {
		conn, err := redisx.Open(t.Context(), redisx.Options{URL: "redis-socket://worker:" + password + "@" + socket})
		if err == nil {
			err = conn.Close()
		}
		return err
	}
	change := func(rule string) {
		t.Helper()
		if err := operator.Client().Do(context.WithoutCancel(t.Context()), "ACL", "SETUSER", "worker", rule).Err(); err != nil {
			t.Fatal(err)
		}
	}
	running := as(t, socket, "worker", old)
	change(">another")
	if err := opens(old); err != nil {
		t.Errorf("the old password in the overlap: %v", err)
	}
	if err := opens("another"); err != nil {
		t.Errorf("the new password in the overlap: %v", err)
	}
	change("<" + old)
	if err := opens(old); err == nil || !strings.Contains(err.Error(), "WRONGPASS") {
		t.Errorf("the old password after it: %v", err)
	}
	if err := opens("another"); err != nil {
		t.Errorf("the new password after it: %v", err)
	}
	if err := running.Client().Get(t.Context(), "job:x").Err(); err != nil && strings.Contains(err.Error(), "NO") {
		t.Errorf("a connection that was open: %v", err)
	}
	if err := running.Client().Get(t.Context(), "page:secret").Err(); err == nil || !strings.Contains(err.Error(), "NOPERM") {
		t.Errorf("a new password brings new rights: %v", err)
	}
}
