package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ushuru/pkg/ai/aitest"
	"ushuru/pkg/cli"
	"ushuru/pkg/cli/console"
)

// demoSheet is a SIMULATED sheet of the demo, which the simulated AI can read.
var demoSheet = filepath.Join("..", "..", "..", "listing", "listingtest", "sheets", "sm100002.jpg")

// readSheet runs the command with the simulated AI.
func readSheet(t *testing.T, in string, args ...string) (status int, out, errs string) {
	t.Helper()
	model := aitest.Start(t, aitest.Options{})
	var stdout, stderr bytes.Buffer
	args = append([]string{"sheet", "--ai-model", "m", "--ai-base-url", model.URL, "--ai-api-key", "k"}, args...)
	status = cli.Main(t.Context(), args, cli.Streams{In: strings.NewReader(in), Out: &stdout, Err: &stderr})
	return status, stdout.String(), stderr.String()
}

func TestASheetIsPrintedInBothLanguages(t *testing.T) {
	t.Parallel()
	for lang, words := range map[string][]string{
		"en": {"## 1. At a glance", "「R」", "96,120 km", "repair history", "DBA-KGC30"},
		"sw": {"## 1. Kwa muhtasari", "「R」", "km 96,120", "imewahi kukarabatiwa", "DBA-KGC30"},
	} {
		drawing := filepath.Join(t.TempDir(), "map.svg")
		status, out, errs := readSheet(t, "", "--lang", lang, "--map", drawing, demoSheet)
		for _, word := range words {
			if status != 0 || !strings.Contains(out, word) {
				t.Fatalf("%s: status %d, %q is missing in\n%s%s", lang, status, word, out, errs)
			}
		}
		if svg, err := os.ReadFile(drawing); err != nil || !bytes.HasPrefix(svg, []byte("<svg ")) || !bytes.Contains(svg, []byte(">XX<")) {
			t.Errorf("%s: %v, %s", lang, err, svg)
		}
	}
}

func TestASheetFromStandardInputAsJSON(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(demoSheet)
	if err != nil {
		t.Fatal(err)
	}
	status, out, errs := readSheet(t, string(data), "--json", "-")
	var report struct {
		Mileage struct {
			Value int `json:"value"`
		} `json:"mileage"`
	}
	if err := json.Unmarshal([]byte(out), &report); status != 0 || err != nil || report.Mileage.Value != 96120 {
		t.Errorf("status %d, %v, %s%s", status, err, out, errs)
	}
}

func TestWhatIsNoSheetHasACode(t *testing.T) {
	t.Parallel()
	for in, code := range map[string]string{"": "sheet_type_unsupported", "PK\x03\x04 a zip": "sheet_type_unsupported"} {
		if status, out, errs := readSheet(t, in, "-"); status != console.ExitRefused || out != "" || !strings.Contains(errs, code) {
			t.Errorf("%q: status %d, %s%s", in, status, out, errs)
		}
	}
	if status, _, errs := readSheet(t, "", "https://example.org/sheet.jpg"); status != console.ExitRefused || !strings.Contains(errs, "sheet_host_unsupported") {
		t.Errorf("another host: status %d, %s", status, errs)
	}
}

func TestWithoutAnAINoSheetIsRead(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	if status := cli.Main(t.Context(), []string{"sheet", demoSheet}, cli.Streams{Out: &stdout, Err: &stderr}); status != console.ExitFailure ||
		!strings.Contains(stderr.String(), "AI_MODEL") {
		t.Errorf("status %d: %s", status, stderr.String())
	}
}
