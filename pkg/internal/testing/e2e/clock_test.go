package e2e

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ushuru/pkg/cli/clitest"
	"ushuru/pkg/redisx/redistest"
)

var faultClock = flag.Bool("fault.clock", false,
	"build the program with a clock that can be wrong, for TestFaults: it takes minutes")

// clockOffset is added to package time: the wall clock of a process is wrong by the
// seconds in CLOCK_OFFSET_SECONDS. The monotonic clock is not.
const clockOffset = `package time

import "syscall"

var clockOffset = func() (seconds int64) {
	text, _ := syscall.Getenv("CLOCK_OFFSET_SECONDS")
	sign := int64(1)
	for i := range len(text) {
		if text[i] == '-' {
			sign = -1
		} else {
			seconds = 10*seconds + int64(text[i]-'0')
		}
	}
	return sign * seconds
}()
`

// clockOf is the case of a host, with a worker and an API, whose clock is wrong; the
// other worker has a good one.
func clockOf(seconds int) func(t *testing.T) (string, func(*testing.T, *faultRun)) {
	return func(t *testing.T) (string, func(*testing.T, *faultRun)) {
		t.Helper()
		program, env := buildWithClock(t), []string{"CLOCK_OFFSET_SECONDS=" + strconv.Itoa(seconds)}
		return redistest.Start(t).URL, func(t *testing.T, f *faultRun) {
			_, err := clitest.StartProgram(t, program, env, "worker started", "worker", "--allow-loopback",
				"--redis-url", f.url, "--authority-url", f.authority.URL, "--authority-rate", "0", "--fetch-rate", "0")
			must(t, err)
			f.stops[0]()
			api, err := clitest.StartProgram(t, program, env, "API listening", "api", "--allow-loopback",
				"--redis-url", f.url, "--listen", "127.0.0.1:0")
			must(t, err)
			f.base = "http://" + api.Started.Address
			own := newLots(t, 20, 3)
			for _, listing := range own.urls[:10] {
				if problem := f.call(listing); problem != "" {
					t.Error(problem)
				}
			}
		}
	}
}

// buildWithClock builds the program with the clock, and returns its path.
func buildWithClock(t *testing.T) string {
	t.Helper()
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	must(t, err)
	dir, source := t.TempDir(), filepath.Join(strings.TrimSpace(string(root)), "src", "time")
	code, err := os.ReadFile(filepath.Join(source, "time.go"))
	must(t, err)
	const now = "sec, nsec, mono := runtimeNow()\n\tif mono == 0 {"
	if strings.Count(string(code), now) != 1 {
		t.Fatal("package time of this Go version is not known: change the line that this test replaces")
	}
	changed := strings.Replace(string(code), now, strings.Replace(now, "\n", "\n\tsec += clockOffset\n", 1), 1)
	files := map[string]string{}
	for name, text := range map[string]string{"time.go": changed, "clockoffset.go": clockOffset} {
		files[filepath.Join(source, name)] = filepath.Join(dir, name)
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	overlay, err := json.Marshal(map[string]any{"Replace": files})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600))
	program := filepath.Join(dir, "ushuru")
	build := exec.CommandContext(t.Context(), "go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", program, "ushuru")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}
