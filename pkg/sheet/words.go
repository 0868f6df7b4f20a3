package sheet

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"ushuru/pkg/datatable"

	"golang.org/x/text/unicode/norm"
)

//go:embed words.csv
var wordTable string

// Word is what a printed word means.
type Word struct {
	Value string // of our closed lists: petrol, rental, red; a severity for circled words
	Text  Text
}

// words has the printed words by list and folded Japanese; panels, sides and areas
// by our own names.
var words = sync.OnceValue(func() map[[2]string]Word {
	all := map[[2]string]Word{}
	for _, row := range datatable.Rows(wordTable) {
		all[[2]string{row[0], Fold(row[1])}] = Word{row[2], Text{row[3], row[4]}}
	}
	return all
})

// WordOf looks up a printed word.
func WordOf(list, printed string) (Word, bool) {
	w, found := words()[[2]string{list, Fold(printed)}]
	return w, found
}

// FrameParts returns the Japanese names of the parts of the frame that have a name of
// ours.
func FrameParts() (names []string) {
	for _, row := range datatable.Rows(wordTable) {
		if row[0] == "frame" {
			names = append(names, row[1])
		}
	}
	return names
}

// NameOf returns our word for a panel, a side or an area.
func NameOf(list, name string) Text {
	w, _ := WordOf(list, name)
	return w.Text
}

//go:embed texts.csv
var textTable string

// sentence is one of our sentences. Those of red flags have a severity.
type sentence struct {
	Text     Text
	Severity Severity
}

// texts has our sentences by list and key.
var texts = sync.OnceValue(func() map[[2]string]sentence {
	all := map[[2]string]sentence{}
	for _, row := range datatable.Rows(textTable) {
		all[[2]string{row[0], row[1]}] = sentence{Text{row[3], row[4]}, Severity(row[2])}
	}
	return all
})

// TextOf returns one of our sentences in both languages; empty texts when there
// is none.
func TextOf(list, key string) Text { return texts()[[2]string{list, key}].Text }

//go:embed codes.csv
var codeTable string

// Damage is a damage code or the phrase of a legend.
type Damage struct {
	Text     Text
	Severity Severity
	Sizes    string // the kind of its sizes; "" where it has none
}

// damages has the codes, phrases of legends and sizes by list and folded key.
var damages = sync.OnceValue(func() map[[2]string]Damage {
	all := map[[2]string]Damage{}
	for _, row := range datatable.Rows(codeTable) {
		all[[2]string{row[0], Fold(row[1])}] = Damage{Text{row[2], row[3]}, Severity(row[4]), row[5]}
	}
	return all
})

// DamageOf looks up a damage code, a phrase of a legend or a size.
func DamageOf(list, key string) (Damage, bool) {
	d, found := damages()[[2]string{list, Fold(key)}]
	return d, found
}

// arrow separates the original colour from the present one.
var arrow = regexp.MustCompile(`\s*(?:→|⇒|➡|-+(?:>|\s))\s*`)

// SplitColours returns the original and the present colour of a printed colour
// that has an arrow, else the colour alone.
func SplitColours(printed string) []string { return arrow.Split(printed, 2) }

// spellings replaces the ways to write one word on sheets by one of them.
var spellings = strings.NewReplacer(
	"有り", "有", "あり", "有", "無し", "無", "なし", "無", "傷", "キズ", "きず", "キズ", "錆", "サビ", "さび", "サビ",
	"凹み", "ヘコミ", "凹", "ヘコミ", "へこみ", "ヘコミ", "下回り", "下廻り", "足回り", "足廻り", "ひび", "ヒビ",
	"エヤコン", "エアコン", "取扱説明書", "取説", "1オーナー", "ワンオーナー", "たばこ", "タバコ", "煙草", "タバコ",
	"擦れ", "すれ", "スレ", "すれ", "破れ", "破れ", "汚れ", "汚れ", "よごれ", "汚れ", "ヨゴレ", "汚れ",
)

// Fold normalises a printed text: width (NFKC), case of Latin letters, spaces and
// punctuation, and spellings. Two texts with the same fold say the same.
func Fold(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || strings.ContainsRune("・、。,.:;「」『』【】[]《》", r) {
			return -1
		}
		return unicode.ToUpper(r)
	}, norm.NFKC.String(text))
	return spellings.Replace(text)
}

// Narrow returns a printed value in ordinary width, without spaces around it.
func Narrow(text string) string { return strings.TrimSpace(norm.NFKC.String(text)) }

// IsJapanese reports whether a text has kana or kanji.
func IsJapanese(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r == 'ー'
	})
}
