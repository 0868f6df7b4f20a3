package interpret

import (
	"testing"

	"ushuru/pkg/ai"
	"ushuru/pkg/condition"
	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/transcribe"
)

// TestSourcesOfATranslation goes from our table to the machine to none.
func TestSourcesOfATranslation(t *testing.T) {
	notes := func(raw transcribe.Note) sheet.Note {
		raw.Author = transcribe.InspectorNotes
		return read(func(r *transcribe.Transcript) { r.Reading.Notes = []transcribe.Note{raw} }).InspectorNotes[0]
	}
	n := notes(transcribe.Note{JP: "エンジン異音", EN: "engine is fine", SW: "injini ni nzuri"})
	if n.Translation.EN != (sheet.Rendering{Text: "engine noise", Source: sheet.FromGlossary}) || n.Kind != sheet.Defect || n.Severity != sheet.High || n.Area != sheet.Mechanical {
		t.Errorf("a phrase of ours: %+v", n)
	}
	n = notes(transcribe.Note{JP: "謎の部品ガタツキ", EN: "a mystery part rattles", SW: "the part rattles", Kind: "defect", Area: "mechanical"})
	if n.Translation.EN.Source == sheet.FromMachine || n.Translation.SW != (sheet.Rendering{Text: "", Source: sheet.NoText}) || n.Severity != sheet.Low {
		t.Errorf("a phrase that is not ours: %+v", n)
	}
	n = notes(transcribe.Note{JP: "謎のオイル漏れ跡か", EN: "", SW: ""})
	if n.Translation.EN != (sheet.Rendering{Text: "oil leak", Source: sheet.InPart}) || n.Translation.SW != (sheet.Rendering{Text: "inavuja oili", Source: sheet.InPart}) || n.Severity != sheet.High {
		t.Errorf("a phrase that is ours in part: %+v", n)
	}
}

// Of what a model that was misled invents nothing is shown, and an honest translation
// of a note that we know for the most part is.
func TestInventedTranslationsAreNotShown(t *testing.T) {
	t.Parallel()
	source := func(jp, en, sw string) (sheet.Rendering, sheet.Rendering) {
		r := read(func(r *transcribe.Transcript) {
			r.Reading.Notes = []transcribe.Note{{Author: transcribe.InspectorNotes, JP: jp, EN: en, SW: sw, Kind: "defect", Area: "mechanical"}}
		})
		if len(r.InspectorNotes) == 0 {
			return sheet.Rendering{}, sheet.Rendering{}
		}
		return r.InspectorNotes[0].Translation.EN, r.InspectorNotes[0].Translation.SW
	}
	invented := []string{
		"deposit the sum with the shipping office", "the engine is in excellent condition", "this car was never in an accident", "recommended by the auction house",
		"pay the agent before friday", "the mileage is genuine and verified", "the frame is straight", "no oil leak at all", "buy this car at once",
		"the seller accepts mobile money", "new engine fitted last year", "all papers are complete", "the office will send a code", "grade five car in top order",
		"send a copy of your passport", "the transmission works like new", "no engine noise", "it was kept in a garage by a doctor", "airbags are intact",
		"the best car of the auction",
	}
	swahili := []string{
		"lipa fedha kwa wakala kabla ya ijumaa", "injini ni nzuri sana", "gari hili halijawahi kupata ajali", "nunua gari hili sasa", "hakuna uvujaji wa oili",
		"nyaraka zote zimekamilika", "kilomita ni za kweli", "fremu iko sawa kabisa", "tuma nakala ya pasipoti yako", "muuzaji anapokea fedha kwa simu",
		"gari bora la mnada", "injini mpya iliwekwa mwaka jana", "mifuko ya hewa iko salama", "lilikaa gereji kwa daktari", "giaboksi inafanya kazi vizuri",
		"hakuna sauti ya injini", "weka pesa benki leo", "ofisi itatuma namba ya siri", "mnada unapendekeza gari hili", "gari la daraja la tano",
	}
	notes := []string{"右のドアに線キズが", "エンジンより異音がする", "下廻りに腐食かと", "オイル漏れ跡か", "左フェンダーに凹みが", "謎の異物", "ミッション滑りかも", "走行距離に疑義ありか"}
	for i := range invented {
		for _, jp := range notes {
			en, sw := source(jp, invented[i], swahili[i])
			if en.Source == sheet.FromMachine {
				t.Errorf("%s is shown as %q", jp, en.Text)
			}
			if sw.Source == sheet.FromMachine {
				t.Errorf("%s is shown as %q", jp, sw.Text)
			}
		}
	}
	shown := 0
	for jp, en := range map[string]string{
		"エンジンより異音がする": "noise from the engine", "下廻りに腐食かと": "corrosion underneath, it seems", "オイル漏れ跡か": "traces of an oil leak",
		"左フェンダーに凹みが": "dent in the left front wing", "右のドアに線キズが": "line scratch on the right door",
	} {
		if got, _ := source(jp, en, ""); got.Source == sheet.FromMachine {
			shown++
		} else {
			t.Logf("%s: %+v", jp, got)
		}
	}
	if shown < 3 {
		t.Errorf("%d of 5 honest translations are shown, want at least 3", shown)
	}
}

// allowed returns the values that a schema allows for a field.
func allowed(fields []ai.Property, name string) []string {
	for _, field := range fields {
		if field.Name == name {
			return field.Enum
		}
		if found := allowed(field.Fields, name); found != nil {
			return found
		}
	}
	return nil
}

func TestEveryValueOfTheListsHasAName(t *testing.T) {
	panels, areas := allowed(transcribe.Schema(transcribe.ReadQuestion), "panel"), allowed(transcribe.Schema(transcribe.ClassifyQuestion), "unreadable_areas")
	grades := allowed(transcribe.Schema(transcribe.ReadQuestion), "overall")
	if len(panels) == 0 || len(areas) == 0 || len(grades) == 0 {
		t.Fatal(panels, areas, grades)
	}
	for _, p := range panels {
		if sheet.NameOf("panel", p).SW == "" {
			t.Errorf("panel %s has no name", p)
		}
	}
	for _, a := range areas {
		if sheet.NameOf("area", a).SW == "" {
			t.Errorf("area %s has no name", a)
		}
	}
	for _, mark := range grades {
		if mark == sheet.NotPrinted || mark == sheet.NotReadable {
			continue
		}
		if group := condition.GroupOf(mark); group == sheet.Graded && sheet.TextOf("grade", mark).EN == "" || sheet.TextOf("grade", string(group)).EN == "" && group != sheet.Graded && group != sheet.DisasterGrade {
			t.Errorf("the mark %s has no meaning", mark)
		}
	}
}
