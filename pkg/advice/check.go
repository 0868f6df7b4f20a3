package advice

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// The reasons not to use the text of a model.
var (
	errWinner      = errors.New("advice: the text recommends another car than the verdict")
	errLink        = errors.New("advice: the text contains a link or markup")
	errLanguage    = errors.New("advice: the text is not in the requested language")
	errShort       = errors.New("advice: the text is too short")
	errNumberWords = errors.New("advice: the text contains a number in words")
)

var (
	// amounts are amounts as people say them, in both languages.
	amounts = regexp.MustCompile(`(?:TSh|USD) (?:milioni )?\d+(?:[.,]\d+)*(?: million\b)?`)
	numbers = regexp.MustCompile(`\d[\d.,]*`)
	// linkOrMarkup is what no advice needs: a link, an address, a long number as of
	// a telephone, or markup.
	linkOrMarkup = regexp.MustCompile("(?i)://|www\\.|@|\\b[a-z0-9-]+\\.(?:com|net|org|co|tz|jp|io|info|ru)\\b|" +
		"[<>\\[\\]{}`#*_|]|^\\s*[-+]\\s")
	// numberWords are amounts that no comparison of digits would find.
	numberWords = regexp.MustCompile(`(?i)\b(?:hundreds?|thousands?|millions?|billions?|dozens?|` +
		`half|double|twice|percent|per cent|` +
		`mia|elfu|laki|milioni|bilioni|nusu|mara mbili|asilimia|` +
		`(?:three|four|five|six|seven|eight|nine|ten|eleven|twelve|` +
		`twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)|` +
		`(?:tatu|nne|tano|sita|saba|nane|tisa|kumi|` +
		`ishirini|thelathini|arobaini|hamsini|sitini|sabini|themanini|tisini))\b|[%％]`)
	// recommending is where a sentence recommends.
	recommending = regexp.MustCompile(`(?i)\b(?:winner|wins?|better|best|recommend(?:s|ed)?|` +
		`choose|pick|buy|advice|advise|go for|` +
		`mshindi|limeshinda|bora|chagua|nunua|ushauri|tunashauri|tunapendekeza|pendekezo|linapendekezwa)\b`)
	carNumber = regexp.MustCompile(`(?i)\b(?:car|gari(?: la)?) ?([12])\b`)
	// otherNames are names of a car that are not its number.
	otherNames = regexp.MustCompile(`(?i)\b(?:first|second|former|latter|other|kwanza|pili|lingine|jingine)\b`)
	sentence   = regexp.MustCompile(`[.!?]+(?:\s+|$)`)
)

// checkText returns an error when the text contains something that the model
// invented, as far as a program can find it.
func checkText(answer *aiText, v vehicle.Verdict, p Pair, lang string) error {
	text := answer.Text
	switch {
	case answer.Winner != winnerWord(v):
		return errWinner
	case len(strings.Fields(text)) < 6:
		return errShort
	case linkOrMarkup.MatchString(text):
		return errLink
	case numberWords.MatchString(amounts.ReplaceAllString(text, "")):
		return errNumberWords
	case !inLanguage(text, lang):
		return errLanguage
	}
	if err := checkNumbers(text, v, p); err != nil {
		return err
	}
	return checkWinner(text, v, p)
}

// checkNumbers returns an error when an amount or a number of the text was not given.
func checkNumbers(text string, v vehicle.Verdict, p Pair) error {
	input := inputText(v, p)
	given := amounts.FindAllString(input, -1)
	for _, amount := range amounts.FindAllString(text, -1) {
		if !slices.Contains(given, amount) {
			return fmt.Errorf("advice: the amount %s in the text was not given", amount)
		}
	}
	given = numbersOf(amounts.ReplaceAllString(input, ""))
	for _, n := range numbersOf(amounts.ReplaceAllString(text, "")) {
		if !slices.Contains(given, n) {
			return fmt.Errorf("advice: the number %s in the text was not given", n)
		}
	}
	return nil
}

// inputText returns all that the model was given, in one text, and the numbers of
// the cars.
func inputText(v vehicle.Verdict, p Pair) string {
	var b strings.Builder
	for _, lang := range []string{message.English, message.Swahili} {
		for _, table := range newQuestion(v, p, lang).Data {
			for _, row := range table.Rows {
				for _, field := range row {
					b.WriteString(field.Text + "\n")
				}
			}
		}
	}
	return b.String() + " 1 2 "
}

// numbersOf returns the numbers of a text as they are written, without the
// punctuation after them.
func numbersOf(text string) (found []string) {
	for _, n := range numbers.FindAllString(text, -1) {
		found = append(found, strings.TrimRight(n, ".,"))
	}
	return found
}

// checkWinner returns an error when a sentence that recommends does not begin with
// the winner's number, or recommends one car although there is no winner.
func checkWinner(text string, v vehicle.Verdict, p Pair) error {
	for _, s := range sentence.Split(text, -1) {
		if !recommending.MatchString(s) {
			continue
		}
		named := carNumber.FindAllStringSubmatch(s, -1)
		switch {
		case otherNames.MatchString(s):
			return errWinner
		case v.Winner == nil && len(named) == 1:
			return errWinner
		case v.Winner != nil && (len(named) == 0 || named[0][1] != number(*v.Winner)):
			return errWinner
		}
		for _, side := range p.sides() {
			model, _, _ := strings.Cut(side.estimate.Matched.ModelBody, " - ")
			isNamed := model != "" && strings.Contains(strings.ToUpper(s), strings.ToUpper(model))
			if isNamed && (v.Winner == nil || side.number != *v.Winner) {
				return errWinner
			}
		}
	}
	return nil
}

// The commonest words that carry no meaning of their own.
var stopWords = map[string][]string{
	message.English: strings.Fields("the of and is it to in for than that with costs on by at this its you"),
	message.Swahili: strings.Fields("na ya wa kwa ni la za hadi kuliko lina katika cha pia hili gari yake kama"),
}

// inLanguage compares the shares of stop words, and refuses other scripts.
func inLanguage(text, lang string) bool {
	own, other := 0, 0
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' }) {
		for of, words := range stopWords {
			if !slices.Contains(words, word) {
				continue
			}
			if of == lang {
				own++
			} else {
				other++
			}
		}
	}
	for _, r := range text {
		if r > 0x24F && !strings.ContainsRune("–—’‘“”…", r) {
			return false
		}
	}
	return own >= 2 && own > 3*other
}

// escapeProse makes one literal paragraph of a checked text.
func escapeProse(text string) string {
	return strings.NewReplacer(`\`, `\\`, "&", `\&`, "~", `\~`, "!", `\!`, "(", `\(`, ")", `\)`, "=", `\=`, "$", `\$`, "^", `\^`).
		Replace(strings.Join(strings.Fields(text), " "))
}
