package deploy

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ushuru/pkg/keys"
	"ushuru/pkg/redisx"
	"ushuru/pkg/testenv"
)

// startWithAOF runs redis-server with the persistence of the compose file over a folder.
// stop ends it without saving, as a crash would.
func startWithAOF(t *testing.T, folder string) (conn *redisx.Conn, stop func()) {
	t.Helper()
	sockets, err := os.MkdirTemp("", "ushuru-restore") //nolint:usetesting // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(sockets) })
	socket := filepath.Join(sockets, "redis")
	server := exec.Command(testenv.Binary(t, "redis-server"), "--port", "0", "--unixsocket", socket, "--dir", folder,
		"--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "noeviction")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	stop = func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	}
	t.Cleanup(stop)
	testenv.Await(t, "redis-server", func() (any, bool) {
		conn, err = redisx.Open(t.Context(), redisx.Options{URL: "redis-socket://" + socket})
		return err, err == nil
	})
	t.Cleanup(func() { _ = conn.Close() })
	return conn, stop
}

// A copy of Redis is restored into a server with AOF, with its API keys; put there as it
// is, it would be ignored.
func TestACopyIsRestored(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	testenv.Binary(t, "redis-cli")
	before, stop := startWithAOF(t, t.TempDir())
	key, _, err := keys.NewStore(before.Client()).Create(t.Context(), "drill")
	if err != nil {
		t.Fatal(err)
	}
	if err := before.Client().Save(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	folder, err := before.Client().ConfigGet(t.Context(), "dir").Result()
	if err != nil {
		t.Fatal(err)
	}
	dump := filepath.Join(folder["dir"], "dump.rdb")
	stop()

	naive := t.TempDir()
	copied, err := os.ReadFile(dump)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(naive, "dump.rdb"), copied, 0o600); err != nil {
		t.Fatal(err)
	}
	wrong, stop := startWithAOF(t, naive)
	if n := wrong.Client().DBSize(t.Context()).Val(); n != 0 {
		t.Errorf("a copy beside an AOF is read by now (%d keys): the script is not needed", n)
	}
	stop()

	restored := filepath.Join(t.TempDir(), "data")
	restore := func() ([]byte, error) {
		command := exec.CommandContext(t.Context(), testenv.Binary(t, "sh"), "redis/restore", "-", restored)
		command.Stdin = bytes.NewReader(copied) // as docker compose hands it to its container
		return command.CombinedOutput()
	}
	if out, err := restore(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := restore(); err == nil || !strings.Contains(string(out), "is not empty") {
		t.Errorf("over existing data: %v\n%s", err, out)
	}
	after, stop := startWithAOF(t, restored)
	if _, err := keys.NewStore(after.Client()).Verify(t.Context(), key); err != nil {
		t.Errorf("the API key after the restore: %v", err)
	}
	stop()
}
