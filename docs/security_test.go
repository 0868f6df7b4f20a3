package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every control of SECURITY.md names tests that exist, and every attack is named.
func TestEveryControlHasATest(t *testing.T) {
	t.Parallel()
	tests := testNames(t)
	_, section, _ := strings.Cut(read(t, "SECURITY.md"), "\n## Controls\n")
	section, _, _ = strings.Cut(section, "\n## ")
	named := map[string]bool{}
	word := regexp.MustCompile("`(Test[A-Za-z0-9_]+)`")
	controls := 0
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) != 4 || strings.HasPrefix(line, "|---") || strings.TrimSpace(cells[2]) == "tests" {
			continue
		}
		controls++
		matches := word.FindAllStringSubmatch(cells[2], -1)
		if len(matches) == 0 {
			t.Errorf("SECURITY.md names no test of the control %q", strings.TrimSpace(cells[1]))
		}
		for _, match := range matches {
			named[match[1]] = true
		}
	}
	for _, match := range word.FindAllStringSubmatch(read(t, "SECURITY.md"), -1) {
		if tests[match[1]] == "" {
			t.Errorf("SECURITY.md names the test %s, which does not exist", match[1])
		}
	}
	if controls == 0 {
		t.Error("SECURITY.md lists no controls")
	}
	for name, dir := range tests {
		if strings.HasPrefix(name, "TestAttack") && dir == "pkg/internal/testing/e2e" && !named[name] {
			t.Errorf("SECURITY.md does not name the attack %s", name)
		}
	}
}

// Every promise of guarantees.md names a test that exists.
func TestEveryPromiseHasATest(t *testing.T) {
	t.Parallel()
	tests := testNames(t)
	promises, _, _ := strings.Cut(read(t, "guarantees.md"), "\n## What Redis may lose\n")
	word := regexp.MustCompile("`(Test[A-Za-z0-9_]+)`")
	for line := range strings.Lines(promises) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || strings.HasPrefix(line, "|---") || strings.TrimSpace(cells[2]) == "test" {
			continue
		}
		matches := word.FindAllStringSubmatch(cells[2], -1)
		if len(matches) == 0 {
			t.Errorf("no test of the promise %q", strings.TrimSpace(cells[1]))
		}
		for _, match := range matches {
			if tests[match[1]] == "" {
				t.Errorf("guarantees.md names the test %s, which does not exist", match[1])
			}
		}
	}
}

// testNames returns the folders of all tests of the repository by their names.
func testNames(t *testing.T) map[string]string {
	t.Helper()
	function := regexp.MustCompile(`(?m)^func (Test\w+)\(\w+ \*testing\.T\)`)
	names := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), ".") && path != root):
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		for _, match := range function.FindAllSubmatch(source, -1) {
			names[string(match[1])] = filepath.ToSlash(dir)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
