package advice_test

import (
	"encoding/csv"
	"os"
	"slices"
	"testing"
	"time"

	"ushuru/pkg/advice"
	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/interpret"
	"ushuru/pkg/sheet/transcribe"
	"ushuru/pkg/sheet/transcribe/transcribetest"
	"ushuru/pkg/vehicle"
)

// noted is a clean sheet of grade 4.5 with one note of the inspector.
func noted(note string) *advice.Condition {
	raw := transcribetest.Prius()
	raw.Reading.Grades.Overall, raw.Second.Overall = "4.5", "4.5"
	raw.Reading.Map, raw.Reading.InsideCircled, raw.Reading.GlassCircled = nil, nil, nil
	raw.Reading.Notes = []transcribe.Note{{Author: transcribe.InspectorNotes, JP: note, Kind: "info", Area: "mechanical"}}
	r := interpret.Transcript(raw, interpret.Known{Now: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)})
	return advice.NewCondition(r, nil)
}

// Every phrase as one note on a clean sheet: a cheap car of which it says the worst
// loses against an equal clean one, in either place; what is harmless accuses nobody.
func TestOneNoteDecidesAPair(t *testing.T) {
	t.Parallel()
	rows := slices.Concat(phrases(t, "unlisted"), phrases(t, "heldout"))
	clean, cheap, dear := noted("禁煙車"), estimate("PASSO", "5000", nil), estimate("AXIO", "7000", nil)
	inDoubt := 0
	for _, row := range rows {
		if !sheet.IsJapanese(row[1]) { // of a listing
			continue
		}
		note := noted(row[1])
		for number, pair := range map[int]advice.Pair{
			1: {Car1: cheap, Condition1: note, Car2: dear, Condition2: clean},
			2: {Car1: dear, Condition1: clean, Car2: cheap, Condition2: note},
		} {
			v := advice.Judge(pair)
			isVetoed := slices.ContainsFunc(v.Vetoes, func(veto vehicle.Veto) bool { return veto.Car == number })
			onFigures := v.OnFigures != nil && *v.OnFigures == number
			isOpen := v.Reason == vehicle.AskFirst && row[2] == "heldout"
			switch {
			case row[0] == "y" && !isOpen && (!isVetoed || winnerOf(v) != 3-number || onFigures):
				t.Errorf("%s: got winner %d (%s), vetoed %v, want %d", row[1], winnerOf(v), v.Reason, isVetoed, 3-number)
			case row[0] == "n" && isVetoed:
				t.Errorf("%s: a harmless note is a veto: %+v", row[1], v.Vetoes)
			case row[0] == "n" && winnerOf(v) != number:
				inDoubt++
			}
		}
	}
	if most := len(rows) / 50; inDoubt > most {
		t.Errorf("%d of %d pairs with a harmless note are not decided, want at most %d", inDoubt, 2*len(rows), most)
	}
}

// phrases returns the judged phrases of a table of pkg/condition, each with its table.
func phrases(t *testing.T, table string) (rows [][]string) {
	t.Helper()
	file, err := os.Open("../condition/testdata/" + table + ".csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	all, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range all[1:] {
		rows = append(rows, append(row, table))
	}
	return rows
}
