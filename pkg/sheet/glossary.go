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

// phrase is a line of the glossary.
type phrase struct {
	area   Area   // of a part: the Kiswahili word that joins a place to it
	jp     string // as printed
	text   Text
	weight Severity
	kind   string // of the notes, or part, place, tail
}

const (
	partKind  = "part"
	placeKind = "place"
	tailKind  = "tail"
)

func (p *phrase) finding() bool {
	return p.kind == string(Defect) || p.kind == string(Option) || p.kind == string(InfoNote)
}

// frame says whether a phrase names a part of the body frame, which combines
// like other parts and says something by itself as well.
func (p *phrase) frame() bool {
	_, found := wordOf("frame", p.jp)
	return found && p.finding()
}

// phrases are the glossary by folded Japanese; longest is the length of its
// longest key in runes.
type phrases struct {
	byKey   map[string]*phrase
	longest int
}

var glossary = sync.OnceValue(func() phrases {
	all := phrases{byKey: map[string]*phrase{}}
	for _, row := range table(glossaryTable, 6) {
		p := &phrase{Area(row[0]), row[1], Text{row[2], row[3]}, Severity(row[4]), row[5]}
		key := fold(p.jp)
		if _, there := all.byKey[key]; !there { // spellings of one phrase fold to the same
			all.byKey[key] = p
		}
		all.longest = max(all.longest, len([]rune(key)))
	}
	return all
})

// table reads an embedded table: comments, a head, rows of so many cells.
func table(text string, cells int) [][]string {
	r := csv.NewReader(strings.NewReader(text))
	r.Comment, r.FieldsPerRecord = '#', cells
	rows, err := r.ReadAll()
	if err != nil {
		panic("sheet: an embedded table: " + err.Error())
	}
	return rows[1:]
}

// piece is a part of a note: a phrase of the glossary, or nil for characters
// that no phrase has.
type piece struct {
	*phrase
	jp string // folded
}

// pieces cuts a note into phrases, the longest first.
func (g phrases) pieces(jp string) (list []piece) {
	runes := []rune(fold(jp))
	for i := 0; i < len(runes); {
		var n int
		for n = min(g.longest, len(runes)-i); n > 0; n-- {
			if p, found := g.byKey[string(runes[i:i+n])]; found {
				list = append(list, piece{p, string(runes[i : i+n])})
				break
			}
		}
		if n == 0 {
			n = 1
			if last := len(list) - 1; last >= 0 && list[last].phrase == nil {
				list[last].jp += string(runes[i])
			} else {
				list = append(list, piece{nil, string(runes[i])})
			}
		}
		i += n
	}
	return list
}

// findings are the phrases among pieces that say something by themselves.
func findings(list []piece) (found []*phrase) {
	for _, p := range list {
		if p.phrase != nil && p.finding() {
			found = append(found, p.phrase)
		}
	}
	return found
}

// compose translates pieces that are all of the glossary: places and parts,
// then what is the matter with them ("front bumper: cracked"). It reports
// false where something is left over or nothing is said.
func compose(list []piece) (Text, bool) {
	if len(list) == 1 && list[0].phrase != nil && list[0].finding() {
		return list[0].text, true
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
func composeIn(list []piece, lang string) (string, bool) {
	c := &composer{lang: lang}
	for _, p := range list {
		if p.phrase == nil || p.kind == tailKind && c.after == "" {
			return "", false
		}
		c.add(p.phrase)
	}
	return c.b.String(), c.said && len(c.places) == 0
}

func (c *composer) add(p *phrase) {
	word := p.text.In(c.lang)
	separator := "; "
	switch {
	case p.kind == placeKind:
		c.places = append(c.places, word)
		return
	case p.kind == partKind, p.frame():
		word = c.placed(p)
		c.said = c.said || p.finding()
	case c.after == partKind:
		separator, c.said = ": ", true
	case p.kind == tailKind:
		separator = ", "
	default:
		c.said = true
	}
	if c.b.Len() > 0 {
		c.b.WriteString(separator)
	}
	c.b.WriteString(word)
	if c.after = p.kind; p.frame() {
		c.after = partKind
	}
}

// placed is a part with its places: before it in English, after it in
// Kiswahili (mlango wa mbele wa kulia).
func (c *composer) placed(p *phrase) string {
	words := append(slices.Clone(c.places), p.text.EN)
	if c.lang == Swahili {
		words = []string{p.text.SW}
		joins := string(p.area)
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
