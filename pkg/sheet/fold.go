package sheet

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

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
