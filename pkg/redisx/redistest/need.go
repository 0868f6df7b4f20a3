// Package redistest starts real Redis servers for tests: one alone, a set
// under Sentinel, a Cluster, or one behind a line that can be cut. Every
// server listens on a port of its own and dies with the test, or at the latest
// with the process of the tests.
package redistest

import (
	"os"
	"os/exec"
	"testing"
)

// NeedBinary returns the path of the first of the named programs that is
// installed. When none is, it skips the test, or, with USHURU_TEST_REAL=1,
// fails it: where everything is said to be installed, nothing is skipped.
func NeedBinary(t testing.TB, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("USHURU_TEST_REAL") == "1" {
		t.Fatalf("USHURU_TEST_REAL=1 but none of these is installed: %q", names)
	}
	t.Skipf("none of these is installed: %q", names)
	return ""
}

func needRedis(t testing.TB) string {
	t.Helper()
	return NeedBinary(t, "redis-server", "valkey-server")
}
