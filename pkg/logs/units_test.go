package logs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ushuru/pkg/testenv"
)

// otherUnit is the name of an attribute that says a unit of time other than milliseconds, or a
// duration without one.
var otherUnit = regexp.MustCompile(`(?i)(^|_)(s|secs?|seconds?|ns|nanos|us|micros|mins?|minutes?|h|hours?|days|took|elapsed|latency)$`)

// logging are the functions and methods whose arguments are pairs of a name and a value.
var logging = []string{
	"Debug", "Info", "Warn", "Error", "DebugContext", "InfoContext", "WarnContext", "ErrorContext", "Log", "With",
}

// Durations of the whole program have one unit in its log. A time.Duration has the ending _ms by
// itself; what is a number says so.
func TestDurationsHaveOneUnit(t *testing.T) {
	t.Parallel()
	root := testenv.InRepository(t)
	names := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			if entry != nil && entry.IsDir() && slices.Contains([]string{".git", "node_modules"}, entry.Name()) {
				return filepath.SkipDir
			}
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok {
				return true
			}
			for _, name := range attributesOf(call) {
				names++
				if otherUnit.MatchString(name) {
					t.Errorf("%s: the attribute %q has another unit than milliseconds", set.Position(call.Pos()), name)
				}
			}
			return true
		})
		return nil
	})
	if err != nil || names < 100 {
		t.Errorf("%d attributes, %v", names, err)
	}
}

// attributesOf returns the names of the attributes of a call that logs. A value that is a
// constant text is taken for a name too.
func attributesOf(call *ast.CallExpr) (names []string) {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains(logging, method.Sel.Name) {
		return nil
	}
	for _, argument := range call.Args {
		if text, ok := argument.(*ast.BasicLit); ok && text.Kind == token.STRING {
			if name, err := strconv.Unquote(text.Value); err == nil && !strings.Contains(name, " ") {
				names = append(names, name)
			}
		}
	}
	return names
}
