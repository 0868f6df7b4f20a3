package claim

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/shopspring/decimal"

	"ushuru/pkg/money"
)

// cell is the whole text of a cell, cut into the numbers with their units and the rest. A
// value is read from a cell only when nothing of the cell remains unexplained.
type cell struct {
	numbers []number
	words   []string // neither numbers nor units, as they are written
	marks   string   // the signs between them that can change a number's meaning
	isBad   bool     // a number is masked or grouped as no number is
}

// number is a number of a cell with the unit behind it.
type number struct {
	text string // its digits, with a point before decimals
	unit string // one of the units below, "" for a bare number
	// isGrouped reports one group of three digits behind a point or a comma, which
	// can also be decimals.
	isGrouped bool
	isComma   bool   // its decimals stand behind a comma
	times     string // the word that multiplies it
}

// The units of numbers.
const (
	unitKM    = "km"
	unitMile  = "mile"
	unitCC    = "cc"
	unitLitre = "litre"
	unitOther = "other" // of something else that a cell may say beside its value
)

var unitsByWord = func() map[string]string {
	units := map[string]string{}
	for unit, words := range map[string]string{
		unitKM:    "km kms kilometer kilometers kilometre kilometres kilomita kilometa км километров キロ 公里 千米 كم กม",
		unitMile:  "mi mile miles mls maili миль マイル",
		unitCC:    "cc ccm cm3 cm³ cmc см3 см³",
		unitLitre: "l ltr ltrs lit liter liters litre litres lita л リットル",
		unitOther: "kw ps hp bhp cv ch nm квт лс 馬力 " +
			"cyl cylinder cylinders valve valves v hours hour hrs hr h 時間 часов rpm gears speed",
	} {
		for word := range strings.FieldsSeq(words) {
			units[word] = unit
		}
	}
	return units
}()

// multipliers are the words that multiply the number before them, by powers of ten.
var multipliers = map[string]int32{"k": 3, "thousand": 3, "тыс": 3, "тысяч": 3, "elfu": 3, "千": 3, "万": 4, "萬": 4}

// cut cuts the text of a cell.
func cut(s string) (c cell) {
	s = strings.TrimSpace(Plain(s))
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case isDigit(s[0]):
			s = c.number(s)
		case unicode.IsLetter(r):
			end := wordEnd(s)
			c.words, s = append(c.words, s[:end]), s[end:]
		case strings.ContainsRune("-–—−~～〜+=×*/<>±%&?", r):
			c.marks, s = c.marks+string(r), s[size:]
		default:
			s = s[size:]
		}
	}
	return c
}

func isDigit(b byte) bool { return b-'0' <= 9 }

// wordEnd returns where a word ends: a name such as 1NR-FE or i-VTEC is one word.
func wordEnd(s string) int {
	for i, r := range s {
		next, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
		inside := r == '-' && i > 0 && (unicode.IsLetter(next) || unicode.IsDigit(next))
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '³' && !inside {
			return i
		}
	}
	return len(s)
}

// number cuts a number with its multiplier and unit from the front of a text.
func (c *cell) number(s string) (rest string) {
	n, rest, ok := cutNumber(s)
	if end := wordEnd(rest); ok && end > 0 && rest[0] != '-' {
		if _, _, isUnit := cutUnit(rest); !isUnit && strings.ContainsFunc(rest[:end], unicode.IsLetter) {
			c.words = append(c.words, s[:len(s)-len(rest)+end]) // a name: 1NR-FE
			return rest[end:]
		}
	}
	for range 2 {
		word, after, isUnit := cutUnit(strings.TrimLeft(rest, " "))
		if behind, joined := strings.CutPrefix(rest, "-"); joined && !isUnit { // 4-cylinder
			word, after, isUnit = cutUnit(behind)
		}
		if power := multipliers[word]; power > 0 {
			value, err := money.ParseDecimal(n.text)
			ok = ok && err == nil
			n.text, n.times, rest = value.Shift(power).String(), word, after
			continue
		}
		if isUnit {
			n.unit, rest = unitsByWord[word], after
		}
		break
	}
	c.numbers = append(c.numbers, n)
	c.isBad = c.isBad || !ok
	return rest
}

// cutUnit cuts a unit or a multiplier in lower case from the front of a text.
func cutUnit(s string) (word, rest string, ok bool) {
	end := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && r != '³' && r != '3' })
	if end < 0 {
		end = len(s)
	}
	word = strings.ToLower(s[:end])
	if unitsByWord[word] != "" || multipliers[word] > 0 {
		return word, strings.TrimPrefix(s[end:], "."), true
	}
	for unit := range multipliers { // 万km, where no space stands between
		if after, found := strings.CutPrefix(s, unit); found && len(unit) > 1 && !isASCII(unit) {
			return unit, after, true
		}
	}
	return "", s, false
}

// cutNumber cuts a number from the front of a text: 73120, 73,120, 73.120, 73 120, 73'120,
// 1,490.50, 1.490,50, 1.5. It is none when digits, or signs in place of digits, go on
// behind it.
func cutNumber(s string) (n number, rest string, ok bool) {
	end := digitsEnd(s)
	text, groups := s[:end], 0
	mark, size := groupMark(s[end:])
	for size > 0 && len(text) <= 3+3*groups && digitsEnd(s[end+size:]) == 3 {
		text, groups, end = text+s[end+size:end+size+3], groups+1, end+size+3
		if next, _ := groupMark(s[end:]); next != mark {
			break
		}
	}
	n.isGrouped = groups == 1 && (mark == '.' || mark == ',')
	rest = s[end:]
	if groups == 0 || !strings.HasPrefix(rest, string(mark)) {
		decimals := decimalsAt(rest)
		n.isComma = decimals != "" && rest[0] == ',' && groups == 0
		if decimals != "" {
			text, rest = text+"."+decimals, rest[1+len(decimals):]
		}
	}
	if whole := strings.TrimLeft(text, "0"); whole == "" || whole[0] == '.' {
		text = "0" + whole
	} else {
		text = whole
	}
	n.text = text
	return n, rest, !goesOn(rest)
}

// ParseNumber returns a text that is a number and nothing else, with a point before decimals;
// isGrouped reports one group of three digits behind a point or a comma, which can also be
// decimals.
func ParseNumber(s string) (number string, isGrouped, ok bool) {
	if s = strings.TrimSpace(Plain(s)); s == "" || !isDigit(s[0]) {
		return "", false, false
	}
	n, rest, ok := cutNumber(s)
	return n.text, n.isGrouped, ok && rest == ""
}

// digitsEnd returns where the digits at the front of a text end.
func digitsEnd(s string) int {
	end := 0
	for end < len(s) && isDigit(s[end]) {
		end++
	}
	return end
}

// groupMark returns the mark of thousands at the front of a text.
func groupMark(s string) (mark rune, size int) {
	mark, size = utf8.DecodeRuneInString(s)
	if !strings.ContainsRune(",.'’ ", mark) || size == 0 {
		return 0, 0
	}
	return mark, size
}

// decimalsAt returns the decimals behind the point or comma at the front of a text, "" for
// none: behind a comma at most two, and no further mark.
func decimalsAt(s string) string {
	if s == "" || s[0] != '.' && s[0] != ',' {
		return ""
	}
	end := 1 + digitsEnd(s[1:])
	if s[0] == ',' && (end > 3 || end < len(s) && s[end] == ',') {
		return ""
	}
	return s[1:end]
}

// goesOn reports that a number goes on in a way that no number does: 1,50,000 or 7x,xxx.
func goesOn(rest string) bool {
	if len(rest) < 2 {
		return false
	}
	switch rest[0] {
	case ',', '.', '\'':
		return isDigit(rest[1])
	case 'x', 'X', '*':
		return isDigit(rest[1]) || strings.ContainsRune("xX*,.", rune(rest[1]))
	}
	return false
}

// only returns the one number of a unit, however often it is said; ok is false when there
// are several, or it is not whole.
func (c *cell) only(unit string) (value decimal.Decimal, found, ok bool) {
	ok = true
	for _, n := range c.numbers {
		if n.unit != unit {
			continue
		}
		own, err := money.ParseDecimal(n.decimal())
		ok = ok && err == nil && (!found || own.Equal(value))
		value, found = own, true
	}
	return value, found, ok
}

// decimal returns the number as its unit means it: 1.498 litres, and 1,498 of anything else.
func (n number) decimal() string {
	if n.unit == unitLitre && n.isGrouped && len(n.text) == 4 {
		return n.text[:1] + "." + n.text[1:]
	}
	return n.text
}

// isOpen reports a sign that makes more than one value of the numbers, or none.
func (c *cell) isOpen(between string) bool {
	return c.isBad || len(c.numbers) > 1 && strings.ContainsAny(c.marks, between) || strings.ContainsAny(c.marks, "~～〜+=×<>±?")
}

// hasOnly reports that all words of a cell are known.
func (c *cell) hasOnly(isKnown func(word string) bool) bool {
	for _, word := range c.words {
		if !isKnown(word) {
			return false
		}
	}
	return true
}
