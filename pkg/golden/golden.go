// Package golden compares the output of a test with a file that a person has
// reviewed.
package golden

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files again; review what git says has changed")

// Check fails a test whose text differs from that of a file. With -update it writes
// the file.
func Check(t testing.TB, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path) //nolint:gosec // the test names the file
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		gotLine, wantLine := difference(got, string(want))
		t.Errorf("%s differs; -update writes it again. First:\n  %s\nand in the file:\n  %s", path, gotLine, wantLine)
	}
}

// difference returns the first lines of two texts that are not the same.
func difference(got, want string) (gotLine, wantLine string) {
	for got != "" || want != "" {
		gotLine, got, _ = strings.Cut(got, "\n")
		wantLine, want, _ = strings.Cut(want, "\n")
		if gotLine != wantLine {
			break
		}
	}
	return gotLine, wantLine
}
