package condition

import (
	_ "embed"
	"strings"
	"sync"

	"ushuru/pkg/datatable"
)

// The tables. Their heads say what they hold.
var (
	//go:embed words.csv
	wordTable string
	//go:embed latin.csv
	latinTable string
	//go:embed matrix.csv
	matrixTable string
)

// sense is one meaning of a word.
type sense struct {
	kind     string // part, find, say, cancel, deny …
	name     string // the class of a part, the finding, or the category
	severity Severity
	note     string
	negated  bool // the word denies what it names: halijazama
}

// words are the senses of all words by their folded form.
type words struct {
	bySpelling map[string][]sense
	longest    int // in characters
}

var lexicon = sync.OnceValue(func() *words {
	l := &words{bySpelling: map[string][]sense{}}
	for _, row := range datatable.Rows(wordTable) {
		if row[0] == "verb" {
			if row[1] == "deny" { // of what nobody perceives: 感じられません
				l.add([]string{"deny", "fine", "", "", ""}, negated(row[3], strings.Fields(row[4])))
				continue
			}
			row[0] = "find"
			l.add(row, negated(row[3], strings.Fields(row[4])))
			if row[1] != "noout" { // a smoke that comes out is no good news
				l.add([]string{"deny", "fine", "", "", ""}, affirmed(row[3], strings.Fields(row[4])))
			}
			continue
		}
		l.add(row, strings.Fields(row[4]))
	}
	for _, row := range datatable.Rows(latinTable) {
		kind, isStem := strings.CutPrefix(row[0], "stem ")
		row[0] = kind
		for spelling := range strings.SplitSeq(row[4], "|") {
			if isStem {
				l.addVerb(row, spelling)
				continue
			}
			l.add(row, []string{spelling})
		}
	}
	return l
})

func (l *words) add(row, spellings []string) { l.addSense(row, false, spellings) }

// addSense adds a row of a table under its spellings.
func (l *words) addSense(row []string, negated bool, spellings []string) {
	s := sense{row[0], row[1], Severity(row[2]), row[3], negated}
	for _, spelling := range spellings {
		k := key(strings.TrimSpace(spelling))
		l.bySpelling[k] = append(l.bySpelling[k], s)
		l.longest = max(l.longest, len([]rune(k)))
	}
}

// addVerb adds the forms of a Kiswahili verb whose subject is a car or its parts. A
// verb denies in its first syllables: limezama, halijazama.
func (l *words) addVerb(row []string, stem string) {
	for subject, relative := range map[string]string{"li": "lililo", "i": "iliyo", "zi": "zilizo", "ya": "yaliyo"} {
		l.add(row, []string{
			subject + "me" + stem, subject + "li" + stem, relative + stem,
			subject + "mewahi ku" + stem, subject + "liwahi ku" + stem, relative + "wahi ku" + stem,
		})
		not := "ha" + subject
		l.addSense(row, true, []string{not + "ja" + stem, not + "ku" + stem, not + "jawahi ku" + stem})
	}
}

// affirmed returns the forms of verbs that say of a part that it works.
func affirmed(conjugation string, verbs []string) (forms []string) {
	for _, verb := range verbs {
		_, polite, _ := strings.Cut(verb, "/")
		endings := []string{"ます"}
		if conjugation == "suru" {
			polite, endings = verb, []string{"します", "できます", "可", "可能", "OK", "良好", "確認済", "確認OK"}
		}
		for _, ending := range endings {
			forms = append(forms, polite+ending)
		}
	}
	return forms
}

// negated returns the negative forms of verbs: the missing function is the fault.
func negated(conjugation string, verbs []string) (forms []string) {
	for _, verb := range verbs {
		stem, polite, isGodan := strings.Cut(verb, "/")
		if isGodan { // hardly: かかりにくい
			forms = append(forms, polite+"にくい", polite+"難い", polite+"づらい", polite+"辛い")
		}
		endings := []string{"ず", "ない", "ません", "ないです"}
		if conjugation == "suru" {
			endings = strings.Fields("せず しない しません できず できない できません 不可 不能 せぬ できぬ 不可能 困難 ならず されず されない されません")
		}
		for _, ending := range endings {
			if ending == "ません" {
				forms = append(forms, polite+ending)
				continue
			}
			forms = append(forms, stem+ending)
		}
	}
	return forms
}

func (l *words) hasSuffix(s string) bool {
	runes := []rune(s)
	for i := range runes {
		if len(l.bySpelling[string(runes[i:])]) > 0 {
			return true
		}
	}
	return false
}

func (l *words) hasPrefix(s string) bool {
	runes := []rune(s)
	for i := range runes {
		if len(l.bySpelling[string(runes[:i+1])]) > 0 {
			return true
		}
	}
	return false
}

// spans reports whether a word begins in left and ends in right.
func (l *words) spans(left, right string) bool {
	a, b := []rune(left), []rune(right)
	for i := range a {
		for j := range b {
			if len(l.bySpelling[string(a[i:])+string(b[:j+1])]) > 0 {
				return true
			}
		}
	}
	return false
}

// effect is a row of the matrix.
type effect struct {
	category        Category
	plain, low, big Severity
}

// matrix has the effects by the class of a part and a finding.
var matrix = sync.OnceValue(func() map[[2]string]effect {
	all := map[[2]string]effect{}
	for _, row := range datatable.Rows(matrixTable) {
		e := effect{Category(row[2]), Severity(row[3]), Severity(row[4]), Severity(row[5])}
		if e.low == "" {
			e.low = e.plain
		}
		if e.big == "" {
			e.big = e.plain
		}
		for finding := range strings.FieldsSeq(row[1]) {
			if _, exists := all[[2]string{row[0], finding}]; !exists {
				all[[2]string{row[0], finding}] = e
			}
		}
	}
	return all
})

// effectOf returns what a finding on a part means.
func effectOf(class, finding string) (effect, bool) {
	if e, found := matrix()[[2]string{class, finding}]; found {
		return e, true
	}
	switch finding {
	case "paint":
		return effectOf(class, "mark")
	case "deploy", "none", "no":
		return effect{NoCategory, None, None, None}, false
	case "mod":
		return effect{"modified", Minor, Minor, Minor}, true
	}
	e, found := matrix()[[2]string{class, "any"}]
	return e, found
}
