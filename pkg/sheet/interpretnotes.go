package sheet

import (
	"slices"
	"strings"
)

// notes are kept in Japanese, each with who wrote it. A text that is an order
// or an address is left out but for what the glossary knows of it, so that no
// order can carry a finding away with it.
func (in *interpreter) notes() {
	r := in.report
	for i := range in.raw.Sheet.Notes {
		raw := &in.raw.Sheet.Notes[i]
		if i == maxNotes {
			r.DroppedTexts += len(in.raw.Sheet.Notes) - i
			return
		}
		if raw.JP == NotReadable {
			in.unreadable("notes", Illegible)
			continue
		}
		for _, jp := range in.wanted(raw.JP) {
			note := in.note(raw, jp)
			switch raw.Author {
			case sellerPoints:
				r.SellerPoints = append(r.SellerPoints, note)
			case inspectorNotes:
				r.InspectorNotes = append(r.InspectorNotes, note)
			case officeNotes:
				r.OfficeNotes = append(r.OfficeNotes, note)
			default:
				r.SellerNotes = append(r.SellerNotes, note)
			}
		}
	}
}

// wanted is the text of a note, or what remains of one that holds an order.
func (in *interpreter) wanted(text string) []string {
	jp := masked(quotable(text, maxNoteJP))
	if jp == "" {
		return nil
	}
	if !foul(text) && !foul(jp) && (isJapanese(jp) || len(jp) <= maxValue) {
		return []string{jp}
	}
	in.report.DroppedTexts++
	var left []string
	for _, p := range glossary().pieces(jp) {
		if p.phrase != nil && p.finding() && len([]rune(p.jp)) > 1 && isJapanese(p.jp) {
			left = append(left, p.jp)
		}
	}
	return left
}

// note translates: by our table as far as it goes, then by the machine.
func (in *interpreter) note(raw *RawNote, jp string) Note {
	list := glossary().pieces(jp)
	note := Note{JP: jp, Kind: OtherNote, Severity: NotKnown, Area: Equipped, Terms: []Text{}}
	if slices.Contains(noteKinds, raw.Kind) {
		note.Kind = NoteKind(raw.Kind)
	}
	if slices.Contains(noteAreas, raw.Area) {
		note.Area = Area(raw.Area)
	}
	found := findings(list)
	note.sort(found)
	if text, whole := compose(list); whole {
		note.Translation = Translation{Rendering{text.EN, FromGlossary}, Rendering{text.SW, FromGlossary}}
		return note
	}
	for _, p := range found {
		note.Terms = append(note.Terms, p.text)
	}
	note.Translation = Translation{rendering(raw.EN, jp, English, note.Terms), rendering(raw.SW, jp, Swahili, note.Terms)}
	return note
}

// sort takes kind, weight and area from the phrases: the heaviest decides.
func (n *Note) sort(found []*phrase) {
	ranks := []Severity{Info, Low, Medium, High}
	best := -1
	for _, p := range found {
		if rank := slices.Index(ranks, p.weight); rank > best {
			best = rank
			n.Severity, n.Area = p.weight, p.area
		}
	}
	switch {
	case slices.ContainsFunc(found, func(p *phrase) bool { return p.kind == string(Defect) }):
		n.Kind = Defect
	case len(found) > 0:
		n.Kind = NoteKind(found[0].kind)
	}
}

// rendering is the machine's text when it may be shown, or the words that our
// table knows.
func rendering(text, jp, lang string, terms []Text) Rendering {
	if text = quotable(text, maxNoteMeaning); believable(text, jp, lang) {
		return Rendering{text, FromMachine}
	}
	if len(terms) == 0 {
		return Rendering{Source: NoText}
	}
	words := make([]string, len(terms))
	for i, term := range terms {
		words[i] = term.In(lang)
	}
	return Rendering{strings.Join(words, "; "), InPart}
}

// allNotes are the notes of all authors.
func (r *Report) allNotes() (all []*Note) {
	for _, list := range [][]Note{r.OfficeNotes, r.InspectorNotes, r.SellerNotes, r.SellerPoints} {
		for i := range list {
			all = append(all, &list[i])
		}
	}
	return all
}

// says finds a word in a text, whatever the glossary makes of the rest. What
// is said not to be there is not.
func says(text, word string) bool {
	text, word = fold(text), fold(word)
	for {
		_, after, found := strings.Cut(text, word)
		if !found {
			return false
		}
		denied := strings.TrimPrefix(strings.TrimPrefix(after, "車"), "歴")
		if !strings.HasPrefix(denied, "無") {
			return true
		}
		text = after
	}
}
