package interpret

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"ushuru/pkg/ai"

	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/transcribe"
)

// A sheet is a picture that a stranger may have drawn, and a model may repeat
// what is written in it or make something up. What follows keeps from our text
// what no inspector writes.

// links are addresses, in whatever language.
var links = regexp.MustCompile(`(?i)https?:|://|www\.|` +
	`\b[a-z0-9-]+\.(?:com|net|org|info|biz|shop|example|io|me|jp|tz|ke|co|ly|gl)\b|` +
	`[\w.+-]+@[\w-]+\.\w|wa\.me|t\.me|@[a-z]\w{2,}`)

// telephones are numbers as long as those of telephones and accounts. A chassis
// number or a mileage is shorter.
var telephones = regexp.MustCompile(`\+\s?\d[\d\s()-]{6,}\d|\b\d[\d()-]{8,}\d\b|` +
	`\b0\d{1,4}[- ]\d{1,4}[- ]\d{3,4}\b|\b\d{3}[ -]\d{3}[ -]\d{3,4}\b`)

// orderTable lists the words by which a text turns to its reader or to a model.
//
//go:embed orders.csv
var orderTable string

// orders finds them.
var orders = sync.OnceValue(func() *regexp.Regexp {
	var words, parts []string
	for _, row := range sheet.ReadTable(orderTable, 2) {
		if row[0] == "ja" { // which has no spaces between words
			parts = append(parts, row[1])
		} else {
			words = append(words, row[1])
		}
	}
	return regexp.MustCompile(`(?i)\b(?:` + strings.Join(words, "|") + `)\b|` + strings.Join(parts, "|"))
})

// plates are Japanese number plates, which belong to a person.
var plates = regexp.MustCompile(`\p{Han}{1,4}\s*\d{2,3}\s*\p{Hiragana}\s*[\d・.·-]{2,5}`)

// frameNumbers are chassis numbers in full, written into a text.
var frameNumbers = regexp.MustCompile(`\b([A-Z0-9]{2,8}-\d\d)(\d{3,5})\b|\b([A-HJ-NPR-Z0-9]{3})[A-HJ-NPR-Z0-9]{14}\b`)

// masked hides chassis numbers in a text.
func masked(text string) string {
	return frameNumbers.ReplaceAllString(text, "$1$3*****")
}

// isInstruction says whether a text has what no inspector writes.
func isInstruction(text string) bool {
	text = norm.NFKC.String(text)
	return links.MatchString(text) || telephones.MatchString(text) || plates.MatchString(text) || orders().MatchString(text)
}

// marksOfText are characters that mean something to Markdown, HTML or our own
// quotes, and nothing on a sheet.
var marksOfText = strings.NewReplacer(
	"`", "'", "[", "(", "]", ")", "{", "(", "}", ")", "|", "/", "\\", "/",
	"<", " ", ">", " ", "「", " ", "」", " ", "_", " ", "~", "-",
)

// quotable makes one line of a text that may stand between our quotes.
func quotable(text string, most int) string {
	return ai.Clean(marksOfText.Replace(text), most)
}

// printedValue cleans a printed value; it reports false for one that is no
// value but an order or an address.
func printedValue(text string) (string, bool) {
	text = quotable(sheet.Narrow(text), transcribe.MaxValue)
	return text, !isInstruction(text)
}

// digitRuns are the numbers of a text.
var digitRuns = regexp.MustCompile(`\d+`)

// believable says whether a machine's translation may be shown beside the
// Japanese: a short text in that language, without orders, and without numbers
// that the Japanese does not have.
func believable(text, jp, lang string) bool {
	if text == "" || sheet.IsJapanese(text) || isInstruction(text) || !speaks(text, lang) {
		return false
	}
	have := digitRuns.FindAllString(norm.NFKC.String(jp), -1)
	for _, number := range digitRuns.FindAllString(text, -1) {
		if !slices.Contains(have, number) {
			return false
		}
	}
	return true
}

// speaks says whether a short text can be of a language. In Kiswahili nearly
// every word ends in a vowel; in English few do, and both have small words
// that the other lacks.
func speaks(text, lang string) bool {
	words, vowels, english, swahili := 0, 0, 0, 0
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' }) {
		if word == strings.ToUpper(word) { // ABS, AC, a model code
			continue
		}
		word = strings.ToLower(word)
		words++
		if strings.ContainsRune("aeiou", rune(word[len(word)-1])) {
			vowels++
		}
		switch {
		case slices.Contains(englishWords, word):
			english++
		case slices.Contains(swahiliWords, word):
			swahili++
		}
	}
	if lang == sheet.Swahili {
		return english == 0 && vowels*10 >= words*7 && words > 0
	}
	return swahili == 0 && (english > 0 || vowels*10 <= words*8)
}

// englishWords and swahiliWords are the small words of each language and those
// of the trade that a lazy translation leaves as they are.
var (
	englishWords = []string{
		"the", "of", "and", "is", "are", "on", "in", "at", "with", "to", "for", "from", "has", "have", "no", "not", "by", "be",
		"scratch", "scratches", "dent", "dents", "rust", "noise", "engine", "front", "rear", "door", "side", "small", "some",
		"one", "tire", "tyre", "wheel", "leak", "paint", "inside", "outside", "available", "damage", "three", "more", "good",
	}
	swahiliWords = []string{
		"na", "ya", "wa", "kwa", "ni", "la", "za", "katika", "kwenye", "gari", "ina", "haina", "hakuna", "kuna", "imepasuka",
		"mlango", "injini", "mbele", "nyuma", "kulia", "kushoto", "kidogo", "mikwaruzo", "kutu", "kioo", "bampa", "ndani", "nje",
	}
)
