package condition

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// token is a word of a text, an unknown run of characters, or what parts words.
type token struct {
	kind       string // of its first sense; unknown, gap, comma, dot, tight, arrow or code
	senses     []sense
	text       string // folded
	start, end int
	katakana   bool // all of it was written in katakana
	hiragana   bool
	latin      bool
}

func (t *token) has(kind string) bool {
	return slices.ContainsFunc(t.senses, func(s sense) bool { return s.kind == kind })
}

// isOther reports a noun that says nothing of the condition, or in no table.
func (t *token) isOther() bool { return t.kind == "unknown" || t.kind == "word" }

// The costs of a way to divide a text: fewest words and fewest unknown characters.
const (
	wordCost    = 4
	shortCost   = 6 // of a word of one character
	codeCost    = 5
	partingCost = 3
	unknownCost = 9
)

// tokens divides a text into words; the way with the least cost wins, so the longest
// phrase does.
func (t text) tokens() []*token {
	var list []*token
	step := t.steps()
	for i := 0; i < len(t.runes); i = step[i].end {
		tok := step[i]
		tok.text = string(t.runes[tok.start:tok.end])
		tok.katakana, tok.hiragana = t.isAll(tok, katakana), t.isAll(tok, hiragana)
		tok.latin = t.isAll(tok, latin)
		if last := len(list) - 1; tok.kind == "unknown" && last >= 0 && list[last].kind == "unknown" &&
			t.scripts[i] == t.scripts[i-1] {
			list[last].end, list[last].text = tok.end, list[last].text+tok.text
			continue
		}
		list = append(list, tok)
	}
	return t.bordered(list)
}

// steps returns for each place the word that the cheapest way from there begins with.
func (t text) steps() []*token {
	n := len(t.runes)
	best, step := make([]int, n+1), make([]*token, n+1)
	for i := n - 1; i >= 0; i-- {
		best[i], step[i] = best[i+1]+unknownCost, &token{kind: "unknown", start: i, end: i + 1}
		take := func(tok *token, cost int) {
			if cost += best[tok.end]; cost < best[i] || cost == best[i] && tok.end > step[i].end {
				best[i], step[i] = cost, tok
			}
		}
		if parting := t.parting(i); parting != "" {
			take(&token{kind: parting, start: i, end: i + 1}, partingCost)
		}
		if end := t.code(i); end > 0 {
			take(&token{kind: "code", start: i, end: end}, codeCost)
		}
		if end := t.rattle(i); end > 0 {
			take(&token{kind: "find", senses: []sense{{kind: "find", name: "noise"}}, start: i, end: end}, wordCost)
		}
		for end := min(n, i+lexicon().longest); end > i; end-- {
			senses := t.sensesOf(i, end)
			if senses == nil {
				continue
			}
			cost := wordCost
			if end-i == 1 {
				cost = shortCost
			}
			take(&token{kind: senses[0].kind, senses: senses, start: i, end: end}, cost)
		}
	}
	return step
}

// sensesOf returns the senses of the word between two places; nil when it is none.
func (t text) sensesOf(i, end int) []sense {
	word := string(t.runes[i:end])
	senses := lexicon().bySpelling[word]
	switch {
	case len(senses) == 0, !t.isBorder(i), !t.isBorder(end):
		return nil
	case senses[0].kind == "glue" && slices.Contains(particles, word) && t.isInKatakana(i, end):
		return nil // ルーフカラー, not から
	case end-i == 1 && senses[0].kind == "part" && !t.isWholeKatakana(i):
		return nil // キー, not the き of 付き
	}
	return senses
}

// rattle returns the end of a word that imitates a noise: ゴロゴロ音; 0 when there is none.
func (t text) rattle(i int) int {
	for _, half := range []int{2, 3} {
		end := i + 2*half
		if end < len(t.runes) && t.runes[end] == '音' && slices.Equal(t.runes[i:i+half], t.runes[i+half:end]) &&
			(t.scripts[i] == katakana || t.scripts[i] == hiragana) {
			return end + 1
		}
	}
	return 0
}

// particles are short words that are written in hiragana.
var particles = []string{"カラ", "マデ", "ヨリ", "ナド", "デ", "ハ", "モ", "ガ", "ニ", "ヲ", "ヘ", "ノ", "ト", "ヤ"}

// isInKatakana reports whether a word is a piece of a longer one in katakana.
func (t text) isInKatakana(i, end int) bool {
	isKatakana := func(j int) bool { return j >= 0 && j < len(t.scripts) && t.scripts[j] == katakana }
	return isKatakana(i) && (isKatakana(i-1) || isKatakana(end))
}

func (t text) isAll(tok *token, k script) bool {
	for i := tok.start; i < tok.end; i++ {
		if s := t.scripts[i]; s != k && (k != latin || s != space && t.runes[i] != '-' && t.runes[i] != '\'') {
			return false
		}
	}
	return true
}

// isBorder reports whether a word may begin or end at a place: not inside a word of
// Latin letters, and not inside a number.
func (t text) isBorder(i int) bool {
	return i == 0 || i == len(t.runes) || t.scripts[i-1] != t.scripts[i] || t.scripts[i] != latin && t.scripts[i] != digit
}

// isWholeKatakana reports whether a character is a whole word of katakana, or none of
// kana.
func (t text) isWholeKatakana(i int) bool {
	if k := t.scripts[i]; k != katakana && k != hiragana {
		return true
	}
	alone := func(j int) bool { return j < 0 || j >= len(t.scripts) || t.scripts[j] != katakana }
	return t.scripts[i] == katakana && alone(i-1) && alone(i+1)
}

// isWord reports whether a letter or a digit stands at a place.
func (t text) isWord(i int) bool {
	return i >= 0 && i < len(t.runes) && (t.scripts[i] == latin || t.scripts[i] == digit)
}

// parting returns the kind of what parts words at a place.
func (t text) parting(i int) string {
	switch r := t.runes[i]; {
	case strings.ContainsRune("→⇒➡>", r):
		return "arrow"
	case strings.ContainsRune("・&+", r):
		return "tight"
	case strings.ContainsRune("。;!?\n\r", r), r == '.' && !t.isWord(i+1):
		return "dot"
	case strings.ContainsRune("、,/()[]{}「」『』【】<|", r):
		return "comma"
	case strings.ContainsRune(":=~'\"_.-", r):
		return "gap"
	case t.scripts[i] == space && t.isWord(i-1) && t.isWord(i+1), t.scripts[i] == space && i > 0 && t.runes[i-1] == ':':
		return "gap"
	case t.scripts[i] == space:
		return "comma"
	}
	return ""
}

// codes are the letters of the drawing that notes use too.
var codes = map[string]string{
	"XX": "replace", "X": "need", "W": "beat", "U": "dent", "B": "dent", "A": "mark", "AU": "dent", "UA": "dent", "E": "dent",
	"C": "corrode", "S": "rust", "P": "mark", "H": "mark", "Y": "crack",
}

// code returns the end of a code of the drawing at a place; 0 when there is none.
func (t text) code(i int) int {
	if t.scripts[i] != latin || !t.isBorder(i) {
		return 0
	}
	end := i
	for end < len(t.runes) && t.scripts[end] == latin {
		end++
	}
	if codes[string(t.runes[i:end])] == "" {
		return 0
	}
	if end < len(t.runes) && t.scripts[end] == digit && t.isBorder(end+1) {
		end++
	}
	if end < len(t.runes) && t.scripts[end] == digit {
		return 0
	}
	return end
}

// isSingleKanji reports whether a word of one kanji has a meaning.
func (t text) isSingleKanji(tok *token) bool {
	return tok.end-tok.start == 1 && t.isAll(tok, kanji) && (tok.has("find") || tok.has("say") || tok.has("part"))
}

// isBeside reports whether unknown characters of a script, or a word in katakana, list[j],
// touch list[i].
func (t text) isBeside(list []*token, i, j int, k script) bool {
	if j < 0 || j >= len(list) || list[j].kind != "unknown" && (k != katakana || list[j].kind != "word") {
		return false
	}
	return t.isAll(list[j], k) &&
		(list[j].end == list[i].start || list[j].start == list[i].end)
}

// bordered takes the meaning of words that are only a piece of another word: one in
// katakana before or behind unknown katakana, and a single kanji beside unknown ones.
func (t text) bordered(list []*token) []*token {
	beside := func(i, j int, k script) bool { return t.isBeside(list, i, j, k) }
	var lost []int
	for i, tok := range list {
		behind := beside(i, i+1, katakana)
		switch {
		case tok.kind == "unknown" || tok.senses == nil:
		case tok.katakana && tok.has("part") && (behind || beside(i, i-1, katakana)):
			tok.senses = []sense{{kind: "part", name: "other"}}
		case tok.katakana && behind && !tok.has("place"),
			t.isSingleKanji(tok) && (beside(i, i+1, kanji) || beside(i, i-1, kanji)):
			lost = append(lost, i)
		}
	}
	for _, i := range lost {
		list[i].kind, list[i].senses = "unknown", nil
	}
	return list
}

// inOrder puts parts in parentheses before the finding that they follow: 修正跡有(ピラー).
func inOrder(list []*token) []*token {
	for open, tok := range list {
		if tok.text != "(" {
			continue
		}
		length := slices.IndexFunc(list[open+1:], func(t *token) bool {
			return t.text == ")" || !slices.Contains([]string{"part", "place", "tight", "comma"}, t.kind)
		})
		end := open + 1 + length
		isPart := func(t *token) bool { return t.kind == "part" }
		if length < 1 || list[end].text != ")" || !slices.ContainsFunc(list[open+1:end], isPart) {
			continue
		}
		for i := open - 1; i >= 0 && (list[i].has("find") || list[i].kind == "affirm" || list[i].kind == "glue"); i-- {
			if list[i].has("find") && (i == 0 || list[i-1].kind == "comma" || list[i-1].kind == "dot") {
				return inOrder(slices.Concat(list[:i], list[open+1:end], list[i:open], list[end+1:]))
			}
		}
	}
	return list
}

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
