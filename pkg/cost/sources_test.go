package cost_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"ushuru/pkg/cost"
	"ushuru/pkg/golden"
)

// docs/sources.md lists every fee of the embedded tables singly, with its source.
func TestSourcesListEveryFee(t *testing.T) {
	t.Parallel()
	const path, begin, end = "../../docs/sources.md", "<!-- fees -->\n```\n", "```\n<!-- end -->"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(data), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no list between %q and %q", path, begin, end)
	}
	var list strings.Builder
	var sources []string
	for _, r := range cost.Embedded().Rows() {
		number := slices.Index(sources, r.Source)
		if number < 0 {
			number = len(sources)
			sources = append(sources, r.Source)
		}
		cells := []string{r.Code, r.Days, strings.ReplaceAll(r.Countries, ", ", ","), r.Value, r.Standing, r.Date, fmt.Sprintf("[%d]", number+1)}
		cells = slices.DeleteFunc(cells, func(cell string) bool { return cell == "" })
		list.WriteString(strings.Join(cells, ";") + "\n")
	}
	for i, source := range sources {
		fmt.Fprintf(&list, "[%d] %s\n", i+1, source)
	}
	golden.Check(t, path, before+begin+list.String()+end+after)
}
