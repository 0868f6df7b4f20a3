package claim

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

var (
	yearForm   = regexp.MustCompile(`(?:^|[^\p{L}\d])((?:19|20)\d\d)(?:$|[^\p{L}\d])`)
	bareCC     = regexp.MustCompile(`^(\d{1,2},\d{3}|\d{3,5})$`)
	bareLitre  = regexp.MustCompile(`^\d\.\d{1,2}$`)
	volumeForm = regexp.MustCompile(`^(\d{1,2}(?:\.\d{1,4})?)\s*(?:m3|m³|cbm)?$`)
)

// engineWords are the words that may stand beside the size of an engine.
var engineWords = wordSet(`petrol gasoline gas diesel hybrid electric regular premium ガソリン ディーゼル ハイブリッド бензин дизель
	engine size capacity displacement motor turbo turbocharged supercharged intercooled intercooler inline straight in-line boxer
	flat rotary injection direct common rail twin cam valve unit exact actual`)

// engineName matches the name of an engine or of what it has: 1NR-FE, VVT-i, DOHC, V6.
var engineName = regexp.MustCompile(`^(?:[A-Z]{2,6}|\p{L}*\d[\p{L}\d-]*|[\p{L}\d]+-[\p{L}\d-]+)$`)

func isEngineWord(word string) bool {
	return engineWords[strings.ToLower(word)] || engineName.MatchString(word)
}

// ParseEngine returns cubic centimetres from "1,490cc", "1.8 liters" or a bare
// number of an engine cell. Zero, kilowatts and engine codes are not sizes.
func ParseEngine(s string) (cc int, ok bool) {
	c := cut(s)
	if c.isOpen("-–—−*") || !c.hasOnly(isEngineWord) {
		return 0, false
	}
	cc = c.displacement(strings.TrimSpace(Plain(s)))
	return cc, cc >= 50 && cc <= 20000
}

// displacement returns the size of an engine cell in cubic centimetres, 0 for none or several.
func (c *cell) displacement(text string) int {
	exact, hasCC, one := c.only(unitCC)
	litre, hasLitre, oneLitre := c.only(unitLitre)
	bare, isBare, _ := c.only("")
	cc, rounded := int(exact.IntPart()), int(litre.Shift(3).IntPart())
	switch {
	case !one || !oneLitre || !exact.IsInteger() || isBare && (hasCC || hasLitre):
		return 0
	case hasCC && hasLitre && max(cc, rounded)-min(cc, rounded) > maxEngineRounding:
		return 0
	case hasLitre && !hasCC:
		return rounded
	case isBare && len(c.words)+len(c.numbers) == 1:
		return bareEngine(text, bare)
	}
	return cc
}

// bareEngine returns the size that a number without a unit means in an engine cell, 0 for none.
func bareEngine(s string, number decimal.Decimal) int {
	switch {
	case bareCC.MatchString(s):
		return int(number.IntPart())
	case bareLitre.MatchString(s):
		return int(number.Shift(3).IntPart())
	}
	return 0
}

// wordSet returns the words of a text as a set.
func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}

var kmPerMile = decimal.RequireFromString("1.609344")

// mileageWords are the words that may stand beside a distance.
var mileageWords = wordSet(`mileage odometer actual genuine original true real verified guaranteed driven only run done total
	on by the clock meter auction sheet certified low reading kilomita 走行 実走行 走行距離 пробег`)

// consumption matches what a car burns: in East Africa and India that is called mileage too.
var consumption = regexp.MustCompile(`(?i)[\d.,]*\s*(?:(?:km|kms|mi|miles|kilomet\w+)\s*(?:/|per|kwa)\s*` +
	`(?:l|lt|ltr|lit\w+|lita|g|gal\w*)\b|\bkm?pl\b|\bmpg\b)|` +
	`\d[\d.,]*\s*l\w*\s*(?:/|per)\s*100(?:\s*km)?|\d[\d.,]*km?pl\b`)

// cutConsumption removes what a car burns from the text of a distance: per, kwa, /, kmpl, mpg.
func cutConsumption(s string) string {
	if !strings.ContainsAny(s, "/pPwW") {
		return s
	}
	return consumption.ReplaceAllString(s, " ")
}

// ParseMileage returns kilometres. A bare number is in kilometres, as exporters in
// Japan mean it; miles are converted when the text gives no kilometres.
func ParseMileage(s string) (km int, ok bool) {
	c := cut(cutConsumption(s))
	if c.isOpen("-–—−*%") ||
		!c.hasOnly(func(word string) bool { return mileageWords[strings.ToLower(word)] }) {
		return 0, false
	}
	exact, hasKM, one := c.only(unitKM)
	miles, hasMiles, oneMile := c.only(unitMile)
	bare, isBare, _ := c.only("")
	converted := miles.Mul(kmPerMile).Round(0)
	switch {
	case !one || !oneMile || isBare && len(c.numbers) > 1:
		return 0, false
	case hasKM && hasMiles && exact.Sub(converted).Abs().Mul(decimal.NewFromInt(maxMileageRounding)).GreaterThan(exact):
		return 0, false
	case isBare:
		exact = bare
	case !hasKM && hasMiles:
		exact = converted
	case !hasKM:
		return 0, false
	}
	return int(exact.IntPart()), exact.IsInteger() && exact.IntPart() <= MaxMileage
}

// IsUnclear reports a text in which a value of a field is not read although it has numbers
// of the kind: a range, two values, a number that nothing explains.
func IsUnclear(field, s string) bool {
	c := cut(s)
	has := func(units ...string) bool {
		return slices.ContainsFunc(c.numbers, func(n number) bool { return slices.Contains(units, n.unit) })
	}
	switch field {
	case FieldEngine:
		return has(unitCC, unitLitre) || len(c.numbers) > 1 && has("")
	case FieldMileage:
		c = cut(cutConsumption(s))
		return has(unitKM, unitMile, "")
	case FieldManufacture, FieldRegistration, FieldModelYear:
		return len(yearsIn(Plain(s))) > 0 && !IsAdvertDate(s, time.Now())
	case FieldPrice:
		currency, ok := ParseCurrency(strings.ToUpper(s))
		return (currency != "" || !ok) && len(c.numbers) > 1
	}
	return false
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
