// Package golden compares what a test got with a file that a person has read.
package golden

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what is compared with files anew; read what git says has changed")

// Check fails a test whose text is not that of a file. With -update it writes
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
		is, should := difference(got, string(want))
		t.Errorf("%s differs; -update writes it anew. First:\n  %s\nand in the file:\n  %s", path, is, should)
	}
}

// difference returns the first lines of two texts that are not the same.
func difference(got, want string) (is, should string) {
	for got != "" || want != "" {
		is, got, _ = strings.Cut(got, "\n")
		should, want, _ = strings.Cut(want, "\n")
		if is != should {
			break
		}
	}
	return is, should
}
