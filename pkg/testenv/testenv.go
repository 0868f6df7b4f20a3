// Package testenv says what a test needs of the machine it runs on: programs,
// fonts, the reference data beside the repository. Where something is not
// there the test is skipped; with USHURU_TEST_REAL=1, which says that all of it
// is there, the test fails instead.
package testenv

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Missing ends a test because something is not there.
func Missing(t testing.TB, what ...any) {
	t.Helper()
	if os.Getenv("USHURU_TEST_REAL") == "1" {
		t.Fatalf("USHURU_TEST_REAL=1 but not here: %v", what)
	}
	t.Skipf("not here: %v", what)
}

// Binary returns the path of the first of the named programs that is
// installed.
func Binary(t testing.TB, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	Missing(t, "any of the programs", names)
	return ""
}

// Reference returns the path of a file or folder of the reference data: real
// pages, worked outputs, lists. They belong to third parties and are no part of
// the repository; they lie in ../shared/data beside it. A machine that has
// none says so with USHURU_TEST_REFERENCE=none, and then USHURU_TEST_REAL=1
// does not ask for them.
func Reference(t testing.TB, elements ...string) string {
	t.Helper()
	if os.Getenv("USHURU_TEST_REFERENCE") == "none" {
		t.Skip("USHURU_TEST_REFERENCE=none")
	}
	path := filepath.Join(append([]string{repository(t), "..", "shared", "data"}, elements...)...)
	if _, err := os.Stat(path); err != nil {
		Missing(t, err)
	}
	return path
}

// repository is the folder of go.mod, at or above that of the test.
func repository(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = up
	}
}
