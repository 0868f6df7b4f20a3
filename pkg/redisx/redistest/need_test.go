package redistest_test

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"ushuru/pkg/redisx/redistest"
)

const noSuchProgram = "no-such-program-of-ushuru"

func TestNeedBinaryFindsTheFirstInstalled(t *testing.T) {
	if got := redistest.NeedBinary(t, noSuchProgram, "go"); !strings.HasSuffix(got, "go") {
		t.Errorf("path %q", got)
	}
}

// recorder is a test that keeps its verdict to itself.
type recorder struct {
	testing.TB

	verdict string
}

func (r *recorder) Helper()               {}
func (r *recorder) Skipf(string, ...any)  { r.end("skipped") }
func (r *recorder) Fatalf(string, ...any) { r.end("failed") }

func (r *recorder) end(verdict string) {
	r.verdict = verdict
	runtime.Goexit()
}

func TestNeedBinarySkipsButFailsWhereAllIsSaidToBeInstalled(t *testing.T) {
	for env, want := range map[string]string{"": "skipped", "0": "skipped", "1": "failed"} {
		t.Setenv("USHURU_TEST_REAL", env)
		r := &recorder{TB: t}
		done := make(chan struct{})
		go func() {
			defer close(done)
			redistest.NeedBinary(r, noSuchProgram)
		}()
		if <-done; r.verdict != want {
			t.Errorf("USHURU_TEST_REAL=%q: %q, want %q", env, r.verdict, want)
		}
	}
}

// TestServersDieWithTheProcess runs a test binary that is killed while its
// servers run.
func TestServersDieWithTheProcess(t *testing.T) {
	redistest.NeedBinary(t, "redis-server", "valkey-server")
	if os.Getenv("REDISTEST_ORPHAN") == "1" {
		redistest.Each(t, dumpAndDie)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestServersDieWithTheProcess$/^cluster$")
	cmd.Env = append(os.Environ(), "REDISTEST_ORPHAN=1")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("the process was not killed: %s", out)
	}
	_, text, _ := strings.Cut(string(out), orphanMark)
	url, _, found := strings.Cut(text, "\n")
	if !found {
		t.Fatalf("no URL in %s", out)
	}
	awaitGone(t, url)
}
