package cost_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"ushuru/pkg/cost"
	"ushuru/pkg/golden"
	"ushuru/pkg/vehicle"
)

// docs/sources.md lists every fee of the embedded tables singly, with its source.
func TestSourcesListEveryFee(t *testing.T) {
	t.Parallel()
	const path, begin, end = "../../docs/sources.md", "<!-- fees -->\n", "<!-- end -->"
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
	list.WriteString("| fee | days, countries | value (low..high) | date | source |\n|---|---|---|---|---|\n")
	for _, r := range cost.Embedded().Rows() {
		where := strings.Trim(r.Days+"; "+shortened(r.Countries), "; ")
		value := r.Value
		if r.Standing != string(vehicle.Typical) {
			value += " " + r.Standing
		}
		_, _ = fmt.Fprintf(&list, "| `%s` | %s | %s | %s | %s |\n", r.Code, where, value, r.Date, r.Source)
	}
	golden.Check(t, path, before+begin+list.String()+end+after)
}

// shortened returns the first two of a list of countries.
func shortened(countries string) string {
	names := strings.Split(countries, ", ")
	if len(names) <= 3 {
		return countries
	}
	return strings.Join(names[:2], ", ") + " …"
}
