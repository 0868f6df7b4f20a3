package evaluate

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"ushuru/pkg/match"
	"ushuru/pkg/match/facts"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/vehicle"
)

// TestDrives runs cases of petrol cars, their hybrids and electric cars, which
// were written by hand: no wrong label is accepted, no petrol car is refused, and
// the hybrid is the first candidate of a car that the listing calls a hybrid.
func TestDrives(t *testing.T) {
	file, err := os.Open("testdata/drives-catalogue.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	catalogue, known, err := facts.LoadCSV(file)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile("testdata/drives.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	cases, err := ReadCases(strings.NewReader(string(data)))
	if err != nil || len(cases) < 80 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	matcher, report := match.New(match.Options{Facts: known}), NewReport()
	twins, first := 0, 0
	for _, c := range cases {
		result, err := Run(t.Context(), matcher, c, catalogue)
		if err != nil {
			t.Fatal(err)
		}
		report.Add(c, result)
		accepted := result.Outcome == "match"
		switch {
		case accepted && !c.isGold(result.Make, result.ModelBody):
			t.Errorf("wrong: %s %s %s %s: %s", c.ID, c.Title, c.Version, c.ModelCode, result.ModelBody)
		case !accepted && c.Kind == "petrol_control":
			t.Errorf("a petrol car is refused: %s %s %s %s: %+v", c.ID, c.Title, c.Version, c.ModelCode, result)
		case !accepted && c.Expect == "match", accepted && c.Expect == "ambiguous":
			t.Errorf("%s %s %s %s: %+v, want %s", c.ID, c.Title, c.Version, c.ModelCode, result, c.Expect)
		}
		if strings.HasPrefix(c.Kind, "hybrid_word") || strings.HasPrefix(c.Kind, "hybrid_prefix") && len(c.Gold) > 0 {
			twins++
			if len(result.Candidates) > 0 && c.isGold(result.Candidates[0].Make, result.Candidates[0].ModelBody) {
				first++
			} else {
				t.Logf("not first: %s %s %s %s: %+v", c.ID, c.Title, c.Version, c.ModelCode, result)
			}
		}
	}
	var table strings.Builder
	if err := report.Write(&table); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + table.String())
	if all := report.All(); all.Wrong > 0 || 100*all.Recall.Of < 97*all.Recall.Cases || 100*first < 95*twins {
		t.Errorf("%+v, the hybrid first in %d of %d", all, first, twins)
	}
}

// TestNoPetrolEntryOfACarCalledAHybrid runs every petrol entry of the simulated
// catalogue twice: as it is, and with HYBRID in the title.
func TestNoPetrolEntryOfACarCalledAHybrid(t *testing.T) {
	cat, known := simulatedCatalogue(t)
	matcher := match.New(match.Options{Facts: known})
	asked, first, accepted, controls := 0, 0, 0, 0
	for key, fact := range known {
		label := catalogue.ParseLabel(catalogue.Make{Name: key.Make}, key.Label)
		year := max(fact.From, fact.To)
		if fact.Fuel != "petrol" || year == 0 || len(label.Codes) == 0 {
			continue
		}
		car := vehicle.Car{
			Make: key.Make, Model: label.Model, RawModelCode: label.Codes[0], Year: year, EngineCC: fact.CC, Fuel: "PETROL",
		}
		controls++
		if choice, err := matcher.Choose(t.Context(), car, cat); err == nil && choice.Label == key.Label {
			accepted++
		}
		car.Version = "HYBRID"
		choice, scored, err := matcher.Explain(t.Context(), car, cat)
		if err == nil && choice.Label == key.Label {
			if len(choice.Electrified) > 0 {
				t.Errorf("%s of %d: accepted beside %q", key.Label, year, choice.Electrified)
			}
			continue // the model has no electrified entry of that time
		}
		asked++
		if len(scored) > 0 && isElectrified(known[facts.Key{Make: scored[0].Make, Label: scored[0].ModelBody}].Fuel) {
			first++
		}
	}
	t.Logf("%d petrol entries, %d accepted; called a hybrid: %d asked, the hybrid first in %d", controls, accepted, asked, first)
	if accepted*100 < controls*95 || asked < 150 || first*100 < asked*95 {
		t.Errorf("%d of %d controls accepted, the hybrid first in %d of %d", accepted, controls, first, asked)
	}
}

func isElectrified(fuel any) bool {
	text := fmt.Sprint(fuel)
	return text == "petrol hybrid" || text == "electric"
}
