package sheet

import (
	_ "embed"
	"encoding/csv"
	"slices"
	"strings"
	"sync"
)

// glossaryTable is our own table of phrases; its head says how sure it is.
//
//go:embed glossary.csv
var glossaryTable string

// Phrase is a line of the glossary.
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

func (p *Phrase) IsFinding() bool {
	return p.Kind == string(Defect) || p.Kind == string(Option) || p.Kind == string(InfoNote)
}

// frame says whether a phrase names a part of the body frame, which combines
// like other parts and says something by itself as well.
func (p *Phrase) frame() bool {
	_, found := WordOf("frame", p.JP)
	return found && p.IsFinding()
}

// phrases are the glossary by folded Japanese; longest is the length of its
// longest key in runes.
type phrases struct {
	byKey   map[string]*Phrase
	longest int
}

var glossary = sync.OnceValue(func() phrases {
	all := phrases{byKey: map[string]*Phrase{}}
	for _, row := range ReadTable(glossaryTable, 6) {
		p := &Phrase{Area(row[0]), row[1], Text{row[2], row[3]}, Severity(row[4]), row[5]}
		key := Fold(p.JP)
		if _, there := all.byKey[key]; !there { // spellings of one phrase fold to the same
			all.byKey[key] = p
		}
		all.longest = max(all.longest, len([]rune(key)))
	}
	return all
})

// ReadTable reads an embedded table: comments, a head, rows of so many cells.
func ReadTable(text string, cells int) [][]string {
	r := csv.NewReader(strings.NewReader(text))
	r.Comment, r.FieldsPerRecord = '#', cells
	rows, err := r.ReadAll()
	if err != nil {
		panic("sheet: an embedded table: " + err.Error())
	}
	return rows[1:]
}

// Piece is a part of a note: a phrase of the glossary, or nil for characters
// that no phrase has.
type Piece struct {
	*Phrase
	JP string // folded
}

// LookUpPhrase looks up a whole text.
func LookUpPhrase(jp string) (*Phrase, bool) {
	p, found := glossary().byKey[Fold(jp)]
	return p, found
}

// Pieces cuts a note into phrases, the longest first.
func Pieces(jp string) (list []Piece) {
	g := glossary()
	runes := []rune(Fold(jp))
	for i := 0; i < len(runes); {
		var n int
		for n = min(g.longest, len(runes)-i); n > 0; n-- {
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

// Findings are the phrases among pieces that say something by themselves.
func Findings(list []Piece) (found []*Phrase) {
	for _, p := range list {
		if p.Phrase != nil && p.IsFinding() {
			found = append(found, p.Phrase)
		}
	}
	return found
}

// Compose translates pieces that are all of the glossary: places and parts,
// then what is the matter with them ("front bumper: cracked"). It reports
// false where something is left over or nothing is said.
func Compose(list []Piece) (Text, bool) {
	if len(list) == 1 && list[0].Phrase != nil && list[0].IsFinding() {
		return list[0].Text, true
	}
	en, said := composeIn(list, English)
	sw, _ := composeIn(list, Swahili)
	return Text{en, sw}, said
}

// composer writes pieces in one language.
type composer struct {
	lang   string
	b      strings.Builder
	places []string // that wait for their part
	after  string   // the kind of the piece before
	said   bool     // something is the matter
}

// composeIn writes the pieces in one language. It reports false for pieces that
// make no whole: a phrase that is not known, a place or an ending of nothing.
func composeIn(list []Piece, lang string) (string, bool) {
	c := &composer{lang: lang}
	for _, p := range list {
		if p.Phrase == nil || p.Kind == tailKind && c.after == "" {
			return "", false
		}
		c.add(p.Phrase)
	}
	return c.b.String(), c.said && len(c.places) == 0
}

func (c *composer) add(p *Phrase) {
	word := p.Text.In(c.lang)
	separator := "; "
	switch {
	case p.Kind == placeKind:
		c.places = append(c.places, word)
		return
	case p.Kind == partKind, p.frame():
		word = c.placed(p)
		c.said = c.said || p.IsFinding()
	case c.after == partKind:
		separator, c.said = ": ", true
	case p.Kind == tailKind:
		separator = ", "
	default:
		c.said = true
	}
	if c.b.Len() > 0 {
		c.b.WriteString(separator)
	}
	c.b.WriteString(word)
	if c.after = p.Kind; p.frame() {
		c.after = partKind
	}
}

// placed is a part with its places: before it in English, after it in
// Kiswahili (mlango wa mbele wa kulia).
func (c *composer) placed(p *Phrase) string {
	words := append(slices.Clone(c.places), p.Text.EN)
	if c.lang == Swahili {
		words = []string{p.Text.SW}
		joins := string(p.Area)
		if p.frame() {
			joins = "ya" // bodi ya ndani, nguzo, sakafu, fremu
		}
		for _, place := range slices.Backward(c.places) {
			words = append(words, joins, place)
		}
	}
	c.places = nil
	return strings.Join(words, " ")
}
