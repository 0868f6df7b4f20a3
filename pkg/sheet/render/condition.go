package render

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"ushuru/pkg/condition"
	"ushuru/pkg/sheet"
)

// outside writes the third section: the damage map, panel by panel.
func (w *writer) outside() {
	r := w.r
	if r.Grades.Exterior != nil {
		w.say("exterior", *r.Grades.Exterior)
		w.say("letters_note")
	}
	for i := range r.BodyMap {
		mark := &r.BodyMap[i]
		w.say("mark", w.place(mark), mark.CodeRaw, w.meaning(mark))
	}
	for _, finding := range r.Glass {
		w.line(w.finding("circled", finding))
	}
	w.notes(sheet.Outside)
	if len(r.BodyMap) == 0 {
		w.say("no_codes")
	}
}

// place returns the name of a panel and its side.
func (w *writer) place(mark *sheet.Mark) string {
	return placeName(mark.Panel, mark.Side).In(w.lang)
}

// placeName returns the name of a panel with its side: front door, left.
func placeName(panel string, side *string) sheet.Text {
	name := sheet.NameOf("panel", panel)
	if side != nil {
		s := sheet.NameOf("side", *side)
		name = sheet.Text{EN: name.EN + ", " + s.EN, SW: name.SW + ", " + s.SW}
	}
	return name
}

// meaning returns what a code means, its size, and whether the legend says so.
func (w *writer) meaning(mark *sheet.Mark) string {
	return markMeaning(mark, w.lang)
}

func markMeaning(mark *sheet.Mark, lang string) string {
	parts := []string{sheet.TextOf("say", "mark_unknown").In(lang)}
	if mark.Meaning != nil {
		parts[0] = mark.Meaning.In(lang)
	}
	if mark.SizeMeans != nil {
		parts = append(parts, mark.SizeMeans.In(lang))
	}
	text := strings.Join(parts, ", ")
	if mark.FromLegend {
		text += " (" + strings.Replace(sheet.TextOf("say", "mark_legend").In(lang), "%s", *mark.LegendJP, 1) + ")"
	}
	return text
}

// finding returns the sentence on a circled word.
func (w *writer) finding(key string, f sheet.Finding) string {
	meaning := w.text("say", "mark_unknown")
	if f.Meaning != nil {
		meaning = f.Meaning.In(w.lang)
	}
	return w.sentence(key, f.JP, meaning)
}

// inside writes the fourth section.
func (w *writer) inside() {
	if w.r.Grades.Interior != nil {
		w.say("interior", *w.r.Grades.Interior)
		w.say("letters_note")
	}
	for _, finding := range w.r.Inside {
		w.line(w.finding("circled", finding))
	}
	w.notes(sheet.Inside)
}

// mechanical writes the fifth section, with the underside and the tyres.
func (w *writer) mechanical() {
	w.notes(sheet.Mechanical)
	t := &w.r.TyresMM
	if t.FrontLeft != nil || t.FrontRight != nil || t.RearLeft != nil || t.RearRight != nil {
		mm := func(tread *int) string {
			if tread == nil {
				return "–"
			}
			return strconv.Itoa(*tread)
		}
		w.say("tyres", mm(t.FrontLeft), mm(t.FrontRight), mm(t.RearLeft), mm(t.RearRight))
	}
	w.sayNumber("spare", t.Spare)
}

// repairs writes the sixth section.
func (w *writer) repairs() {
	h := &w.r.RepairHistory
	w.say("repair_" + string(h.Status))
	if h.Status == sheet.RepairYes {
		w.say("repair_grade_note")
	}
	for _, evidence := range h.Evidence {
		shown := slices.ContainsFunc(w.r.AllNotes(), func(n *sheet.Note) bool {
			return n.Area == sheet.Repair && n.JP == evidence
		})
		if !shown {
			w.say("evidence", evidence)
		}
	}
	if len(h.Parts) > 0 {
		names := make([]string, len(h.Parts))
		for i, part := range h.Parts {
			names[i] = part.In(w.lang)
		}
		w.say("parts", strings.Join(names, ", "))
	}
	w.notes(sheet.Repair)
}

// The usual kilometres a year of a car in private use in Japan, where about 10,000
// are the mean.
const (
	minUsualKM = 3_000
	maxUsualKM = 30_000
)

// mileage writes the seventh section.
func (w *writer) mileage() {
	m := &w.r.Mileage
	w.odometer()
	w.say("fair")
	w.sayIf("digits", m.RawDigits)
	w.flagLine(true)
	w.sayIf("flag_text", m.FlagText)
	if year, ok := yearly(w.r); ok {
		w.say("per_year", thousands(year))
		switch {
		case year < minUsualKM:
			w.say("little")
		case year > maxUsualKM:
			w.say("much")
		}
	}
	if book := w.r.Documents.ServiceBook; book != nil {
		w.say("book" + yesOrNo(*book))
	} else {
		w.say("book_unknown")
	}
	w.notes(sheet.MeterArea)
}

// yearly returns the kilometres a year until the auction. It returns false without
// the day of the auction, in the first year of a car, and for a meter that is called
// false.
func yearly(r *sheet.Report) (int, bool) {
	isFalse := func(f sheet.RedFlag) bool { return f.Category == condition.Meter && f.Level.IsGrave() }
	if slices.ContainsFunc(r.RedFlags, isFalse) || r.Mileage.ValueKM == nil || r.Mileage.ScaleInferred ||
		r.AuctionDate == nil || r.Dates.FirstRegistration == nil {
		return 0, false
	}
	sold, err1 := time.Parse(time.DateOnly, *r.AuctionDate)
	first, err2 := time.Parse("2006-01", *r.Dates.FirstRegistration)
	if err1 != nil || err2 != nil {
		return 0, false
	}
	months := (sold.Year()-first.Year())*12 + int(sold.Month()) - int(first.Month())
	if months < 12 {
		return 0, false
	}
	return *r.Mileage.ValueKM * 12 / months / 100 * 100, true
}

// notes writes the notes on an area, the gravest first.
func (w *writer) notes(area sheet.Area) {
	type signed struct {
		*sheet.Note
		author string
	}
	var list []signed
	for _, of := range []struct {
		notes  []sheet.Note
		author string
	}{
		{w.r.OfficeNotes, "office"},
		{w.r.InspectorNotes, "inspector"},
		{w.r.SellerNotes, "seller_notes"},
		{w.r.SellerPoints, "seller_points"},
	} {
		for i := range of.notes {
			if of.notes[i].Area == area {
				list = append(list, signed{&of.notes[i], of.author})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b signed) int {
		return b.Severity.Rank() - a.Severity.Rank()
	})
	for _, note := range list {
		w.say("note", note.JP, w.translation(note.Note), w.text("say", note.author))
	}
}

// translation returns the translation of the glossary, else the model's, marked as
// such, else a sentence that there is none.
func (w *writer) translation(note *sheet.Note) string {
	switch t := note.Translation.In(w.lang); t.Source {
	case sheet.FromGlossary:
		return t.Text
	case sheet.FromMachine:
		text := w.sentence("machine", t.Text)
		if len(note.Terms) > 0 {
			words := make([]string, len(note.Terms))
			for i, term := range note.Terms {
				words[i] = term.In(w.lang)
			}
			text = strings.Join(words, "; ") + "; " + text
		}
		return text
	case sheet.InPart:
		return w.sentence("in_part", t.Text)
	case sheet.NoText:
	}
	return w.text("say", "no_translation")
}

// field returns the name of a field of the report, else the name of its block.
func (w *writer) field(name string) string {
	if text := w.text("field", name); text != "" {
		return text
	}
	block, _, _ := strings.Cut(name, ".")
	return w.text("field", block)
}

// readings returns the two readings that differ.
func (w *writer) readings(list []string) string {
	shown := make([]string, 0, len(list))
	for _, reading := range list {
		switch reading {
		case sheet.NotReadable, sheet.NotPrinted:
			reading = "?"
		}
		shown = append(shown, "「"+reading+"」")
	}
	if len(shown) < 2 {
		shown = append(shown, w.text("say", "empty_reading"))
	}
	return strings.Join(shown, " / ")
}
