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
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil { //nolint:gosec // the test names the file
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

// Section compares the text between two lines of a file with what the code gives. With
// -update it writes the section.
func Section(t testing.TB, path, begin, end, got string) {
	t.Helper()
	text, err := os.ReadFile(path) //nolint:gosec // the test names the file
	if err != nil {
		t.Fatal(err)
	}
	before, rest, hasBegin := strings.Cut(string(text), begin)
	_, after, hasEnd := strings.Cut(rest, end)
	if !hasBegin || !hasEnd {
		t.Fatalf("%s lacks the marks %q and %q", path, begin, end)
	}
	Check(t, path, before+begin+got+end+after)
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
