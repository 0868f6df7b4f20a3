package money

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/shopspring/decimal"
)

// Said is a sum as a person types or says it.
type Said struct {
	Value    decimal.Decimal
	Currency string // USD, TZS or JPY; "" when none is named
}

// space matches a space within a number: the plain space and the spaces that do not break a line.
const space = `[ \x{a0}\x{2009}\x{202f}]`

// maxSaid is more than any sum about a car.
var maxSaid = decimal.New(1, 12)

var (
	// digits matches all of a number with what separates its digits; written matches what of it is
	// one number: its thousands are separated by one sign, or not at all, it has cents at most, or
	// the four decimals of a bank's rate. Nothing else is a number, nor is a piece of it.
	digits  = `\.?\d+(?:(?:[.,'’eE]+|` + space + `)\d+)*`
	written = regexp.MustCompile(`^(?:[1-9]\d{0,2}(?:(?:,\d{3})+(?:\.\d{1,2})?|(?:\.\d{3})+(?:,\d{1,2})?|` +
		`(?:(?:` + space + `\d{3})+|(?:['’]\d{3})+)(?:[.,]\d{1,2})?)|(?:0|[1-9]\d*)(?:[.,]\d{1,2})?|0\.\d+|[1-9]\d{3}\.\d{4})$`)
	grouped = regexp.MustCompile(`^[1-9]\d{0,2}(` + space + `|[,.'’])\d{3}(?:\D|$)`)
	// words are the pieces of a sum: a number, a word, the sign for "and no cents", any other sign.
	words = regexp.MustCompile(digits + `|(?i:us)?\$|¥|(?i:m[/.]v\b)|\p{L}+|/[=-]|\S`)

	// spaced are numbers, or the groups of one, with spaces between them.
	spaced = regexp.MustCompile(`\d[\d.,'’]*(?:` + space + `\d[\d.,'’]*)+`)
	gap    = regexp.MustCompile(space)
	// group is the end of a number whose thousands are separated by spaces.
	group = regexp.MustCompile(`^\d{3}(?:` + space + `\d{3})*(?:[.,]\d{1,2})?$`)
	// dates are no numbers: 12/05/2026, 2026-05-12 10:30, 12 Mei 2026, May 12, 2026, May 2026.
	dates = regexp.MustCompile(`(?i)\b(?:` + day + `[/.-]` + monthNumber + `[/.-]` + year + `|` +
		day + `[/-]` + monthNumber + `[/-]\d{2}|` + year + `[/.-]` + monthNumber + `[/.-]` + day + `|` +
		`(?:` + day + `(?:st|nd|rd|th)?[ -])?` + monthName + `\.?[ -](?:` + day + `,? )?` + year +
		`)(?:[ T]\d{1,2}:\d{2}(?::\d{2})?)?\b`)
	day, monthNumber, year = `(?:0?[1-9]|[12]\d|3[01])`, `(?:0?[1-9]|1[0-2])`, `(?:19|20)\d\d`
	monthName              = `(?:jan(?:uary|uari)?|feb(?:ruary|ruari)?|mar(?:ch)?|machi|apr(?:il|ili)?|may|mei|` +
		`june?|juni|july?|julai|aug(?:ust)?|agosti|sept?(?:ember|emba)?|oct(?:ober)?|okt(?:oba)?|` +
		`nov(?:ember|emba)?|dec(?:ember)?|des(?:emba)?)`
	monthAndYear = regexp.MustCompile(`^\p{L}+\.?[ -]\d+$`)
	// beforeCurrency matches a currency to which no number after it belongs.
	beforeCurrency = regexp.MustCompile(`(?i)^(?:(?:us)?\$| */[=-]| *(?:(?:us)?\$|¥|` +
		`(?:usd?|dollars?|dola|tzs|tshs?|shs?|shilingi|shillings?|jpy|yen|yeni)\b)(?:\P{N}*$|\P{N}*\p{L}))`)
	// abbreviation is a letter, or another point, before a point that does not belong to the number
	// behind it: Tsh.500.
	abbreviation = regexp.MustCompile(`([\p{L}.])\.(\d)`)

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
	minuses = []string{"-", "−", "–"}
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

// LastSaid returns the last sum in a text, and between which bytes its number stands; a date and a
// number of percent are none. A last number that is no sum, or only a part of one, is no sum either: ok is
// false, and the bytes are its. They are 0 in a text without a number.
func LastSaid(text string) (said Said, from, to int, ok bool) {
	text = separated(withoutDates(text))
	l := line{text, words.FindAllStringIndex(text, -1)}
	const longest = 12 // words of a sum
	for end := len(l.places); end > 0; end-- {
		if l.isPercent(end - 1) {
			continue
		}
		for begin := max(0, end-longest); begin < end; begin++ {
			if !isCount(l.word(begin)) {
				continue
			}
			var sum []string
			for at := begin; at < end; at++ {
				sum = append(sum, l.word(at))
			}
			if said, ok = sumOf(sum); ok {
				first := l.currency(&said, begin)
				ok = !l.isPart(begin, end) && !l.isNegative(begin) && !l.isNegative(first)
				return said, l.places[begin][0], l.places[end-1][1], ok
			}
		}
		if strings.ContainsAny(l.word(end-1), "0123456789") {
			return Said{}, l.places[end-1][0], l.places[end-1][1], false
		}
	}
	return Said{}, 0, 0, false
}

// withoutDates returns a text of the same length with line feeds in place of its dates. A month and
// what may be its year are no date before a currency: Storage May 2000/=. Zeros, which are no sum,
// stand in their place where a sum is before them, of which the currency may be.
func withoutDates(text string) string {
	plain := []byte(text)
	for _, at := range dates.FindAllStringIndex(text, -1) {
		fill := "\n"
		if after := beforeCurrency.FindString(text[at[1]:]); after != "" && monthAndYear.MatchString(text[at[0]:at[1]]) {
			before, _, _, isSum := LastSaid(text[:at[0]])
			if after[0] != ' ' || !isSum || before.Currency == "" && before.Value.LessThan(scales["k"]) {
				continue
			}
			fill = "0"
		}
		copy(plain[at[0]:], strings.Repeat(fill, at[1]-at[0]))
	}
	return string(plain)
}

// line is a text, and where its words stand.
type line struct {
	text   string
	places [][]int
}

// word returns a word in lower case; "" outside the text.
func (l line) word(at int) string {
	if at < 0 || at >= len(l.places) {
		return ""
	}
	return strings.ToLower(l.text[l.places[at][0]:l.places[at][1]])
}

// touches reports whether no space stands between a word and the one before.
func (l line) touches(at int) bool { return at > 0 && l.places[at-1][1] == l.places[at][0] }

// isPercent reports whether a word is a number of percent.
func (l line) isPercent(at int) bool {
	next := l.word(at + 1)
	return slices.Contains([]string{"%", "percent", "pct"}, next) || next == "per" && l.word(at+2) == "cent" ||
		l.word(at-1) == "asilimia"
}

// currency sets the currency before a sum that names none after it, and returns where both begin.
func (l line) currency(said *Said, begin int) (first int) {
	at := begin - 1
	for slices.Contains(fillers, l.word(at)) {
		at--
	}
	currency, is := currencies[l.word(at)]
	switch {
	case !is:
		return begin
	case said.Currency == "":
		said.Currency = currency
	}
	return at
}

// isPart reports whether the words on either side of a sum belong to it, though they cannot be
// read together: milioni 2 na 5, 1,250 million.
func (l line) isPart(begin, end int) bool {
	before, after := l.word(begin-1), l.word(end)
	_, beforeScale := scales[after]
	_, afterScale := scales[before]
	return beforeScale || afterScale && len(before) > 3 ||
		slices.Contains(joins[:2], before) && isCount(l.word(begin-2)) ||
		slices.Contains(joins[:2], after) && isCount(l.word(end+1))
}

// isNegative reports whether a minus stands directly before a word. The dash between the name of a
// charge and its amount is none: Wharfage-450,000.
func (l line) isNegative(at int) bool {
	if !l.touches(at) || !slices.Contains(minuses, l.word(at-1)) {
		return false
	}
	before, _ := utf8.DecodeRuneInString(l.word(at - 2))
	_, isCurrency := currencies[l.word(at-2)]
	return isCurrency || !l.touches(at-1) || !unicode.IsLetter(before)
}

// isCount reports whether a word is a number or a part of one, with which a sum can begin.
func isCount(word string) bool {
	_, isNumeral := numerals[word]
	_, isScale := scales[word]
	_, isFraction := fractions[word]
	return isNumeral || isScale || isFraction || word == "mia" || word != "" && word[0] >= '0' && word[0] <= '9'
}

// separated returns a text of the same length, in which line feeds stand between two numbers, and
// in place of the point of an abbreviation before a number.
func separated(text string) string {
	return spaced.ReplaceAllStringFunc(abbreviation.ReplaceAllString(text, "$1\n$2"), apart)
}

// apart returns numbers with line feeds in place of the spaces between them. The last number is the
// longest that can be; what may be the groups of a wrong one stays together: 2450 567.
func apart(numbers string) string {
	if written.MatchString(numbers) {
		return numbers
	}
	for _, between := range gap.FindAllStringIndex(numbers, -1) {
		before, last := numbers[:between[0]], numbers[between[1]:]
		if !written.MatchString(last) {
			continue
		}
		if group.MatchString(last) && !strings.ContainsAny(before, ".,'’") && len(before) > 3 { //nolint:mnd // digits of a group
			return numbers
		}
		return apart(before) + strings.Repeat("\n", between[1]-between[0]) + last
	}
	return numbers
}

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
	word := s.next(0)
	scale, scaleFirst := scales[word]
	if scaleFirst = scaleFirst && len(word) > 3; scaleFirst { // "m 3" is no three million
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
		word = s.next(0)
		if scale, scaled = scales[word]; !scaled {
			_, isWord := numerals[spelled]
			return plainNumber(spelled), scale, !isWord && count.Equal(plainNumber(spelled))
		}
		s.words = s.words[1:]
		if part := s.fraction(); !part.IsZero() { // 30 million and a half
			count = count.Add(part)
		}
	}
	count, ok = scalable(count, spelled, word)
	return count.Mul(scale), scale, ok
}

// scalable returns how many of a scale a number is; false for one that may be the sum itself.
func scalable(count decimal.Decimal, spelled, scale string) (decimal.Decimal, bool) {
	if separator := grouped.FindStringSubmatch(spelled); separator != nil {
		onePoint := strings.Count(spelled, ".") == 1 && !strings.Contains(spelled, ",")
		switch {
		case onePoint && separator[1] == "." && !scales[scale].Equal(scales["k"]): // 1.250 million
			count = count.Div(decimal.New(1, 3))
		case scale != "k" || onePoint: // "1,250 million" may have a comma for a point
			return count, false
		}
	}
	return count, scale == "k" || count.LessThan(decimal.New(1, 4)) // elfu 50000
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
		count = plainNumber(word)
		return count, count.IsPositive()
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
	if !written.MatchString(text) {
		return decimal.Zero
	}
	if separator := grouped.FindStringSubmatch(text); separator != nil {
		text = gap.ReplaceAllString(strings.ReplaceAll(text, separator[1], ""), "")
	}
	value, err := ParseDecimal(strings.ReplaceAll(text, ",", "."))
	if err != nil {
		return decimal.Zero
	}
	return value
}
