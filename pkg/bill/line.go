package bill

import (
	_ "embed" // for charges.csv
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/shopspring/decimal"

	"ushuru/pkg/datatable"
	"ushuru/pkg/match/naming"
	"ushuru/pkg/money"
)

// FromText returns the lines of a bill as pasted, and the total that it states; each line
// with an amount is a line of the bill.
func FromText(text string) (lines []Line) {
	for row := range strings.SplitSeq(text, "\n") {
		row = strings.TrimSpace(row)
		if row == "" {
			continue
		}
		amount, ok := amountIn(row)
		name := nameIn(row)
		switch {
		case ok && name != "":
			lines = append(lines, Line{Name: name, Amount: strings.TrimPrefix(row, amount.before), Currency: amount.currency})
		// An amount that cannot be read, or a heading that looks like a charge or the total.
		case !ok && (amount.isThere || len(candidates(row)) > 0 || isTotal(name)):
			lines = append(lines, Line{Name: row})
		}
	}
	return lines
}

// nameIn returns the name before the last amount of a line, or the whole line without one.
func nameIn(row string) string {
	name := row
	if amount, _ := amountIn(row); amount.isThere {
		name = amount.before
	}
	return trimmed(shillings.ReplaceAllString(trimmed(dollar.ReplaceAllString(name, "")), ""))
}

// trimmed returns a name without what parts it from its amount.
func trimmed(name string) string { return strings.TrimRight(strings.TrimSpace(name), " \t:=-.|/") }

// shillings matches the currency between a name and its amount.
var shillings = regexp.MustCompile(`(?i)(?:^|[^a-z])(?:tzs|tshs?|shs?|/=)$`)

// maxLine bounds a text of one line that may have the lines of a bill, in bytes.
const maxLine = 2000

// Lines returns a text with each charge on a line of its own, since a field of one line joins
// them, and whether it is a bill: two lines at least have the name of a charge and an amount.
// One line with more than MaxLines sums is none.
func Lines(text string) (lines string, isBill bool) {
	lines = strings.TrimSpace(text)
	if rest, at := lines, len(lines); !strings.Contains(rest, "\n") && len(rest) <= maxLine {
		lines = ""
		for sums := 0; ; sums++ {
			said, from, to, ok := money.LastSaid(rest[:at])
			if !ok && to == 0 {
				break
			}
			if sums == MaxLines { // each takes time, and no line of a bill may be lost
				return text, false
			}
			// A small number is one of the name, VAT 18 %; one that cannot be read ends its line.
			at = from - len(currencyBefore.FindString(rest[:from]))
			if ok && said.Value.LessThan(leastAmount) || !ok && to-from < len("1000") {
				continue
			}
			lines = rest[from:to] + "\n" + strings.TrimSpace(rest[to:]) + " " + lines
			rest = rest[:from]
		}
		lines = rest + lines
	}
	known := 0
	for _, line := range FromText(lines) {
		if line.Amount != "" && len(candidates(line.Name)) > 0 {
			known++
		}
	}
	return lines, known > 1
}

// leastAmount is less than any charge in shillings.
var leastAmount = decimal.New(1, 3)

// currencyBefore matches the currency before the number that it belongs to.
var currencyBefore = regexp.MustCompile(`(?i)(?:\b(?:tzs|tshs?|shs?|usd|us|dollars?|dola)|(?:us)?\$)[.:]?\s*$`)

// asked is the last amount of a text.
type asked struct {
	value    decimal.Decimal
	currency string // USD or TZS; "" when the text names none
	before   string // what stands before the number
	isThere  bool   // there is a number, whether it can be read or not
}

// amountIn returns the last amount of a text; false without one that can be read, and for one that
// is neither in shillings nor in dollars.
func amountIn(text string) (amount asked, ok bool) {
	said, from, to, ok := money.LastSaid(text)
	before := text[:from]
	currency := said.Currency
	switch {
	case currency != "" || !dollar.MatchString(text):
	case sumInDollars.MatchString(before): // the dollars are of another sum
		currency = "TZS"
	default:
		currency = "USD"
	}
	ok = ok && currency != "JPY" && !foreignBefore.MatchString(before) && !foreignAfter.MatchString(text[to:])
	return asked{said.Value, currency, before, to > 0}, ok
}

var dollar = regexp.MustCompile(`(?i)\busd\b|\$|\bus dollars?\b|\bdola\b`)

// sumInDollars matches dollars that belong to a number; foreign matches other currencies beside one.
var (
	sumInDollars  = regexp.MustCompile(`(?i)(?:\$|\b(?:usd?|dollars?|dola))[.:]?\s*\d|\d\s*(?:\$|(?:usd?|dollars?|dola)\b)`)
	foreign       = `(?:€|£|\b(?:eur|euros?|gbp|pounds?|pauni|kes|kshs?|ugx|ushs?|rwf|zmw|zar|aed|cny|rmb|yuan|inr)\b)`
	foreignBefore = regexp.MustCompile(`(?i)` + foreign + `[.:]?\s*$`)
	foreignAfter  = regexp.MustCompile(`(?i)^\s*` + foreign)
)

// On what the range of a line rests.
const (
	boundLaw       = "law"       // a statutory minimum
	boundTariff    = "tariff"    // a public book
	boundAuthority = "authority" // the authority's own answer for the car
	boundEstimate  = "estimate"  // ours
)

// charge is what a line of a bill can be for.
type charge struct {
	code, issuer, pay, bound string
	names                    []string // as bills write it, in lower case
}

// chargeTable is the table of charges; its head says what it holds.
//
//go:embed charges.csv
var chargeTable string

// charges are all known ones.
var charges = func() (all []charge) {
	for _, row := range datatable.Rows(chargeTable) {
		all = append(all, charge{row[0], row[1], row[2], row[3], strings.Split(row[4], "|")})
	}
	return all
}()

// nameTable is the table of other names; its head says what it holds.
//
//go:embed names.csv
var nameTable string

// named are names that mean some charges.
type named struct {
	kind         string
	names, codes []string
}

// otherNames are the names beside those of the charges.
var otherNames = func() (all []named) {
	for _, row := range datatable.Rows(nameTable) {
		all = append(all, named{row[0], strings.Split(row[1], "|"), strings.Fields(row[2])})
	}
	return all
}()

// chargeOf returns a charge by its code; an empty one for a line that is none.
func chargeOf(code string) (of charge) {
	if i := slices.IndexFunc(charges, func(c charge) bool { return c.code == code }); i >= 0 {
		of = charges[i]
	}
	return of
}

// isTotal reports whether a name is that of the sum.
func isTotal(name string) bool {
	said := strings.Join(words(name), " ")
	return slices.ContainsFunc(otherNames, func(n named) bool { return n.kind == "total" && slices.Contains(n.names, said) })
}

// candidates returns the codes that a name can mean, by the longest known name in it: none
// is unknown, several are ambiguous.
func candidates(name string) []string {
	list, best := words(name), 0
	if codes := decided(list); codes != nil {
		return codes
	}
	var codes []string
	look := func(known string, of ...string) {
		length := len(strings.ReplaceAll(known, " ", ""))
		if length < best || !contains(list, strings.Fields(known)) {
			return
		}
		if length > best {
			best, codes = length, nil
		}
		codes = append(codes, of...)
	}
	var parts []string // that the name mentions by a whole word of its own
	for _, c := range charges {
		for _, known := range c.names {
			look(known, c.code)
			if isPart(c.code) && !slices.Contains(parts, c.code) && standsOut(list, known) {
				parts = append(parts, c.code)
			}
		}
	}
	for _, n := range otherNames {
		for _, known := range n.names {
			if n.kind == "several" {
				look(known, n.codes...)
			}
		}
	}
	if len(parts) == 1 && isOnePart(parts[0], codes, list) {
		return parts // Wharfage, TPA charges
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// decided returns the code that a decisive word names; nil without one.
func decided(words []string) []string {
	isSaid := func(word string) bool { return slices.Contains(words, word) }
	for _, n := range otherNames {
		if n.kind == "decisive" && slices.ContainsFunc(n.names, isSaid) {
			return n.codes
		}
	}
	return nil
}

// isOnePart reports whether a name that mentions a part and its sum means the part alone.
func isOnePart(part string, codes, words []string) bool {
	isOther := func(code string) bool { return code != "port_charges" && code != "import_taxes" && code != part }
	isSeveral := func(word string) bool { return slices.Contains(ofTaxes, word) }
	return !slices.ContainsFunc(codes, isOther) && !slices.ContainsFunc(words, isSeveral)
}

// isPart reports whether a charge is part of a sum that bills name as one.
func isPart(code string) bool {
	return slices.Contains(portParts, code) || slices.Contains(taxParts, code)
}

// standsOut reports a name that is long enough, and that a line contains.
func standsOut(line []string, name string) bool {
	return len(name) >= minPart && contains(line, strings.Fields(name))
}

// minPart is the length of the shortest name by which a part stands out beside its sum.
const minPart = 3

// ofTaxes are words of a sum of taxes, even when it names one of them.
var ofTaxes = []string{"taxes", "duty", "duties", "ushuru"}

// contains reports whether words stand in a name, in any order. A spelling is forgiven by
// one letter in six.
func contains(list, known []string) bool {
	const forgiven = 6
	if len(known) > len(list) {
		return false
	}
	wrong, length := 0, 0
	for _, word := range known {
		nearest := len(word)
		for _, has := range list {
			nearest = min(nearest, naming.Distance(has, letters.Replace(word)))
		}
		wrong, length = wrong+nearest, length+len(word)
	}
	return wrong <= (length+1)/forgiven
}

// words returns the words of a name, without the numbering before it. Three letters
// or more that points part are one word: C.P.F.
func words(name string) []string {
	list := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for len(list) > 1 && strings.IndexFunc(list[0], unicode.IsLetter) < 0 {
		list = list[1:]
	}
	for i, word := range list {
		if strings.IndexFunc(word, unicode.IsLetter) >= 0 {
			list[i] = letters.Replace(word)
		}
	}
	for i := range list {
		end := i
		for end < len(list) && len(list[end]) == 1 && strings.IndexFunc(list[end], unicode.IsLetter) == 0 {
			end++
		}
		if end-i > 2 { //nolint:mnd // D/O stays two
			return append(append(slices.Clone(list[:i]), strings.Join(list[i:end], "")), list[end:]...)
		}
	}
	return list
}

// letters are what scans confuse with digits.
var letters = strings.NewReplacer("0", "o", "1", "l", "5", "s")
