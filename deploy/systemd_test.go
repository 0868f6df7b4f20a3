package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ushuru/pkg/testenv"
)

// maxExposure is the most that "systemd-analyze security" may say of a unit, in tenths: 0
// is the best, 100 the worst, and up to 20 it calls "OK".
const maxExposure = "15"

// systemd accepts the units without a word, and finds them hardened.
func TestUnitsAreValidAndHardened(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	analyze := testenv.Binary(t, "systemd-analyze")
	units, err := filepath.Glob(filepath.Join("systemd", "*.service"))
	if err != nil || len(units) != 2 {
		t.Fatalf("%v, %v", units, err)
	}
	// The programs that the units start are not installed here.
	ushuru := testenv.Binary(t, "true")
	for _, unit := range units {
		name := strings.Replace(filepath.Base(unit), "@.", "@any.", 1)
		text := read(t, unit)
		if !strings.Contains(text, "ExecStart=/usr/bin/ushuru ") || !strings.Contains(text, "Type=notify") || !strings.Contains(text, "WatchdogSec=") {
			t.Errorf("%s does not start ushuru, or does not listen to it", unit)
		}
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(text, "/usr/bin/ushuru", ushuru)), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", "--recursive-errors=no", file).CombinedOutput()
		if err != nil || strings.Contains(string(out), name) {
			t.Errorf("verify %s: %v\n%s", unit, err, out)
		}
		out, err = exec.CommandContext(t.Context(), analyze, "security", "--offline=true", "--threshold="+maxExposure, file).CombinedOutput()
		if err != nil {
			t.Errorf("security %s: %v\n%s", unit, err, out)
		}
	}
}

// The units can run what the process needs: they leave a way to the network, to systemd,
// and of the workers to the cache of the reader of PDF, which is compiled at run time.
func TestUnitsLeaveWhatTheProcessNeeds(t *testing.T) {
	t.Parallel()
	for file, want := range map[string][]string{
		"ushuru-api.service":     {"AF_INET AF_INET6 AF_UNIX", "TimeoutStopSec=60s"},
		"ushuru-worker@.service": {"AF_INET AF_INET6 AF_UNIX", "--roles %i", "CacheDirectory=", "SHEET_CACHE_DIR=", "/etc/ushuru/%i.env"},
	} {
		text := read(t, filepath.Join("systemd", file))
		for _, piece := range want {
			if !strings.Contains(text, piece) {
				t.Errorf("%s has no %s", file, piece)
			}
		}
		if file != "ushuru-api.service" && strings.Contains(text, "\nMemoryDenyWriteExecute=yes") {
			t.Errorf("%s: the reader of PDF could not be compiled", file)
		}
	}
}
