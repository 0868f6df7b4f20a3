package docs

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every operation of openapi.yaml is in the table of endpoints of api.md.
func TestAPIDocumentListsTheEndpoints(t *testing.T) {
	t.Parallel()
	_, section, _ := strings.Cut(read(t, "api.md"), "\n## Endpoints\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var (
		pathLine   = regexp.MustCompile(`^  (/\S+):$`)
		methodLine = regexp.MustCompile(`^    (get|post|put|patch|delete):$`)
		path       string
		operations int
	)
	paths, _, _ := strings.Cut(read(t, filepath.Join(root, "api", "openapi.yaml")), "\nwebhooks:\n")
	for line := range strings.Lines(paths) {
		line = strings.TrimRight(line, "\n")
		if found := pathLine.FindStringSubmatch(line); found != nil {
			path = found[1]
		}
		found := methodLine.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		operations++
		if method := strings.ToUpper(found[1]); !hasOperation(section, method, path) {
			t.Errorf("api.md does not list %s %s", method, path)
		}
	}
	if operations == 0 {
		t.Error("openapi.yaml has no operations")
	}
}

// hasOperation reports whether a row of the table names a path and a method.
func hasOperation(table, method, path string) bool {
	for row := range strings.Lines(table) {
		if strings.Contains(row, " "+path+"`") && strings.Contains(row, "`"+method) {
			return true
		}
	}
	return false
}
