package sheet

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"ushuru/pkg/datatable"
)

// glossaryTable is the table of phrases; its head gives its sources.
//
//go:embed glossary.csv
var glossaryTable string

// Phrase is a row of the glossary.
type Phrase struct {
	Area     Area   // of a part: the Kiswahili word that joins a place to it
	JP       string // as printed
	Text     Text
	Severity Severity
	Kind     string // of the notes, or part, place, tail
}

const (
	partKind  = "part"
	placeKind = "place"
	tailKind  = "tail"
)

// IsFinding reports whether a phrase says something by itself; a part of the car
// or a place does not.
func (p *Phrase) IsFinding() bool {
	return p.Kind == string(Defect) || p.Kind == string(Option) || p.Kind == string(infoNote)
}

// isFrame reports whether a phrase names a part of the body frame. It combines with
// other phrases as parts do, and says something by itself.
func (p *Phrase) isFrame() bool {
	_, found := WordOf("frame", p.JP)
	return found && p.IsFinding()
}

// phrases is the glossary by folded Japanese.
type phrases struct {
	byKey    map[string]*Phrase
	maxRunes int // of a key
}

var glossary = sync.OnceValue(func() phrases {
	all := phrases{byKey: map[string]*Phrase{}}
	for _, row := range datatable.Rows(glossaryTable) {
		p := &Phrase{Area(row[0]), row[1], Text{row[2], row[3]}, Severity(row[4]), row[5]}
		key := Fold(p.JP)
		if _, exists := all.byKey[key]; !exists { // spellings of one phrase fold to the same
			all.byKey[key] = p
		}
		all.maxRunes = max(all.maxRunes, len([]rune(key)))
	}
	return all
})

// Piece is a part of a note: a phrase of the glossary, or characters that are in no
// phrase, with a nil Phrase.
type Piece struct {
	*Phrase
	JP string // folded
}

// LookUpPhrase returns the phrase that is the whole text.
func LookUpPhrase(jp string) (*Phrase, bool) {
	p, found := glossary().byKey[Fold(jp)]
	return p, found
}

// Pieces divides a note into phrases. The longest phrase wins.
func Pieces(jp string) (list []Piece) {
	g := glossary()
	runes := []rune(Fold(jp))
	for i := 0; i < len(runes); {
		var n int
		for n = min(g.maxRunes, len(runes)-i); n > 0; n-- {
			if p, found := g.byKey[string(runes[i:i+n])]; found {
				list = append(list, Piece{p, string(runes[i : i+n])})
				break
			}
		}
		if n == 0 {
			n = 1
			if last := len(list) - 1; last >= 0 && list[last].Phrase == nil {
				list[last].JP += string(runes[i])
			} else {
				list = append(list, Piece{nil, string(runes[i])})
			}
		}
		i += n
	}
	return list
}

// Findings returns the phrases that say something by themselves.
func Findings(list []Piece) (found []*Phrase) {
	for _, p := range list {
		if p.Phrase != nil && p.IsFinding() {
			found = append(found, p.Phrase)
		}
	}
	return found
}

// Compose translates pieces that are all in the glossary: places and parts, then
// what is wrong with them ("front bumper: cracked"). It returns false when a piece
// is not in the glossary, or when the pieces say nothing.
func Compose(list []Piece) (Text, bool) {
	if len(list) == 1 && list[0].Phrase != nil && list[0].IsFinding() {
		return list[0].Text, true
	}
	en, isWhole := composeIn(list, English)
	sw, _ := composeIn(list, Swahili)
	return Text{en, sw}, isWhole
}

// composer writes pieces in one language.
type composer struct {
	lang    string
	b       strings.Builder
	places  []string // of the next part
	after   string   // the kind of the previous piece
	isWhole bool     // the text says something
}

// composeIn writes the pieces in one language. It returns false for an unknown
// piece, and for a place or an ending that belongs to nothing.
func composeIn(list []Piece, lang string) (string, bool) {
	c := &composer{lang: lang}
	for _, p := range list {
		if p.Phrase == nil || p.Kind == tailKind && c.after == "" {
			return "", false
		}
		c.add(p.Phrase)
	}
	return c.b.String(), c.isWhole && len(c.places) == 0
}

func (c *composer) add(p *Phrase) {
	word := p.Text.In(c.lang)
	separator := "; "
	switch {
	case p.Kind == placeKind:
		c.places = append(c.places, word)
		return
	case p.Kind == partKind, p.isFrame():
		word = c.placed(p)
		c.isWhole = c.isWhole || p.IsFinding()
	case c.after == partKind:
		separator, c.isWhole = ": ", true
	case p.Kind == tailKind:
		separator = ", "
	default:
		c.isWhole = true
	}
	if c.b.Len() > 0 {
		c.b.WriteString(separator)
	}
	c.b.WriteString(word)
	if c.after = p.Kind; p.isFrame() {
		c.after = partKind
	}
}

// placed returns a part with its places: before it in English, after it in
// Kiswahili (mlango wa mbele wa kulia).
func (c *composer) placed(p *Phrase) string {
	words := append(slices.Clone(c.places), p.Text.EN)
	if c.lang == Swahili {
		words = []string{p.Text.SW}
		joins := string(p.Area)
		if p.isFrame() {
			joins = "ya" // bodi ya ndani, nguzo, sakafu, fremu
		}
		for _, place := range slices.Backward(c.places) {
			words = append(words, joins, place)
		}
	}
	c.places = nil
	return strings.Join(words, " ")
}
