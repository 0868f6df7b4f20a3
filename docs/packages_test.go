package docs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// module is the path of the module, the prefix of the paths of its
// packages.
const module = "ushuru/"

// goPackage is what `go list` says of a package.
type goPackage struct {
	ImportPath string   `json:"ImportPath"`
	Doc        string   `json:"Doc"`
	GoFiles    []string `json:"GoFiles"`
	Imports    []string `json:"Imports"`
}

// rig reports whether a package serves tests, the demo or the laboratory only.
// The product does not import it, and the picture leaves it out.
var rig = regexp.MustCompile(`test(/|$)|^pkg/(golden|faults|testenv|lab|demo)(/|$)`)

// packages returns the packages of the repository by their path in it, each
// with those of them that it imports.
func packages(t *testing.T) map[string]goPackage {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Doc,GoFiles,Imports", "./...")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]goPackage{}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		name, ours := strings.CutPrefix(p.ImportPath, module)
		if !ours || len(p.GoFiles) == 0 {
			continue // main, and what holds tests only
		}
		p.Imports = slices.DeleteFunc(p.Imports, func(path string) bool { return !strings.HasPrefix(path, module) })
		for i, path := range p.Imports {
			p.Imports[i] = strings.TrimPrefix(path, module)
		}
		found[name] = p
	}
}

func TestArchitectureShowsThePackages(t *testing.T) {
	t.Parallel()
	found := packages(t)
	checkSection(t, "architecture.md", "packages", table(found))
}

// table lists the packages of the product that are part of no other, with the first
// sentence of their documentation, up to a colon or its purpose.
func table(found map[string]goPackage) string {
	var b strings.Builder
	b.WriteString("| package | what it does |\n|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if rig.MatchString(name) || strings.Count(name, "/") > 1 {
			continue
		}
		sentence := packageName.ReplaceAllString(found[name].Doc, "")
		sentence = furtherWords.ReplaceAllString(sentence, "")
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, strings.ReplaceAll(strings.TrimSuffix(sentence, "."), "|", `\|`))
	}
	return b.String()
}

var (
	// packageName is how the documentation of a package begins.
	packageName = regexp.MustCompile(`^(Package|Command) \w+ `)

	// furtherWords are those of a sentence that only its package has.
	furtherWords = regexp.MustCompile(`(: |, so that | \().*`)
)

func TestProductImportsNoRig(t *testing.T) {
	t.Parallel()
	commands := regexp.MustCompile(`^pkg/(cli|app)(/|$)`) // they start the demo and the laboratory
	for name, p := range packages(t) {
		for _, other := range p.Imports {
			if rig.MatchString(other) && !rig.MatchString(name) && !commands.MatchString(name) {
				t.Errorf("%s imports %s", name, other)
			}
		}
	}
}
