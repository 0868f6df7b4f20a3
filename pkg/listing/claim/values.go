package claim

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/money"
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

// ParseEngine returns cubic centimetres from "1,490cc", "1.8 liters" or a bare
// number of an engine cell. Zero, kilowatts and engine codes are not sizes.
func ParseEngine(s string) (cc int, ok bool) {
	s = Plain(s)
	if m := ccForm.FindStringSubmatch(s); m != nil {
		cc = Digits(m[1])
	} else if m := litreForm.FindStringSubmatch(s); m != nil {
		cc = litres(m[1])
	} else if bareCC.MatchString(s) {
		cc = Digits(s)
	} else if bareLitre.MatchString(s) {
		cc = litres(s)
	}
	return cc, cc >= 50 && cc <= 20000
}

func litres(s string) int {
	value, err := money.ParseDecimal(s)
	if err != nil {
		return 0
	}
	return int(value.Mul(decimal.NewFromInt(1000)).IntPart())
}

// manKmForm matches a mileage in tens of thousands, as Japanese and Chinese pages write it.
var manKmForm = regexp.MustCompile(`(?i)^(\d{1,2}(?:\.\d{1,4})?)\s*[万萬]\s*(?:km|キロ|公里|千米)$`)

var kmPerMile = decimal.RequireFromString("1.609344")

// ParseMileage returns kilometres. A bare number is in kilometres, as exporters in
// Japan mean it; miles are converted when the text gives no kilometres.
func ParseMileage(s string) (km int, ok bool) {
	s = Plain(s)
	if m := manKmForm.FindStringSubmatch(s); m != nil {
		tens, err := money.ParseDecimal(m[1])
		return int(tens.Shift(4).IntPart()), err == nil
	}
	if m := kmForm.FindStringSubmatch(s); m != nil {
		km = Digits(m[1])
		return km, km <= MaxMileage
	}
	if m := mileForm.FindStringSubmatch(s); m != nil {
		miles := decimal.NewFromInt(int64(Digits(m[1])))
		km = int(miles.Mul(kmPerMile).Round(0).IntPart())
		return km, km <= MaxMileage
	}
	if bareNumber.MatchString(s) {
		km = Digits(s)
		return km, km <= MaxMileage
	}
	return 0, false
}

var thousandsMarks = strings.NewReplacer(",", "", " ", "")

// Digits parses a whole number with thousands marks; 0 for more than nine digits.
func Digits(s string) int {
	s = thousandsMarks.Replace(s)
	if len(s) > 9 {
		return 0
	}
	n, _ := strconv.Atoi(s)
	return n
}

// Bounds of a used car. A value outside them is an error of the page or of the
// program.
const (
	MinYear    = 1950
	MaxMileage = 2_000_000
)

// MaxYear is next year, because models are sold before their year begins.
func MaxYear() int { return time.Now().Year() + 1 }

// ParseVolume returns the cubic metres of a text as written.
func ParseVolume(s string) (string, bool) {
	s = Plain(s)
	m := volumeForm.FindStringSubmatch(s)
	if m == nil || strings.Trim(m[1], "0.") == "" {
		return "", false
	}
	return m[1], true
}
