// Package bill checks a clearing agent's bill against what is owed for a car: on the day of
// the bill, each line has its verdict, on what the range rests, and whom to ask.
package bill

import (
	_ "embed" // for charges.csv
	"slices"
	"strings"
	"unicode"

	"ushuru/pkg/datatable"
	"ushuru/pkg/match/naming"
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

// chargeOf returns a charge by its code.
func chargeOf(code string) charge {
	i := slices.IndexFunc(charges, func(c charge) bool { return c.code == code })
	return charges[i]
}

// letters are what scans confuse with digits.
var letters = strings.NewReplacer("0", "o", "1", "l", "5", "s")

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

// isTotal reports whether a name is that of the sum.
func isTotal(name string) bool {
	said := strings.Join(words(name), " ")
	return slices.ContainsFunc(otherNames, func(n named) bool { return n.kind == "total" && slices.Contains(n.names, said) })
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
