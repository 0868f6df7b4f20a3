package listing

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"
)

var (
	yearForm   = regexp.MustCompile(`(?:^|[^\p{L}\d])((?:19|20)\d\d)(?:$|[^\p{L}\d])`)
	ccForm     = regexp.MustCompile(`(?i)(?:^|[^\d.,])(\d{1,2}[, ]?\d{3}|\d{2,4})\s*(?:cc|ccm|cm3|cm³)(?:$|[^\p{L}\d])`)
	litreForm  = regexp.MustCompile(`(?i)(?:^|[^\d.,])(\d{1,2}\.\d{1,2})\s*(?:l|ltr|lit(?:er|re)s?)(?:$|[^\p{L}\d])`)
	bareCC     = regexp.MustCompile(`^(\d{1,2},\d{3}|\d{3,5})$`)
	bareLitre  = regexp.MustCompile(`^\d\.\d{1,2}$`)
	kmForm     = regexp.MustCompile(`(?i)(?:^|[^\d.,])(\d{1,3}(?:[, ]\d{3})+|\d{1,7})\s*(?:kms?|км|kilomet\w+)(?:$|\P{L})`)
	mileForm   = regexp.MustCompile(`(?i)(?:^|[^\d.,])(\d{1,3}(?:[, ]\d{3})+|\d{1,7})\s*(?:mi|miles?)(?:$|[^\p{L}\d])`)
	bareNumber = regexp.MustCompile(`^(\d{1,3}(?:[, ]\d{3})+|\d{1,7})$`)
	volumeForm = regexp.MustCompile(`^(\d{1,2}(?:\.\d{1,4})?)\s*(?:m3|m³|cbm)?$`)
)

// readYear returns the one four-digit year in a text, whatever the order of
// year and month: 2019/3, 12.2020, "2010 / Jan". A number glued to letters is
// none, and two different years are none.
func readYear(s string) (year int, ok bool) {
	for s != "" {
		m := yearForm.FindStringSubmatchIndex(s)
		if m == nil {
			break
		}
		found, _ := strconv.Atoi(s[m[2]:m[3]])
		if ok && found != year {
			return 0, false
		}
		year, ok = found, true
		s = s[m[3]:]
	}
	return year, ok && year >= firstYear && year <= lastYear()
}

// readEngine returns cubic centimetres from "1,490cc", "1.8 liters" or a bare
// number of an engine cell. Zero, kilowatts and engine codes are none.
func readEngine(s string) (cc int, ok bool) {
	if m := ccForm.FindStringSubmatch(s); m != nil {
		cc = digits(m[1])
	} else if m := litreForm.FindStringSubmatch(s); m != nil {
		cc = litres(m[1])
	} else if bareCC.MatchString(s) {
		cc = digits(s)
	} else if bareLitre.MatchString(s) {
		cc = litres(s)
	}
	return cc, cc >= 50 && cc <= 20000
}

func litres(s string) int {
	value, err := decimal.NewFromString(s)
	if err != nil {
		return 0
	}
	return int(value.Mul(decimal.NewFromInt(1000)).IntPart())
}

var kmPerMile = decimal.RequireFromString("1.609344")

// readMileage returns kilometres; a bare number is kilometres, as exporters in
// Japan mean it; miles are converted when no kilometres stand beside them.
func readMileage(s string) (km int, ok bool) {
	if m := kmForm.FindStringSubmatch(s); m != nil {
		km = digits(m[1])
		return km, km <= maxMileage
	}
	if m := mileForm.FindStringSubmatch(s); m != nil {
		miles := decimal.NewFromInt(int64(digits(m[1])))
		km = int(miles.Mul(kmPerMile).Round(0).IntPart())
		return km, km <= maxMileage
	}
	if bareNumber.MatchString(s) {
		km = digits(s)
		return km, km <= maxMileage
	}
	return 0, false
}

var thousandsMarks = strings.NewReplacer(",", "", " ", "")

// digits reads the digits of a number with thousands marks; at most nine.
func digits(s string) int {
	s = thousandsMarks.Replace(s)
	if len(s) > 9 {
		return 0
	}
	n, _ := strconv.Atoi(s)
	return n
}
