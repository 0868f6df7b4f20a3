package evaluate

import (
	"os"
	"strings"
	"testing"

	"ushuru/pkg/match"
	"ushuru/pkg/match/facts"
	"ushuru/pkg/testenv"
	"ushuru/pkg/tra/catalogue"
)

func simulatedCatalogue(t testing.TB) (*catalogue.Catalogue, facts.Facts) {
	t.Helper()
	file, err := os.Open(testenv.Reference(t, "matching", "catalogue.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	cat, given, err := facts.LoadCSV(file)
	if err != nil {
		t.Fatal(err)
	}
	return cat, given
}

func readDevCases(t *testing.T) []Case {
	t.Helper()
	file, err := os.Open(testenv.Reference(t, "matching", "dev.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	cases, err := ReadCases(file)
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

// TestDevelopmentCases holds matching without an AI to its targets: no wrong
// label, and every label that a code decides.
func TestDevelopmentCases(t *testing.T) {
	cat, given := simulatedCatalogue(t)
	for _, known := range []struct {
		name  string
		facts facts.Facts
	}{{"facts of the catalogue", given}, {"facts of the codes alone", nil}} {
		t.Run(known.name, func(t *testing.T) {
			matcher, report := match.New(match.Options{Facts: known.facts}), NewReport()
			for _, c := range readDevCases(t) {
				found, err := Run(t.Context(), matcher, c, cat)
				if err != nil {
					t.Fatal(err)
				}
				report.Add(c, found)
				if found.Outcome == "match" && !c.isGold(found.Make, found.ModelBody) {
					t.Errorf("wrong: %+v: %+v", c, found)
				}
			}
			var table strings.Builder
			if err := report.Write(&table); err != nil {
				t.Fatal(err)
			}
			t.Log("\n" + table.String())
			for _, kind := range []string{
				"exact_code (match)", "code_with_emission_prefix (match)", "code_prefix_suffix (match)", "code_no_hyphen_lower (match)",
				"frame_number (match)", "code_only_title_missing_model (match)", "absent_code (abstain)",
			} {
				if tally := report.Kind(kind); tally.Correct.Cases == 0 || tally.Correct.Of != tally.Correct.Cases {
					t.Errorf("%s: %+v, want all right", kind, tally)
				}
			}
			if all := report.All(); all.Wrong > 0 || 100*all.Recall.Of < 99*all.Recall.Cases {
				t.Errorf("all: %+v", all)
			}
		})
	}
}
