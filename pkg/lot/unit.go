package lot

import (
	_ "embed" // units.csv
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"ushuru/pkg/datatable"

	"golang.org/x/text/unicode/norm"
)

// unit is what a text says of the amounts that it names.
type unit struct {
	currency string // ISO 4217; "" when the text does not say
	shift    int32  // the power of ten by which amounts are written smaller
	scaled   bool   // the text names that power
}

// IsZero reports whether the text says nothing.
func (u unit) IsZero() bool { return u == unit{} }

// String writes a unit as a name of a column may have it: JPY, 1000 JPY, USD.
func (u unit) String() string {
	if u.shift == 0 {
		return u.currency
	}
	return strings.TrimSpace("1" + strings.Repeat("0", int(u.shift)) + " " + u.currency)
}

// with returns a unit completed by another one: its currency where this has none, and its
// power of ten where both are of one currency.
func (u unit) with(other unit) unit {
	same := u.currency == "" || other.currency == "" || u.currency == other.currency
	if !u.scaled && other.scaled && same {
		u.shift, u.scaled = other.shift, true
	}
	if u.currency == "" {
		u.currency = other.currency
	}
	return u
}

// unitWord is a way to write a currency or a power of ten, in capitals.
type unitWord struct {
	form     *regexp.Regexp
	contains string // in every text that the form matches; it is looked for first
	currency string
	shift    int32
	number   bool // digits, which may be an amount as well
	japanese bool // a numeral that stands for yen when no currency is named
}

// number returns the form of a power of ten in digits: x1000, 1,000.
func number(form string) string {
	return `(?:^|[^\d.,])((?:[X×*]\s?)?` + form + `)(?:[^\d.,]|[.,]?$)`
}

//go:embed units.csv
var unitTable string

// unitWords are all forms, in the order in which they are tried.
var unitWords = func() (words []unitWord) {
	for _, row := range datatable.Lines(unitTable, 4) {
		word := unitWord{currency: row[0], number: row[2] == "number", japanese: row[2] == "japanese"}
		form := row[3]
		if word.number {
			form = number(form)
		}
		if row[1] != "" {
			shift, err := strconv.ParseInt(row[1], 10, 32)
			if err != nil {
				panic("lot: units.csv: " + row[1]) // embedded: only a broken build gets here
			}
			word.shift = int32(shift)
		}
		word.form = regexp.MustCompile(form)
		if parsed, err := syntax.Parse(form, syntax.Perl); err == nil {
			word.contains = literalIn(parsed)
		}
		words = append(words, word)
	}
	return words
}()

// literalIn returns the longest text that every match of an expression contains.
func literalIn(e *syntax.Regexp) (longest string) {
	switch e.Op {
	case syntax.OpLiteral:
		return string(e.Rune)
	case syntax.OpConcat, syntax.OpCapture:
		for _, part := range e.Sub {
			if text := literalIn(part); len(text) > len(longest) {
				longest = text
			}
		}
	default: // it may match another text
	}
	return longest
}

// Forms that are spaced out before units are looked for: startPriceJPY, 1000YEN, KJPY, JPYK.
var (
	camel       = regexp.MustCompile(`(\p{Ll})(\p{Lu})`)
	besideDigit = regexp.MustCompile(`(\d)(\p{L})|(\p{L})(\d)`)
	dashes      = strings.NewReplacer("_", " ", "-", " ", `\`, "¥")
	joinedK     = regexp.MustCompile(`\bK(JPY|YEN|USD|¥|\$|US\$)|(JPY|YEN|USD|¥|\$)K\b`)
)

// spaced returns a text in capitals in which units stand as words.
func spaced(text string) string {
	text = camel.ReplaceAllString(norm.NFKC.String(text), "$1 $2")
	text = besideDigit.ReplaceAllString(dashes.Replace(strings.ToUpper(text)), "$1$3 $2$4")
	return joinedK.ReplaceAllString(text, "$1$2 K ")
}

// unitPart is a word of a unit that was found in a text.
type unitPart struct {
	unitWord

	told bool // a power of ten: the words beside it show that it is no amount, and no other word
}

// What stands beside a power of ten in a sentence. 30万円 and "a deposit of ¥100,000" are
// amounts, 千葉 is a town.
var (
	endsInNumber = regexp.MustCompile(`[\d一二三四五六七八九十数]\s*$`)
	namesScale   = regexp.MustCompile(`(?:\b(?:IN|KWA|X|UNITS?|KIPIMO)|[×*]|単位)\s*[:=(]*\s*$`)
	endsInMoney  = regexp.MustCompile(`(?:JPY|YEN|YENI|USD|DOLA|円|ドル|[¥$])\s*[:=(]*\s*$`)
	opens        = regexp.MustCompile(`[(\[]\s*$`)
	closes       = regexp.MustCompile(`^\s*[)\]]`)
	beginsMoney  = regexp.MustCompile(`^\s*(?:(?:OF|YA|ZA) )?\s*(?:JPY|JAPANESE|YEN|USD|US ?\$|US DOL|DOL|円|ドル|[¥$]|[ИЙ]ЕН)`)
)

// isTold reports whether the words before and behind a power of ten show that it is a unit of
// prices.
func (w unitWord) isTold(before, found, behind string) bool {
	switch {
	case endsInNumber.MatchString(before):
		return false
	case namesScale.MatchString(before), strings.ContainsAny(found[:1], "X*"), strings.HasPrefix(found, "×"):
		return true
	case opens.MatchString(before):
		return closes.MatchString(behind) || beginsMoney.MatchString(behind)
	case w.number:
		return false
	}
	return endsInMoney.MatchString(before) || beginsMoney.MatchString(behind) ||
		strings.HasPrefix(found, "MAN") || strings.HasPrefix(found, "SEN")
}

// partsOf cuts all words of units out of a spaced text.
func partsOf(text string) (rest string, parts []unitPart) {
	for _, word := range unitWords {
		for range 4 {
			if !strings.Contains(text, word.contains) {
				break
			}
			at := word.form.FindStringSubmatchIndex(text)
			if at == nil {
				break
			}
			at = at[len(at)-2:] // the group, or the whole
			before, found, behind := text[:at[0]], text[at[0]:at[1]], text[at[1]:]
			parts = append(parts, unitPart{word, word.currency == "" && word.isTold(before, found, behind)})
			if strings.HasPrefix(found, "MAN") || strings.HasPrefix(found, "SEN") { // man-yen, sen-en
				parts = append(parts, unitPart{unitWord: unitWord{currency: JPY}})
			}
			text = text[:at[0]] + " " + text[at[1]:]
		}
	}
	return text, parts
}

// unitOf returns what the parts say together. Parts that contradict each other say nothing.
func unitOf(parts []unitPart) (u unit, ok bool) {
	japanese := false
	for _, p := range parts {
		switch {
		case p.currency != "":
			if u.currency != "" && u.currency != p.currency {
				return unit{}, false
			}
			u.currency = p.currency
		case u.scaled && u.shift != p.shift:
			return unit{}, false
		default:
			u.shift, u.scaled, japanese = p.shift, true, japanese || p.japanese
		}
	}
	if u.currency == "" && japanese {
		u.currency = JPY
	}
	return u, true
}

// besideUnit are words that stand beside a unit and add nothing to a name.
var besideUnit = regexp.MustCompile(`\b(?:IN|OF|X|UNITS?|KWA|YA|ZA|EN|В|PER)\b|[×*]|単位|\bKIPIMO\b|\bCURRENCY\b|\bSARAFU\b|通貨`)

// cutUnit returns the name of a column without its unit.
func cutUnit(name string) (rest string, u unit) {
	upper := strings.ToUpper(norm.NFKC.String(name))
	mayHave := func(w unitWord) bool { return strings.Contains(upper, w.contains) }
	if !slices.ContainsFunc(unitWords, mayHave) && !strings.Contains(name, `\`) {
		return name, unit{} // nearly every name
	}
	rest, parts := partsOf(spaced(name))
	u, ok := unitOf(parts)
	if len(parts) == 0 || !ok {
		return name, unit{}
	}
	return besideUnit.ReplaceAllString(rest, " "), u
}

// wholeUnit returns the unit that a text is: "千円", "(JPY x 1,000)", "in thousands".
func wholeUnit(text string) (u unit, ok bool) {
	rest, u := cutUnit(text)
	if u.IsZero() || key(rest) != "" {
		return unit{}, false
	}
	return u, true
}

// IsUnit reports whether a cell below the names of columns says only in which unit they are.
func IsUnit(text string) bool {
	_, ok := wholeUnit(text)
	return ok && !isNumber.MatchString(norm.NFKC.String(text)) || otherUnit.MatchString(norm.NFKC.String(text))
}

// isNumber are cells of rows, although 1000 may be a unit too.
var isNumber = regexp.MustCompile(`^[\d,. ]+$`)

// otherUnit are the units of what is not money.
var otherUnit = regexp.MustCompile(`(?i)^[(\[]?(?:千|万)?(?:km|キロ|cc|l|m3|年|年月|yyyy(?:/mm)?|kg|点)[)\]]?$`)

// saysUnits are words that make a sentence one about units.
var saysUnits = regexp.MustCompile(`\b(?:PRICES?|AMOUNTS?|FIGURES?|BIDS?|BEI|UNITS?|CURRENCY|SARAFU|KIPIMO)\b|価格|金額|単位|通貨|ЦЕН`)

// unitAbove returns the unit that a text above the names of columns gives them: the name of
// a group, "Price (JPY 千円)", or a sentence, "All prices in thousands of yen". A sentence
// may also name an amount, such as a deposit, which is no unit.
func unitAbove(text string) unit {
	if u, ok := wholeUnit(text); ok {
		return u
	}
	if rest, u := cutUnit(text); !u.IsZero() && isPrice(fieldOf(rest)) {
		return u
	}
	upper := spaced(text)
	_, parts := partsOf(upper)
	parts = slices.DeleteFunc(parts, func(p unitPart) bool { return p.currency == "" && !p.told })
	u, ok := unitOf(parts)
	if !ok || !saysUnits.MatchString(upper) && (u.currency == "" || !u.scaled) {
		return unit{}
	}
	return u
}
