package money

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/shopspring/decimal"
)

// Said is a sum as a person types or says it.
type Said struct {
	Value    decimal.Decimal
	Currency string // USD, TZS or JPY; "" when none is named
}

// maxSaid is more than any sum about a car.
var maxSaid = decimal.New(1, 12)

var (
	// words are the pieces of a sum: a number whose thousands are separated by one sign, a
	// number with a fraction, a word, the sign for "and no cents", any other sign.
	words = regexp.MustCompile(`\d{1,3}(?:,\d{3})+(?:\.\d{1,2})?|\d{1,3}(?:\.\d{3})+(?:,\d{1,2})?|` +
		`\d{1,3}(?:[ '’]\d{3})+(?:[.,]\d{1,2})?|\d+(?:\.\d+|,\d{1,2})?|(?i:us)?\$|¥|\p{L}+|/[=-]|\S`)
	// apart is a space between two numbers, of which the second has its thousands separated
	// otherwise: 2 450,000.
	apart   = regexp.MustCompile(`(\d) (\d{1,3}[,.]\d{3})`)
	grouped = regexp.MustCompile(`^\d{1,3}([ ,.'’])\d{3}`)

	currencies = map[string]string{
		"usd": "USD", "us$": "USD", "$": "USD", "us": "USD", "dollar": "USD", "dollars": "USD", "dola": "USD",
		"tzs": "TZS", "tsh": "TZS", "tshs": "TZS", "sh": "TZS", "shs": "TZS", "shilingi": "TZS", "shilling": "TZS",
		"shillings": "TZS", "/=": "TZS", "/-": "TZS",
		"jpy": "JPY", "yen": "JPY", "yeni": "JPY", "¥": "JPY",
	}
	scales = map[string]decimal.Decimal{
		"k": decimal.New(1, 3), "elfu": decimal.New(1, 3), "thousand": decimal.New(1, 3),
		"laki": decimal.New(1, 5), "lakh": decimal.New(1, 5),
		"m": decimal.New(1, 6), "mil": decimal.New(1, 6), "mln": decimal.New(1, 6), "milioni": decimal.New(1, 6),
		"million": decimal.New(1, 6), "millions": decimal.New(1, 6),
		"bilioni": decimal.New(1, 9), "billion": decimal.New(1, 9), "bn": decimal.New(1, 9),
	}
	numerals = map[string]int64{
		"moja": 1, "mbili": 2, "tatu": 3, "nne": 4, "tano": 5, "sita": 6, "saba": 7, "nane": 8, "tisa": 9, "kumi": 10,
		"ishirini": 20, "thelathini": 30, "arobaini": 40, "arubaini": 40, "hamsini": 50, "sitini": 60, "sabini": 70,
		"themanini": 80, "tisini": 90,
		"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
		"eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17,
		"eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60,
		"seventy": 70, "eighty": 80, "ninety": 90,
	}
	fractions = map[string]decimal.Decimal{
		"nusu": decimal.New(5, -1), "half": decimal.New(5, -1), "robo": decimal.New(25, -2), "quarter": decimal.New(25, -2),
	}
	joins   = []string{"na", "and", ","}
	fillers = []string{"about", "around", "kama", "takriban", "tu", "only", ".", ":", "za", "ya", "marekani"}
)

// ParseSaid reads a sum as people type or say it: "30,000,000", "30.000.000/=", "30m", "milioni
// 30 na nusu", "laki tano", "half a million", "USD 5,000". A text that can mean two sums, or has
// anything else in it, is ErrInvalid.
func ParseSaid(text string) (Said, error) {
	if len(text) <= 10*maxDecimalText {
		if said, ok := sumOf(words.FindAllString(separated(text), -1)); ok {
			return said, nil
		}
	}
	return Said{}, fmt.Errorf("%w: %.40q", ErrInvalid, text)
}

// LastSaid returns the last sum in a text, and between which bytes it stands; false without one.
func LastSaid(text string) (said Said, from, to int, ok bool) {
	text = separated(text)
	places, tokens := words.FindAllStringIndex(text, -1), words.FindAllString(text, -1)
	const longest = 12 // words of a sum
	for end := len(tokens); end > 0; end-- {
		for begin := max(0, end-longest); begin < end; begin++ {
			if !canBegin(strings.ToLower(tokens[begin])) {
				continue
			}
			if said, ok = sumOf(tokens[begin:end]); ok {
				return said, places[begin][0], places[end-1][1], true
			}
		}
	}
	return Said{}, 0, 0, false
}

// canBegin reports whether a sum can begin with a word.
func canBegin(word string) bool {
	_, isNumeral := numerals[word]
	_, isScale := scales[word]
	_, isFraction := fractions[word]
	return isNumeral || isScale || isFraction || word == "mia" || word[0] >= '0' && word[0] <= '9'
}

// separated returns a text of the same length, in which a space between two numbers is a line feed.
func separated(text string) string { return apart.ReplaceAllString(text, "$1\n$2") }

// sumOf returns the sum that all of some words are.
func sumOf(tokens []string) (said Said, ok bool) {
	var s saying
	for _, token := range tokens {
		word := strings.ToLower(token)
		currency, isCurrency := currencies[word]
		switch {
		case isCurrency && said.Currency != "" && said.Currency != currency:
			return Said{}, false
		case isCurrency:
			said.Currency = currency
		case !slices.Contains(fillers, word):
			s.words = append(s.words, word)
		}
	}
	said.Value, ok = s.sum()
	return said, ok && said.Value.IsPositive() && said.Value.LessThan(maxSaid)
}

// saying is a sum of which some words are read.
type saying struct{ words []string }

// next returns the word that is n after the next one; "" at the end.
func (s *saying) next(n int) string {
	if n < len(s.words) {
		return s.words[n]
	}
	return ""
}

// sum reads all terms, each of which is smaller than the scale of the one before: milioni 2 na
// laki 3.
func (s *saying) sum() (sum decimal.Decimal, ok bool) {
	limit := maxSaid
	for first := true; len(s.words) > 0; first = false {
		if !first && slices.Contains(joins, s.next(0)) {
			s.words = s.words[1:]
		}
		amount, scale, ok := s.term()
		smallest := scale
		if scale.IsZero() { // "milioni 2 na 5" may be five of anything
			smallest = amount
		}
		if !ok || !amount.LessThan(limit) || !first && smallest.LessThan(scales["k"]) {
			return sum, false
		}
		sum, limit = sum.Add(amount), scale
	}
	return sum, true
}

// term reads one number with its scale on either side, which is zero for a number alone.
func (s *saying) term() (amount, scale decimal.Decimal, ok bool) {
	scale, scaleFirst := scales[s.next(0)]
	if scaleFirst = scaleFirst && len(s.next(0)) > 3; scaleFirst { // "m 3" is no three million
		s.words = s.words[1:]
	}
	spelled := s.next(0)
	count, ok := s.count()
	if !ok {
		return amount, scale, false
	}
	count = count.Add(s.fraction()) // one and a half million
	if !scaleFirst {
		var scaled bool
		if scale, scaled = scales[s.next(0)]; !scaled {
			_, isWord := numerals[spelled]
			return plainNumber(spelled), scale, !isWord && count.Equal(plainNumber(spelled))
		}
		s.words = s.words[1:]
		if part := s.fraction(); !part.IsZero() { // 30 million and a half
			count = count.Add(part)
		}
	}
	if group := grouped.FindStringSubmatch(spelled); group != nil {
		switch {
		case group[1] == "." && strings.Count(spelled, ".") == 1 && !strings.Contains(spelled, ","): // 1.250 million
			count = count.Div(decimal.New(1, 3))
		case !scale.Equal(scales["k"]): // "1,250 million" may have a comma for a point
			return amount, scale, false
		}
	}
	return count.Mul(scale), scale, true
}

// fraction reads "na nusu" or "and a half"; zero without one.
func (s *saying) fraction() decimal.Decimal {
	at := 1
	if s.next(at) == "a" {
		at++
	}
	part, is := fractions[s.next(at)]
	if !is || !slices.Contains(joins, s.next(0)) {
		return decimal.Zero
	}
	s.words = s.words[at+1:]
	return part
}

// count reads a number in digits or in words.
func (s *saying) count() (count decimal.Decimal, ok bool) {
	word := s.next(0)
	if part, is := fractions[word]; is { // nusu milioni, half a million
		s.words = s.words[1:]
		if s.next(0) == "a" {
			s.words = s.words[1:]
		}
		return part, true
	}
	if word != "" && word[0] >= '0' && word[0] <= '9' {
		s.words = s.words[1:]
		return plainNumber(word), true
	}
	var sum int64
	for last := int64(10 * hundred); ; {
		at := 0
		if sum > 0 && slices.Contains(joins[:2], s.next(0)) {
			at = 1
		}
		value, at := s.numeral(at)
		if value == 0 || value >= last || last%10 != 0 {
			return decimal.NewFromInt(sum), sum > 0
		}
		sum, last = sum+value, value
		s.words = s.words[at+1:]
	}
}

const hundred = 100

// numeral returns the numeral at a word, with its hundreds, and its last word; 0 for none.
func (s *saying) numeral(at int) (value int64, last int) {
	value, isNumeral := numerals[s.next(at)]
	switch {
	case s.next(at) == "mia":
		if count := numerals[s.next(at+1)]; count > 0 {
			return hundred * count, at + 1
		}
		return hundred, at
	case isNumeral && s.next(at+1) == "hundred":
		return value * hundred, at + 1
	}
	return value, at
}

// plainNumber returns a number in digits, without what separates its thousands; zero for what is
// none. A single point before three digits separates thousands, because no sum has such cents.
func plainNumber(text string) decimal.Decimal {
	if group := grouped.FindStringSubmatch(text); group != nil {
		text = strings.ReplaceAll(text, group[1], "")
	}
	value, err := ParseDecimal(strings.ReplaceAll(text, ",", "."))
	if err != nil {
		return decimal.Zero
	}
	return value
}
