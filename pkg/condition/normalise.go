package condition

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// script is the script of a character as it was written.
type script byte

const (
	other script = iota
	kanji
	hiragana
	katakana
	latin
	digit
	space
)

// variants are other characters for one word. They are replaced before a text is
// compared.
var variants = strings.NewReplacer(
	"歷", "歴", "修復暦", "修復歴", "事故暦", "事故歴", "冠水暦", "冠水歴", "交換暦", "交換歴", "水没暦", "水没歴",
	"盗難暦", "盗難歴", "火災暦", "火災歴", "輛", "両", "輌", "両", "下回", "下廻", "下周", "下廻", "下まわり", "下廻り",
	"足回", "足廻", "足まわり", "足廻り", "鈑金", "板金", "痕", "跡", "ヱ", "エ", "ヰ", "イ", "ギヤ", "ギア", "リヤ", "リア",
	"ィ", "イ", "ヴ", "ブ", "♯", "#", "竈", "竄", "改鼠", "改竄", "蝕", "食", "掛か", "かか", "掛け", "かけ", "焼きつき", "焼付", "聞かず", "効かず", "利か", "効か",
	"出来", "でき", "洩", "漏", "凹凸", "凹", "凹み", "凹", "凹ミ", "凹", "へこみ", "凹", "ヘコミ", "凹", "錆", "サビ", "疵", "キズ", "傷", "キズ", "利き", "効き",
	"浸か", "つか", "漬か", "つか", "ノー事故", "無事故", "レースカーテン", "カーテン", "シール跡", "ステッカー跡", "シール", "ステッカー", "レース", "競技",
	"無くなって", "無くなっ", "御座い", "ござい", "有り", "あり",
)

// vehicles matches 車両 where it stands for 車: behind a noun.
var vehicles = regexp.MustCompile(`車両($|[^\p{L}\p{N}]|で|に|有|無|あり|なし)`)

// unticked matches an option of a form that is not ticked, beside one that is.
var unticked = regexp.MustCompile(`□\s*[^\s□☑■✔✓☒]+`)

// ticks are the signs of an option that is chosen.
const ticks = "☑■✔✓☒"

// apart matches single characters that spaces part: 修 復 歴 有.
var apart = regexp.MustCompile(`(^|[^\p{L}\p{N}])([\p{L}\p{N}](?: [\p{L}\p{N}]){2,})($|[^\p{L}\p{N}])`)

// text is a text to read: folded characters, each with the script and the place of
// the character that it stands for.
type text struct {
	runes   []rune
	scripts []script
}

// fold returns a text as it is compared: width, case, kana and variants are gone.
func fold(s string) text {
	s = strings.ToUpper(norm.NFKC.String(s))
	if strings.ContainsAny(s, ticks) {
		s = strings.NewReplacer("☑", "", "■", "", "✔", "", "✓", "", "☒", "").Replace(unticked.ReplaceAllString(s, ""))
	}
	s = apart.ReplaceAllStringFunc(s, func(m string) string { return strings.ReplaceAll(strings.TrimSpace(m), " ", "") })
	s = joinKatakana(vehicles.ReplaceAllString(variants.Replace(s), "車$1"))
	var t text
	for _, r := range s {
		k := scriptOf(r)
		if r == 'ー' || r == '-' && len(t.runes) > 0 && t.scripts[len(t.runes)-1] == katakana {
			continue
		}
		if k == hiragana {
			r += 'ァ' - 'ぁ'
		}
		t.runes, t.scripts = append(t.runes, r), append(t.scripts, k)
	}
	return t
}

func scriptOf(r rune) script {
	switch {
	case unicode.Is(unicode.Han, r):
		return kanji
	case r == 'ー', unicode.Is(unicode.Katakana, r):
		return katakana
	case unicode.Is(unicode.Hiragana, r):
		return hiragana
	case unicode.IsLetter(r):
		return latin
	case unicode.IsDigit(r):
		return digit
	case unicode.IsSpace(r):
		return space
	}
	return other
}

// split matches a middot or a space inside katakana.
var split = regexp.MustCompile(`([\p{Katakana}ー]+)[・ ]([\p{Katakana}ー]+)`)

// joinKatakana joins a word that a middot or a space parts: コア・サポート. What is
// two words of the table stays two.
func joinKatakana(s string) string {
	return split.ReplaceAllStringFunc(s, func(m string) string {
		parts := split.FindStringSubmatch(m)
		left, right := key(parts[1]), key(parts[2])
		l := lexicon()
		if l.hasSuffix(left) && l.hasPrefix(right) {
			return m
		}
		if l.spans(left, right) {
			return parts[1] + parts[2]
		}
		return m
	})
}

// key returns the folded form of a word, without joining it.
func key(s string) string {
	s = variants.Replace(strings.ToUpper(norm.NFKC.String(s)))
	return strings.Map(func(r rune) rune {
		switch {
		case r == 'ー':
			return -1
		case unicode.Is(unicode.Hiragana, r):
			return r + 'ァ' - 'ぁ'
		}
		return r
	}, s)
}
