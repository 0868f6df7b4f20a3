package match

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"ushuru/pkg/tra"
	"ushuru/pkg/vehicle"
)

const sharedData = "../../../shared/data/matching/"

func simulatedCatalogue(t testing.TB) (*tra.Catalogue, Facts) {
	t.Helper()
	file, err := os.Open(sharedData + "catalogue.csv")
	if err != nil {
		t.Skip("the development cases are not part of this repository:", err)
	}
	defer file.Close()
	cat, facts, err := LoadCatalogueCSV(file)
	if err != nil {
		t.Fatal(err)
	}
	return cat, facts
}

type goldLabel struct {
	Label string `json:"label"`
}

// devCase is a line of dev.jsonl: a listing as a page gives it, and the truth.
type devCase struct {
	ID         string      `json:"id"`
	Kind       string      `json:"kind"`
	Make       string      `json:"make"`
	Title      string      `json:"title"`
	Version    string      `json:"version"`
	ModelCode  string      `json:"model_code"`
	Year       string      `json:"year"`
	CC         string      `json:"cc"`
	Fuel       string      `json:"fuel"`
	Body       string      `json:"body"`
	Expect     string      `json:"expect"`
	GoldLabels []goldLabel `json:"gold_labels"`
}

func (d devCase) car() vehicle.Car {
	year, _ := strconv.Atoi(d.Year)
	cc, _ := strconv.Atoi(d.CC)
	return vehicle.Car{
		Make: d.Make, Model: strings.TrimSpace(strings.TrimPrefix(d.Title, d.Make)), Version: d.Version,
		RawModelCode: d.ModelCode, Year: year, EngineCC: cc, Fuel: d.Fuel, BodyType: d.Body,
	}
}

func (d devCase) isGold(label string) bool {
	return slices.ContainsFunc(d.GoldLabels, func(g goldLabel) bool { return g.Label == label })
}

func readDevCases(t *testing.T) []devCase {
	t.Helper()
	file, err := os.Open(sharedData + "dev.jsonl")
	if err != nil {
		t.Skip("the development cases are not part of this repository:", err)
	}
	defer file.Close()
	var cases []devCase
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var d devCase
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, d)
	}
	return cases
}

// tally counts one kind of development case.
type tally struct{ cases, right, low, shown, refused, wrong int }

// TestDevelopmentCases measures the exact road on the development cases: what
// it accepts must be right, and cells with a usable code must all be covered.
func TestDevelopmentCases(t *testing.T) {
	cat, facts := simulatedCatalogue(t)
	matcher := New(Options{Facts: facts})
	table := map[string]*tally{}
	for _, d := range readDevCases(t) {
		kind := d.Kind + "/" + d.Expect
		if table[kind] == nil {
			table[kind] = &tally{}
		}
		row := table[kind]
		row.cases++
		choice, err := matcher.Choose(t.Context(), d.car(), cat)
		var refused *Error
		switch {
		case errors.As(err, &refused):
			row.refused++
			if slices.ContainsFunc(refused.Candidates, func(c vehicle.Candidate) bool { return d.isGold(c.ModelBody) }) {
				row.shown++
			}
			if d.Expect == "match" {
				t.Logf("not covered: %s %+v: %v", d.ID, d, err)
			}
		case d.isGold(choice.Label):
			row.right++
			if Confidence(choice.MatchType, choice.Adjustments) == vehicle.Low {
				row.low++
			}
		default:
			row.wrong++
			t.Errorf("wrong: %s %+v: %+v", d.ID, d, choice)
		}
	}
	t.Log("\n" + table2text(table))
	for _, kind := range []string{
		"exact_code", "code_with_emission_prefix", "code_prefix_suffix", "code_no_hyphen_lower", "frame_number",
	} {
		if row := table[kind+"/match"]; row == nil || row.right != row.cases {
			t.Errorf("%s: %+v, want all right", kind, row)
		}
	}
}

func table2text(table map[string]*tally) string {
	kinds := make([]string, 0, len(table))
	for kind := range table {
		kinds = append(kinds, kind)
	}
	sort.Strings(kinds)
	var b strings.Builder
	fmt.Fprintf(&b, "%-42s %5s %5s %5s %7s %9s %5s\n", "kind/expected", "cases", "right", "(low)", "refused", "(shown)", "wrong")
	for _, kind := range kinds {
		r := table[kind]
		fmt.Fprintf(&b, "%-42s %5d %5d %5d %7d %9d %5d\n", kind, r.cases, r.right, r.low, r.refused, r.shown, r.wrong)
	}
	return b.String()
}
