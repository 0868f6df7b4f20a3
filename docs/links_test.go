package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"ushuru/pkg/testenv"
)

var (
	link = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	code = regexp.MustCompile("`([^`\n]+)`")

	// repositoryPath is what looks like a path of this repository.
	repositoryPath = regexp.MustCompile(
		`^(api|worker|tasks|pkg|deploy|docs|\.ci)/[\w./-]+$|^[\w-]+\.(go|md|yml|yaml|toml)$|^(Makefile|Procfile|LICENSE)$`)
)

// The README is a page. What does not fit belongs into a document.
func TestReadmeIsShort(t *testing.T) {
	t.Parallel()
	const maxLines = 150
	if n := strings.Count(read(t, filepath.Join(root, "README.md")), "\n"); n > maxLines {
		t.Errorf("README.md has %d lines, more than %d", n, maxLines)
	}
}

func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	texts := testenv.Documents(t)
	for name, document := range texts {
		for _, found := range link.FindAllStringSubmatch(document, -1) {
			target, anchor, _ := strings.Cut(found[1], "#")
			if strings.Contains(target, "://") {
				continue // the world is not tested
			}
			path := name
			if target != "" {
				path = filepath.ToSlash(filepath.Join(filepath.Dir(name), target))
			}
			if _, err := os.Stat(filepath.Join(root, path)); err != nil {
				t.Errorf("%s: the link %s leads nowhere: %v", name, found[1], err)
				continue
			}
			if anchor != "" && !anchors(texts[path])[anchor] {
				t.Errorf("%s: %s has no heading for the link %s", name, path, found[1])
			}
		}
	}
}

// anchors returns the names under which the headings of a document are linked.
func anchors(document string) map[string]bool {
	names := map[string]bool{}
	for line := range strings.Lines(document) {
		heading := strings.TrimLeft(line, "#")
		if heading == line || !strings.HasPrefix(heading, " ") {
			continue
		}
		names[strings.Map(func(r rune) rune {
			switch {
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			case r == ' ':
				return '-'
			}
			return -1
		}, strings.TrimSpace(heading))] = true
	}
	return names
}

func TestPathsThatDocumentsNameExist(t *testing.T) {
	t.Parallel()
	ignored := strings.Fields(read(t, filepath.Join(root, ".gitignore"))) // they exist after some command
	files := map[string]bool{}                                            // by their names without a folder
	err := filepath.WalkDir(root, func(_ string, entry fs.DirEntry, err error) error {
		files[entry.Name()] = true
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, document := range testenv.Documents(t) {
		prose := testenv.Prose(document)
		for _, found := range code.FindAllStringSubmatch(prose, -1) {
			path := strings.TrimSuffix(found[1], "/")
			if !repositoryPath.MatchString(path) || slices.Contains(ignored, path+"/") {
				continue
			}
			_, err := os.Stat(filepath.Join(root, path))
			if err != nil && !files[path] { // where the package is plain, a document names a file alone
				t.Errorf("%s names %s: %v", name, path, err)
			}
		}
	}
}

// Functions and tests that architecture.md names are in the code.
func TestNamesInArchitectureExist(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".go") {
			all.WriteString(read(t, path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	inFile := regexp.MustCompile("`(?:\\w+\\.)?(\\w+)` in `([\\w./]+\\.go)`")
	for _, found := range inFile.FindAllStringSubmatch(read(t, "architecture.md"), -1) {
		if !strings.Contains(read(t, filepath.Join(root, found[2])), found[1]) {
			t.Errorf("architecture.md says that %s is in %s", found[1], found[2])
		}
	}
	named := regexp.MustCompile(`^(?:\w+\.)*([A-Za-z]+[a-z][A-Z]\w+|[A-Z]\w+)$`)
	prose := testenv.Prose(read(t, "architecture.md"))
	for _, found := range code.FindAllStringSubmatch(prose, -1) {
		match := named.FindStringSubmatch(found[1])
		if match != nil && !regexp.MustCompile(`\b`+match[1]+`\b`).MatchString(all.String()) {
			t.Errorf("architecture.md names %s, which is not in the code", found[1])
		}
	}
}

// A comment that sends its reader to a document must not send him to one that
// is not part of the repository.
func TestDocumentsThatCodeNamesExist(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile(`[\w/-]+\.md\b`)
	for _, source := range sources(t) {
		for _, group := range source.file.Comments {
			for _, path := range named.FindAllString(group.Text(), -1) {
				_, fromRoot := os.Stat(filepath.Join(root, path))
				_, fromDocs := os.Stat(path)
				_, fromPackage := os.Stat(filepath.Join(root, filepath.Dir(source.path), path))
				if fromRoot != nil && fromDocs != nil && fromPackage != nil {
					t.Errorf("%s names %s, which is not in the repository", source.path, path)
				}
			}
		}
	}
}
