package evaluate

import (
	"regexp"
	"strconv"
	"strings"

	"ushuru/pkg/chassis"
)

var (
	westernYear = regexp.MustCompile(`(?:^|\D)((?:19|20)\d\d)(?:(?:0[1-9]|1[0-2])(?:[0-3]\d)?)?(?:\D|$)`)
	eraYear     = regexp.MustCompile(`(昭和|平成|令和|\b[SHR])\.?\s*(\d{1,2}|元)`)
	litres      = regexp.MustCompile(`(?:^|[^\d.])(\d{1,2}\.\d{1,2})\s*(?:L|ℓ|LITRE|LITER|リッター|$)`)
	powerUnit   = regexp.MustCompile(`\d\s*(?:KWH?|PS|HP|BHP)\b`)
	cubic       = regexp.MustCompile(`(?:^|\D)(\d{3,5})(?:\D|$)`)
)

var sizeMarks = strings.NewReplacer(",", "", " CC", "CC")

// eraStart is the year before the first of a Japanese era.
var eraStart = map[string]int{"昭和": 1925, "S": 1925, "平成": 1988, "H": 1988, "令和": 2018, "R": 2018}

// readYear reads the year of a cell: 2017, 2017/7, 201707, 平成29年, H29, in
// any width of digits. It is 0 when there is none.
func readYear(cell string) int {
	text := chassis.Normalise(cell)
	if found := westernYear.FindStringSubmatch(text); found != nil {
		year, _ := strconv.Atoi(found[1])
		return year
	}
	if found := eraYear.FindStringSubmatch(text); found != nil {
		year := 1
		if found[2] != "元" {
			year, _ = strconv.Atoi(found[2])
		}
		return eraStart[found[1]] + year
	}
	return 0
}

// readCC reads the engine size of a cell in cc: 1490, 1,490cc, 1.5L. It is 0
// when there is none, as in the cell of an electric car that gives its power
// (110 kW).
func readCC(cell string) int {
	text := chassis.Normalise(cell)
	if found := litres.FindStringSubmatch(text); found != nil {
		size, _ := strconv.ParseFloat(found[1], 64)
		return int(size*1000 + 0.5)
	}
	if powerUnit.MatchString(text) && !strings.Contains(text, "CC") {
		return 0
	}
	text = sizeMarks.Replace(text)
	if found := cubic.FindStringSubmatch(text); found != nil {
		cc, _ := strconv.Atoi(found[1])
		return cc
	}
	return 0
}
