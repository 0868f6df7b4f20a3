package match

import (
	"encoding/csv"
	"errors"
	"os"
	"strings"
	"testing"

	"ushuru/pkg/chassis"
	"ushuru/pkg/testenv"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/vehicle"
)

// letters are models whose codes differ by a body letter alone.
func letters() *catalogue.Catalogue {
	return catalogue.New([]catalogue.MakeLabels{{Make: catalogue.Make{ID: 63, Name: "TOYOTA"}, Labels: []string{
		"COROLLA - NZE121 - SEDAN", "COROLLA FIELDER - NZE121G - WAGON", "MARK II - GX110 - SEDAN", "MARK II BLIT - GX110W - WAGON",
		"MARK X - GRX120 - SEDAN", "MARK X ZIO - ANA10 - WAGON",
		"CARINA - AT212 - SEDAN", "CALDINA - AT212G - WAGON", "VITZ - SCP10 - HATCHBACK", "VITZ - NSP130 - HATCHBACK",
	}}})
}

func TestACodeThatIsAnotherModelsIsAsked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ model, code, first, second string }{
		{"COROLLA", "NZE121G", "COROLLA FIELDER - NZE121G - WAGON", "COROLLA - NZE121 - SEDAN"},
		{"COROLLA FIELDER", "NZE121", "COROLLA - NZE121 - SEDAN", "COROLLA FIELDER - NZE121G - WAGON"},
		{"MARK II", "TA-GX110W", "MARK II BLIT - GX110W - WAGON", "MARK II - GX110 - SEDAN"},
		{"MARK II BLIT", "GX110", "MARK II - GX110 - SEDAN", "MARK II BLIT - GX110W - WAGON"},
		{"MARK X ZIO", "GRX120", "MARK X - GRX120 - SEDAN", "MARK X ZIO - ANA10 - WAGON"}, // a sub-model under the code of its base
		{"MARK X", "DBA-ANA10", "MARK X ZIO - ANA10 - WAGON", "MARK X - GRX120 - SEDAN"},
		{"マークXジオ", "GRX120", "MARK X - GRX120 - SEDAN", "MARK X ZIO - ANA10 - WAGON"},
		{"CARINA", "AT212G", "CALDINA - AT212G - WAGON", "CARINA - AT212 - SEDAN"},
	} {
		choice, err := choose(vehicle.Car{Make: "TOYOTA", Model: c.model, RawModelCode: c.code}, letters())
		refused, ok := errors.AsType[*Error](err)
		if !ok || refused.Code != AmbiguousMatch || len(refused.Candidates) < 2 ||
			refused.Candidates[0].ModelBody != c.first || refused.Candidates[1].ModelBody != c.second {
			t.Errorf("%s with %s: got %q, %v, want a question with %q first", c.model, c.code, choice.Label, err, c.first)
		}
	}
	for _, c := range []struct{ model, raw, frame, want string }{
		{"COROLLA FIELDER", "", "NZE121-3012345", "COROLLA FIELDER - NZE121G - WAGON"}, // a frame number has no letter
		{"COROLLA", "NZE121", "", "COROLLA - NZE121 - SEDAN"},
	} {
		choice, err := choose(vehicle.Car{Make: "TOYOTA", Model: c.model, RawModelCode: c.raw, FrameNumber: c.frame}, letters())
		if err != nil || choice.Label != c.want {
			t.Errorf("%s, %s%s: got %q, %v, want %q", c.model, c.raw, c.frame, choice.Label, err, c.want)
		}
	}
}

func TestACodeOfAGenerationThatIsOverIsAsked(t *testing.T) {
	t.Parallel()
	car := vehicle.Car{Make: "TOYOTA", Model: "VITZ", RawModelCode: "SCP10", Year: 2014, EngineCC: 996}
	_, err := choose(car, letters())
	refused, ok := errors.AsType[*Error](err)
	if !ok || refused.Code != YearNotListed || len(refused.Candidates) == 0 {
		t.Fatalf("got %v, want a question", err)
	}
	if last := refused.Candidates[len(refused.Candidates)-1]; last.ModelBody != "VITZ - SCP10 - HATCHBACK" {
		t.Errorf("got %q last, want the old entry", last.ModelBody)
	}
	car.Year = 2005
	if choice, err := choose(car, letters()); err != nil {
		t.Errorf("made until the end of the generation: got %q, %v", choice.Label, err)
	}
}

// Every pair of the catalogue whose codes differ by the letter alone: the name of one with
// the code of the other is never accepted.
func TestNoPairOfTheCatalogueIsAcceptedByItsLetter(t *testing.T) {
	t.Parallel()
	file, err := os.Open(testenv.Reference(t, "matching", "catalogue.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	byMake := map[string][]string{}
	for _, row := range rows[1:] {
		byMake[row[1]] = append(byMake[row[1]], row[2])
	}
	var makes []catalogue.MakeLabels
	for name, labels := range byMake {
		makes = append(makes, catalogue.MakeLabels{Make: catalogue.Make{ID: len(makes) + 1, Name: name}, Labels: labels})
	}
	cat := catalogue.New(makes)
	tried := 0
	for _, a := range rows[1:] {
		for _, b := range rows[1:] {
			stem, lettered := chassis.Stem(b[4])
			if a[1] != b[1] || a[3] == b[3] || !lettered || stem != a[4] || a[4] == "" || strings.Contains(a[2], b[4]) {
				continue
			}
			if _, err := choose(vehicle.Car{Make: a[1], Model: a[3], RawModelCode: b[4]}, cat); err == nil && !listed(rows, a, b[4]) {
				t.Errorf("%s with %s of %s is accepted", a[3], b[4], b[3])
			}
			if _, err := choose(vehicle.Car{Make: a[1], Model: b[3], RawModelCode: a[4]}, cat); err == nil && !listed(rows, b, a[4]) {
				t.Errorf("%s with %s of %s is accepted", b[3], a[4], a[3])
			}
			tried++
		}
	}
	t.Logf("%d pairs", tried)
	if tried < 40 {
		t.Errorf("got %d pairs, want the catalogue's", tried)
	}
}

// listed reports that a model of the catalogue has a code itself.
func listed(rows [][]string, of []string, code string) bool {
	for _, row := range rows {
		if row[1] == of[1] && row[3] == of[3] && row[4] == code {
			return true
		}
	}
	return false
}
