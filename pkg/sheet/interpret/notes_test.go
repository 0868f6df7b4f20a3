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
	if n.Translation.EN.Source != sheet.FromMachine || n.Translation.SW != (sheet.Rendering{Text: "", Source: sheet.NoText}) || n.Severity != sheet.Low {
		t.Errorf("a phrase that is not ours: %+v", n)
	}
	n = notes(transcribe.Note{JP: "謎のオイル漏れ跡か", EN: "", SW: ""})
	if n.Translation.EN != (sheet.Rendering{Text: "oil leak", Source: sheet.InPart}) || n.Translation.SW != (sheet.Rendering{Text: "inavuja oili", Source: sheet.InPart}) || n.Severity != sheet.High {
		t.Errorf("a phrase that is ours in part: %+v", n)
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
	panels, areas := allowed(transcribe.ReadingSchema(), "panel"), allowed(transcribe.ClassificationSchema(), "unreadable_areas")
	grades := allowed(transcribe.ReadingSchema(), "overall")
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
