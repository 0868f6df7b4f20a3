// Package testenv finds what a test needs on the machine: programs, fonts, the
// reference data beside the repository. A test whose need is missing, or that is of
// another tier, is skipped; with USHURU_TEST_REAL=1, which declares that everything is
// installed and runs, it fails.
package testenv

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Missing ends a test because something is missing.
func Missing(t testing.TB, what ...any) {
	t.Helper()
	if os.Getenv("USHURU_TEST_REAL") == "1" {
		t.Fatalf("USHURU_TEST_REAL=1 but missing: %v", what)
	}
	t.Skipf("missing: %v", what)
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

// Browser returns the path of Chromium. With USHURU_TEST_BROWSER=none there is none: the race
// detector makes the tests of pages in a browser long, and finds in the tests of their handlers
// what it would find in them.
func Browser(t testing.TB) string {
	t.Helper()
	if os.Getenv("USHURU_TEST_BROWSER") == "none" {
		Missing(t, "a browser: USHURU_TEST_BROWSER=none")
	}
	return Binary(t, "chromium", "chromium-browser", "google-chrome")
}

// Reference returns the path of a file or folder of the reference data: real
// pages, worked outputs, lists. They belong to third parties and are not part of
// the repository, but in ../shared/data beside it. With
// USHURU_TEST_REFERENCE=none their tests are skipped, whatever USHURU_TEST_REAL
// is.
func Reference(t testing.TB, elements ...string) string {
	t.Helper()
	if os.Getenv("USHURU_TEST_REFERENCE") == "none" {
		t.Skip("USHURU_TEST_REFERENCE=none")
	}
	path := InRepository(t, append([]string{"..", "shared", "data"}, elements...)...)
	if _, err := os.Stat(path); err != nil {
		Missing(t, err)
	}
	return path
}

// InRepository returns the path of a file or folder of the repository.
func InRepository(t testing.TB, elements ...string) string {
	t.Helper()
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(append([]string{root}, elements...)...)
}

// Root returns the folder of the repository: that of go.mod, at or above that of the test.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("testenv: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("testenv: no go.mod above the test")
		}
		dir = up
	}
}

// Long ends a test of the long tier, unless USHURU_TEST=long: attacks, fault tables,
// failovers, upgrades, whole browser suites. `make test-long` and CI set it.
func Long(t testing.TB) {
	t.Helper()
	if !IsLong() {
		Missing(t, "USHURU_TEST=long, which runs the tests of the long tier")
	}
}

// FewChecks makes rapid draw a fifth of its cases in the short tier; -rapid.checks overrides
// it. A test's file calls it as a variable's value, before the flags are parsed.
func FewChecks() (is bool) {
	if IsLong() {
		return false
	}
	return flag.Set("rapid.checks", "20") == nil
}

// IsLong reports whether the long tier runs, for tests that have more cases in it.
func IsLong() bool { return os.Getenv("USHURU_TEST") == "long" }

// Pick returns the first in the long tier and the second in the short one: how many cases
// a test has, how long an outage is.
func Pick[T any](long, short T) T {
	if IsLong() {
		return long
	}
	return short
}
