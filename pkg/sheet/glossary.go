package sheet

import (
	_ "embed"
	"encoding/csv"
	"strings"
	"sync"
)

// glossaryTable is our own table of phrases; its head says how sure it is.
//
//go:embed glossary.csv
var glossaryTable string

// phrase is a line of the glossary.
type phrase struct {
	area   Area
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

// composeIn writes the pieces in one language. A place stands before its part
// in English and after it in Swahili.
func composeIn(list []piece, lang string) (string, bool) {
	var b strings.Builder
	var places []string
	said, after := false, "" // after is the kind of the piece before
	write := func(separator, text string) {
		if b.Len() > 0 {
			b.WriteString(separator)
		}
		b.WriteString(text)
	}
	for _, p := range list {
		if p.phrase == nil {
			return "", false
		}
		word := p.text.In(lang)
		switch {
		case p.kind == placeKind:
			places = append(places, word)
			continue
		case p.kind == partKind:
			if lang == English {
				word = strings.Join(append(places, word), " ")
			} else {
				word = strings.Join(append([]string{word}, places...), " ")
			}
			places = nil
			write("; ", word)
		case p.kind == tailKind && after == "":
			return "", false // an ending of nothing
		case p.kind == tailKind && after == partKind, p.finding() && after == partKind:
			write(": ", word)
			said = true
		case p.kind == tailKind:
			write(", ", word)
		default:
			write("; ", word)
			said = true
		}
		after = p.kind
	}
	return b.String(), said && len(places) == 0
}
