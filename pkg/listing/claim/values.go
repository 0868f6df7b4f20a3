package claim

import (
	_ "embed"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/shopspring/decimal"

	"ushuru/pkg/chassis"
	"ushuru/pkg/datatable"
	"ushuru/pkg/money"
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

// Price is an amount in a currency, ISO 4217.
type Price struct {
	Amount   money.Number
	Currency string
}

func (p Price) String() string { return p.Currency + " " + p.Amount.String() }

//go:embed currencies.csv
var currencyTable string

// currencies are marks of currencies with their codes, longest first.
var currencies = datatable.Rows(currencyTable)

// wordsBesidePrice are the words that may accompany a price. Any other word can give
// the amount another meaning: a deposit, a rate, an old price, thousands, a price
// with freight, or another currency ("HK$ 45,000").
var wordsBesidePrice = wordSet("FOB PRICE VEHICLE CAR ONLY NOW OUR SALE SPECIAL JAPAN NEGOTIABLE " +
	"NEG ONO FIRM FIXED CASH BEI FINAL NET TOTAL AMOUNT YOKOHAMA NAGOYA KOBE OSAKA TOKYO KAWASAKI HAKATA MOJI KISARAZU")

// besidePrice matches a dash between a price and a word: US$ 3,450 - negotiable.
var besidePrice = regexp.MustCompile(`(\d)\s*[-–—]\s+(\p{L})`)

// behindPrice matches the signs that end a price: 12,500,000/=, 450,000/-, 3.500,-, a footnote's.
var behindPrice = regexp.MustCompile(`(?:/[-=]|[.,][-–—]{1,2}|\*{1,3}|[†‡])\s*$`)

// signsOfPrice are the signs of which besidePrice and behindPrice need one.
const signsOfPrice = "-–—=*†‡"

// formerAmount matches an amount that a text calls the former one: "Was US$ 4,000 Now
// US$ 3,420", "US$ 3,420 (was US$ 4,000)".
var formerAmount = regexp.MustCompile(`(?i)\b` +
	`(?:was|before|old(?: price)?|regular(?: price)?|original(?:ly|  ?price)?|list price|rrp)\b` +
	`\s*:?\s*(?:[A-Z]{0,3}\s?[$¥€£]|[A-Z]{3})?\s?\d[\d,]*(?:\.\d+)?(?:\s?(?:USD|JPY|YEN|円))?`)

// formerWords are words of which a former amount has one.
var formerWords = NewWords("was", "before", "old", "regular", "original", "list", "rrp")

// cutFormer removes the former amount from a price that gives the amount of now too.
func cutFormer(s string) string {
	if strings.IndexFunc(s, unicode.IsDigit) < 0 || !formerWords.In(s) {
		return s
	}
	return strings.Trim(emptyBrackets.Replace(formerAmount.ReplaceAllString(s, "")), " ,;|/-→")
}

var emptyBrackets = strings.NewReplacer("()", "", "( )", "", "[]", "", "[ ]", "")

// maxDecimals is the number of decimals of an amount of money.
const maxDecimals = 2

// ParsePrice parses a text with exactly one amount and at most one currency.
func ParsePrice(s string) (Price, bool) {
	s = cutFormer(Plain(s))
	if strings.ContainsAny(s, signsOfPrice) {
		s = besidePrice.ReplaceAllString(behindPrice.ReplaceAllString(s, ""), "$1 $2")
	}
	upper := strings.ToUpper(s)
	c := cut(CutCurrencies(upper))
	if c.isBad || len(c.numbers) != 1 || c.marks != "" || !c.hasOnly(func(word string) bool { return wordsBesidePrice[word] }) {
		return Price{}, false
	}
	n := c.numbers[0]
	amount, err := money.ParseNumber(n.text)
	if err != nil || n.unit != "" || n.isComma || n.times == "k" ||
		!amount.Decimal().IsPositive() || amount.Decimal().Exponent() < -maxDecimals {
		return Price{}, false
	}
	currency, ok := ParseCurrency(upper)
	return Price{amount, currency}, ok
}

// ParseCurrency returns the currency that a text names, "" when it names none; ok
// is false when it names two.
func ParseCurrency(upper string) (code string, ok bool) {
	for _, row := range currencies {
		if !strings.Contains(upper, row[0]) {
			continue
		}
		upper = strings.ReplaceAll(upper, row[0], " ")
		if code != "" && code != row[1] {
			return "", false
		}
		code = row[1]
	}
	return code, true
}

// maxPriceUSD bounds what a used car can cost, in US dollars.
var maxPriceUSD = decimal.NewFromInt(3_000_000)

// Plausible reports whether a used car can cost the price.
func (p Price) Plausible() bool {
	return p.Currency != "USD" || !p.Amount.Decimal().GreaterThan(maxPriceUSD)
}

// CutCurrencies removes the currency marks from a text in upper case.
func CutCurrencies(upper string) string {
	for _, row := range currencies {
		upper = strings.ReplaceAll(upper, row[0], "")
	}
	return upper
}

// Tolerances between two ways to write the same value.
const (
	maxEngineRounding  = 60  // cc: 1,490cc and 1.5L
	maxMileageRounding = 100 // parts of the distance: kilometres and the same in miles
)

// Equal reports whether two texts give the same value of a field, however they are
// written: "USD 5,930" and "$5,930", "2012/05" and "2012", "1,490cc" and "1.5L". A
// name equals a longer form of it. Texts that cannot be parsed are compared by their
// letters and digits.
func Equal(field, a, b string) bool {
	if a == b {
		return true
	}
	if equal, parsed := equalValues(field, a, b); parsed {
		return equal
	}
	one, two := Squash(a), Squash(b)
	switch field {
	case FieldFuel, FieldTransmission:
		return sameWords.Replace(one) == sameWords.Replace(two)
	case FieldMake:
		one, two = Squash(chassis.AuthorityMake(a)), Squash(chassis.AuthorityMake(b))
		return strings.HasPrefix(one, two) || strings.HasPrefix(two, one)
	case FieldModel:
		return strings.HasPrefix(one, two) || strings.HasPrefix(two, one)
	case FieldStock:
		return strings.HasSuffix(one, two) || strings.HasSuffix(two, one)
	}
	return one == two
}

// Differ reports two texts that both give a value of a field, and not the same one.
func Differ(field, a, b string) bool {
	equal, parsed := equalValues(field, a, b)
	return parsed && !equal
}

// equalValues compares the values of two texts; parsed is false when one of them
// cannot be parsed.
func equalValues(field, a, b string) (equal, parsed bool) {
	switch field {
	case FieldPrice, FieldFOB, FieldCF:
		return equalPrices(a, b)
	case FieldManufacture, FieldRegistration, FieldModelYear, FieldTitleYear:
		one, ok1 := ParseDatedYear(a)
		two, ok2 := ParseDatedYear(b)
		return one == two, ok1 && ok2
	case FieldEngine:
		one, ok1 := ParseEngine(a)
		two, ok2 := ParseEngine(b)
		return max(one, two)-min(one, two) <= maxEngineRounding, ok1 && ok2
	case FieldMileage:
		one, ok1 := ParseMileage(a)
		two, ok2 := ParseMileage(b)
		return (max(one, two)-min(one, two))*maxMileageRounding <= max(one, two), ok1 && ok2
	case FieldCode:
		one, ok1 := chassis.Parse(a)
		two, ok2 := chassis.Parse(b)
		return one.Code == two.Code, ok1 && ok2
	}
	return false, false
}

func equalPrices(a, b string) (equal, parsed bool) {
	one, ok1 := ParsePrice(a)
	two, ok2 := ParsePrice(b)
	if !ok1 || !ok2 {
		return false, false
	}
	sameCurrency := one.Currency == two.Currency || one.Currency == "" || two.Currency == ""
	return sameCurrency && one.Amount.Decimal().Equal(two.Amount.Decimal()), true
}

// sameWords are words of listing pages with the same meaning.
var sameWords = strings.NewReplacer("GASOLINE", "PETROL", "AUTOMATIC", "AT", "MANUAL", "MT", "PETROLPETROL", "PETROL")
