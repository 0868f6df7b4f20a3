package chassis

import (
	_ "embed"
	"strconv"
	"strings"

	"ushuru/pkg/datatable"
)

//go:embed prefixes.csv
var prefixTable string

// era is the span of years in which a prefix was given to new cars.
type era struct{ from, to int }

var prefixes = loadPrefixes(prefixTable)

func loadPrefixes(table string) map[string]era {
	known := map[string]era{}
	for _, cells := range datatable.Lines(table, 4) {
		from, err1 := strconv.Atoi(cells[0])
		to, err2 := strconv.Atoi(cells[1])
		if err1 != nil || err2 != nil {
			panic("chassis: prefixes.csv: " + cells[3])
		}
		for p := range strings.FieldsSeq(cells[3]) {
			known[p] = era{from, to}
		}
	}
	return known
}

// PrefixFits reports whether a car of the given year could carry the prefix,
// with two years of grace for late registration. A year of 0 is unknown and
// fits prefixes of three characters only, which nothing else looks like.
func PrefixFits(prefix string, year int) bool {
	e, ok := prefixes[prefix]
	if !ok {
		return false
	}
	if year == 0 {
		return len(prefix) == 3
	}
	return year >= e.from-1 && year <= e.to+2
}

// Unglue lists the ways to take an emission prefix off a word written without
// hyphen (taazt240 → TA, AZT240), longest prefix first. Real codes begin with
// the same letters (GFC27 is no GF-C27), so take one only when the whole word
// is no known code, the rest is, and PrefixFits the car's year.
func Unglue(code Code) []Code {
	if code.Prefix != "" || code.Frame {
		return nil
	}
	var ways []Code
	for n := 3; n >= 1; n-- {
		if len(code.Code) < n+minCode {
			continue
		}
		prefix, rest := code.Code[:n], code.Code[n:]
		if IsPrefix(prefix) && followsPrefix(prefix, rest) {
			ways = append(ways, Code{Raw: code.Raw, Prefix: prefix, Code: rest, Suffix: code.Suffix})
		}
	}
	return ways
}

// Power is what an emission prefix says drives a car.
type Power string

// What a prefix can say. The empty Power is a prefix that says nothing, as
// those before 2005 do.
const (
	Petrol       Power = "petrol"
	Diesel       Power = "diesel"
	Hybrid       Power = "petrol hybrid" // plug-in hybrids too
	DieselHybrid Power = "diesel hybrid"
	Electric     Power = "electric"
	FuelCell     Power = "fuel cell"
)

// Power reads the emission prefix: the second of three characters is A or L
// for petrol hybrids, B for petrol, C for diesel hybrids and D for diesel; a
// first character Z is a car without exhaust. The scheme is that of 2005 and
// 2018 (kurukura.jp/car-life/20200419).
func (c Code) Power() Power {
	if len(c.Prefix) != 3 {
		return ""
	}
	second := c.Prefix[1]
	if c.Prefix[0] == 'Z' {
		return map[byte]Power{'A': Electric, 'B': FuelCell}[second]
	}
	switch second {
	case 'A', 'L':
		return Hybrid
	case 'B':
		return Petrol
	case 'C':
		return DieselHybrid
	case 'D':
		return Diesel
	}
	return ""
}
