package interpret

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ushuru/pkg/condition"
	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/transcribe"
)

// notes reads the notes in Japanese, each with its author. Of a text that
// contains an instruction or a link only what it says of the condition remains, so
// that an instruction cannot take a finding away with it.
func (in *interpreter) notes() {
	r := in.report
	for i := range in.raw.Reading.Notes {
		raw := &in.raw.Reading.Notes[i]
		if i == transcribe.MaxNotes {
			r.DroppedTexts += len(in.raw.Reading.Notes) - i
			return
		}
		if raw.JP == sheet.NotReadable {
			in.unreadable("notes", sheet.Illegible)
			continue
		}
		for _, jp := range in.usableTexts(raw.JP) {
			note := in.note(raw, jp)
			switch raw.Author {
			case transcribe.SellerPoints:
				r.SellerPoints = append(r.SellerPoints, note)
			case transcribe.InspectorNotes:
				r.InspectorNotes = append(r.InspectorNotes, note)
			case transcribe.OfficeNotes:
				r.OfficeNotes = append(r.OfficeNotes, note)
			default:
				r.SellerNotes = append(r.SellerNotes, note)
			}
		}
	}
}

// usableTexts returns the text of a note; of a note with an instruction what it says
// of the condition.
func (in *interpreter) usableTexts(text string) []string {
	jp := masked(quotable(text, transcribe.MaxNoteJP))
	if jp == "" {
		return nil
	}
	if !isInstruction(text) && !isInstruction(jp) && (sheet.IsJapanese(jp) || len(jp) <= transcribe.MaxValue) {
		return []string{jp}
	}
	in.report.DroppedTexts++
	return slices.DeleteFunc(strings.FieldsFunc(jp, isParting), func(part string) bool {
		said := condition.Read(part)
		return isInstruction(part) || !sheet.IsJapanese(part) || len(said.Findings)+len(said.Denied) == 0
	})
}

// isParting reports whether a character parts the items of a note.
func isParting(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune("、。，,!！?？", r)
}

// note makes a note and translates it, by the glossary first, then by the model.
func (in *interpreter) note(raw *transcribe.Note, jp string) sheet.Note {
	list := sheet.Pieces(jp)
	note := sheet.Note{JP: jp, Kind: sheet.OtherNote, Severity: sheet.NotKnown, Area: sheet.Equipped, Terms: []sheet.Text{}}
	if transcribe.NoteKinds.Has(raw.Kind) {
		note.Kind = sheet.NoteKind(raw.Kind)
	}
	if transcribe.NoteAreas.Has(raw.Area) {
		note.Area = sheet.Area(raw.Area)
	}
	found := sheet.Findings(list)
	sortNote(&note, found)
	rankNote(&note)
	if text, whole := sheet.Compose(list); whole {
		note.Translation = sheet.Translation{
			EN: sheet.Rendering{Text: text.EN, Source: sheet.FromGlossary},
			SW: sheet.Rendering{Text: text.SW, Source: sheet.FromGlossary},
		}
		return note
	}
	for _, p := range found {
		note.Terms = append(note.Terms, p.Text)
	}
	note.Translation = sheet.Translation{
		EN: rendering(raw.EN, jp, list, sheet.English, note.Terms),
		SW: rendering(raw.SW, jp, list, sheet.Swahili, note.Terms),
	}
	return note
}

// sortNote takes the kind, severity and area of a note from its gravest phrase.
func sortNote(n *sheet.Note, found []*sheet.Phrase) {
	ranks := []sheet.Severity{sheet.Info, sheet.Low, sheet.Medium, sheet.High}
	best := -1
	for _, p := range found {
		if rank := slices.Index(ranks, p.Severity); rank > best {
			best = rank
			n.Severity, n.Area = p.Severity, p.Area
		}
	}
	switch {
	case slices.ContainsFunc(found, func(p *sheet.Phrase) bool { return p.Kind == string(sheet.Defect) }):
		n.Kind = sheet.Defect
	case len(found) > 0:
		n.Kind = sheet.NoteKind(found[0].Kind)
	}
}

// rankNote takes the severity of a note from what it says of the condition, where our
// tables know that.
func rankNote(n *sheet.Note) {
	said := condition.Read(n.JP)
	switch level := said.Severity(); {
	case len(said.Unread) > 0 && len(said.Findings) == 0:
		return
	case level.IsGrave():
		n.Severity = sheet.High
	case level.Rank() >= condition.Caution.Rank():
		n.Severity = sheet.Medium
	case level == condition.Minor:
		n.Severity = sheet.Low
	default:
		n.Severity = sheet.Info
	}
	if n.Severity.Rank() >= sheet.Low.Rank() && n.Kind != sheet.Option {
		n.Kind = sheet.Defect
	}
}

// isCovered reports whether our glossary vouches for a translation: it knows most of the
// note, the translation has a word of each phrase that it knows and hardly another, and
// it denies only what the note denies.
func isCovered(text, jp string, list []sheet.Piece, lang string) bool {
	words := contentWords(text)
	var known []string
	covered, open := 0, 0
	for _, piece := range list {
		letters := len(strings.FieldsFunc(piece.JP, func(r rune) bool { return !unicode.IsLetter(r) }))
		if letters == 0 {
			continue
		}
		if piece.Phrase == nil {
			open += utf8.RuneCountInString(piece.JP)
			continue
		}
		covered += utf8.RuneCountInString(piece.JP)
		own := contentWords(piece.Text.In(lang))
		if len(own) > 0 && !slices.ContainsFunc(own, func(w string) bool { return slices.Contains(words, w) }) {
			return false
		}
		known = append(known, own...)
	}
	strange := 0
	for _, w := range words {
		if !slices.Contains(known, w) {
			strange++
		}
	}
	isDenial := func(w string) bool { return isOf("denial", w) }
	denies := slices.ContainsFunc(strings.Fields(strings.ToLower(text)), isDenial)
	return covered > open && strange <= open/2 && (!denies || len(condition.Read(jp).Denied) > 0)
}

// contentWords returns the beginnings of the words that carry a text, which are equal
// in the forms of a word.
func contentWords(text string) (words []string) {
	const stem, shortest = 5, 4
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if len(w) >= shortest {
			words = append(words, w[:min(stem, len(w))])
		}
	}
	return words
}

// rendering returns the model's translation when it is believable, else the terms
// of the glossary.
func rendering(text, jp string, list []sheet.Piece, lang string, terms []sheet.Text) sheet.Rendering {
	if text = quotable(text, transcribe.MaxNoteMeaning); believable(text, jp, lang) && isCovered(text, jp, list, lang) {
		return sheet.Rendering{Text: text, Source: sheet.FromMachine}
	}
	if len(terms) == 0 {
		return sheet.Rendering{Source: sheet.NoText}
	}
	words := make([]string, len(terms))
	for i, term := range terms {
		words[i] = term.In(lang)
	}
	return sheet.Rendering{Text: strings.Join(words, "; "), Source: sheet.InPart}
}

// said reads the answers on the grave matters, and looks for their quotes among the
// texts that were read.
func (in *interpreter) said() {
	texts := in.written()
	for _, subject := range sheet.Subjects {
		raw := in.raw.Reading.Said[string(subject)]
		if raw.Answer != "yes" && raw.Answer != "no" {
			continue
		}
		quote := masked(quotable(raw.Quote, transcribe.MaxNoteJP))
		if isInstruction(quote) || quote == sheet.NotReadable {
			quote = ""
		}
		in.report.Said = append(in.report.Said, sheet.Said{
			About: string(subject), Answer: raw.Answer, QuoteJP: quote,
			Found: quote != "" && strings.Contains(texts, sheet.Fold(quote)),
		})
	}
}

// written returns the folded texts of the sheet in which a quote can lie.
func (in *interpreter) written() string {
	var b strings.Builder
	add := func(text string) { b.WriteString(sheet.Fold(text) + "\n") }
	for _, note := range in.report.AllNotes() {
		add(note.JP)
	}
	r := in.report
	for _, text := range append(r.RepairHistory.Evidence, "修復歴"+in.raw.Reading.Repair, in.raw.Reading.MeterCircled) {
		add(text)
	}
	if r.House.Corner != nil {
		add(*r.House.Corner)
	}
	if r.Grades.OverallRaw != nil {
		add("評価点" + *r.Grades.OverallRaw)
	}
	return b.String()
}
