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
	"ushuru/pkg/datatable"

	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/transcribe"
)

// A stranger may have drawn the sheet, and a model may repeat what is written on it
// or invent something. The functions below keep out of our texts what an inspector
// does not write.

// links matches URLs, e-mail addresses and handles.
var links = regexp.MustCompile(`(?i)https?:|://|www\.|` +
	`\b[a-z0-9-]+\.(?:com|net|org|info|biz|shop|example|io|me|jp|tz|ke|co|ly|gl)\b|` +
	`[\w.+-]+@[\w-]+\.\w|wa\.me|t\.me|@[a-z]\w{2,}`)

// telephones matches numbers as long as those of telephones and accounts. A
// chassis number or a mileage is shorter.
var telephones = regexp.MustCompile(`\+\s?\d[\d\s()-]{6,}\d|\b\d[\d()-]{8,}\d\b|` +
	`\b0\d{1,4}[- ]\d{1,4}[- ]\d{3,4}\b|\b\d{3}[ -]\d{3}[ -]\d{3,4}\b`)

// instructionTable lists the words by which a text addresses its reader or a model.
//
//go:embed orders.csv
var instructionTable string

// instructions matches the words of instructionTable.
var instructions = sync.OnceValue(func() *regexp.Regexp {
	var words, parts []string
	for _, row := range datatable.Rows(instructionTable) {
		if row[0] == "ja" { // which has no spaces between words
			parts = append(parts, row[1])
		} else {
			words = append(words, row[1])
		}
	}
	return regexp.MustCompile(`(?i)\b(?:` + strings.Join(words, "|") + `)\b|` + strings.Join(parts, "|"))
})

// plates matches Japanese number plates, which are personal data.
var plates = regexp.MustCompile(`\p{Han}{1,4}\s*\d{2,3}\s*\p{Hiragana}\s*[\d・.·-]{2,5}`)

// frameNumbers matches complete chassis numbers in a text.
var frameNumbers = regexp.MustCompile(`\b([A-Z0-9]{2,8}-\d\d)(\d{3,5})\b|\b([A-HJ-NPR-Z0-9]{3})[A-HJ-NPR-Z0-9]{14}\b`)

// masked hides chassis numbers in a text.
func masked(text string) string {
	return frameNumbers.ReplaceAllString(text, "$1$3*****")
}

// isInstruction reports whether a text contains what an inspector does not write:
// an instruction, a link, a telephone number or a number plate.
func isInstruction(text string) bool {
	text = norm.NFKC.String(text)
	return links.MatchString(text) || telephones.MatchString(text) || plates.MatchString(text) || instructions().MatchString(text)
}

// marksOfText replaces characters that have a meaning in Markdown, in HTML or as
// our quotation marks, but not on a sheet.
var marksOfText = strings.NewReplacer(
	"`", "'", "[", "(", "]", ")", "{", "(", "}", ")", "|", "/", "\\", "/",
	"<", " ", ">", " ", "「", " ", "」", " ", "_", " ", "~", "-",
)

// quotable returns a text as one line of at most maxLength characters that can
// stand between our quotation marks.
func quotable(text string, maxLength int) string {
	return ai.Clean(marksOfText.Replace(text), maxLength)
}

// printedValue cleans a printed value. It returns false for an instruction or a
// link in its place.
func printedValue(text string) (string, bool) {
	text = quotable(sheet.Narrow(text), transcribe.MaxValue)
	return text, !isInstruction(text)
}

// digitRuns matches the numbers of a text.
var digitRuns = regexp.MustCompile(`\d+`)

// believable reports whether the model's translation may be shown beside the
// Japanese: a short text in that language, without instructions, and without
// numbers that the Japanese does not have.
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

// speaks reports whether a short text can be in a language. In Kiswahili nearly
// every word ends in a vowel; in English few do, and both have small words
// that the other lacks.
func speaks(text, lang string) bool {
	count, vowels, english, swahili := 0, 0, 0, 0
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' }) {
		if word == strings.ToUpper(word) { // ABS, AC, a model code
			continue
		}
		word = strings.ToLower(word)
		count++
		if strings.ContainsRune("aeiou", rune(word[len(word)-1])) {
			vowels++
		}
		switch {
		case isOf("english", word):
			english++
		case isOf("swahili", word):
			swahili++
		}
	}
	if lang == sheet.Swahili {
		return english == 0 && vowels*10 >= count*7 && count > 0
	}
	return swahili == 0 && (english > 0 || vowels*10 <= count*8)
}

//go:embed words.csv
var wordTable string

// words have the words of the table by their list, each with its value.
var words = sync.OnceValue(func() map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, row := range datatable.Rows(wordTable) {
		if all[row[0]] == nil {
			all[row[0]] = map[string]string{}
		}
		for word := range strings.FieldsSeq(row[2]) {
			all[row[0]][word] = row[1]
		}
	}
	return all
})

// isOf reports whether a word is on a list of the table.
func isOf(list, word string) bool {
	_, is := words()[list][word]
	return is
}
