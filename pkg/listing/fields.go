package listing

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"ushuru/pkg/chassis"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// reader reads one field: the claimed text into its canonical form, or false
// when it cannot be read for certain, and that form into the car.
type reader struct {
	field string
	noted bool // disagreements are worth a note
	read  func(string) (string, bool)
	set   func(*vehicle.Car, string)
}

// readers are the fields in the order in which they are explained.
var readers = []reader{
	{fieldMake, true, word, func(c *vehicle.Car, s string) { c.Make = s }},
	{fieldModel, true, name, func(c *vehicle.Car, s string) { c.Model = s }},
	{fieldCode, true, code, setCode},
	{fieldFrame, false, plain, func(c *vehicle.Car, s string) { c.FrameNumber = s }},
	{fieldVersion, false, version, func(c *vehicle.Car, s string) { c.Version = s }},
	{fieldManufacture, true, dated, func(c *vehicle.Car, s string) { c.Manufacture = s }},
	{fieldRegistration, true, dated, func(c *vehicle.Car, s string) { c.Registration = s }},
	{fieldModelYear, false, year, func(*vehicle.Car, string) {}},
	{fieldEngine, true, engine, func(c *vehicle.Car, s string) { c.EngineCC = digits(s) }},
	{fieldFuel, false, word, func(c *vehicle.Car, s string) { c.Fuel = s }},
	{fieldPrice, true, amount, setPrice},
	{fieldFOB, true, dollars, setFOB},
	{fieldCF, true, freighted, setCF},
	{fieldBody, false, plain, func(c *vehicle.Car, s string) { c.BodyType = s }},
	{fieldColour, false, colour, func(c *vehicle.Car, s string) { c.Colour = s }},
	{fieldMileage, true, mileage, func(c *vehicle.Car, s string) { km := digits(s); c.MileageKM = &km }},
	{fieldTransmission, false, plain, func(c *vehicle.Car, s string) { c.Transmission = s }},
	{fieldSteering, false, plain, func(c *vehicle.Car, s string) { c.Steering = s }},
	{fieldStock, false, plain, func(c *vehicle.Car, s string) { c.StockNo = s }},
	{fieldLocation, false, plain, func(c *vehicle.Car, s string) { c.Location = s }},
	{fieldVolume, false, volume, setVolume},
	{fieldHouse, false, plain, func(c *vehicle.Car, s string) { auction(c).House = s }},
	{fieldDate, false, day, func(c *vehicle.Car, s string) { auction(c).Date = s }},
	{fieldLot, false, plain, func(c *vehicle.Car, s string) { auction(c).LotNo = s }},
	{fieldScore, false, score, func(c *vehicle.Car, s string) { auction(c).Score = s }},
	{fieldStart, false, yen, func(c *vehicle.Car, s string) { auction(c).StartPriceJPY = digits(s) }},
	{fieldEnd, false, yen, func(c *vehicle.Car, s string) { auction(c).EndPriceJPY = digits(s) }},
}

func plain(s string) (string, bool) { return s, len(s) <= 120 }

// colour is a word or two: a number is the maker's code for the paint.
func colour(s string) (string, bool) {
	return s, len(s) <= 40 && strings.ContainsFunc(s, unicode.IsLetter) && !strings.ContainsFunc(s, unicode.IsDigit)
}

// version refuses what an icon leaves behind, and an auction's score.
func version(s string) (string, bool) {
	s = latin(s)
	return s, len(s) <= 120 && squash(s) != "" && !bareScore.MatchString(s)
}

func name(s string) (string, bool) {
	s = latin(s)
	return strings.ToUpper(s), len(s) <= 60 && squash(s) != ""
}

// word is a name with a letter in it: a number is the site's own for it.
func word(s string) (string, bool) {
	s, ok := name(s)
	return s, ok && strings.ContainsFunc(s, unicode.IsLetter)
}

func code(s string) (string, bool) {
	_, ok := chassis.Parse(s)
	return s, ok && len(s) <= 60
}

// dated keeps a date as listed when it holds a year.
func dated(s string) (string, bool) {
	_, ok := readYear(s)
	return s, ok && len(s) <= 40
}

func year(s string) (string, bool) {
	y, ok := readYear(s)
	return strconv.Itoa(y), ok
}

func engine(s string) (string, bool) {
	cc, ok := readEngine(s)
	return strconv.Itoa(cc), ok
}

func mileage(s string) (string, bool) {
	km, ok := readMileage(s)
	return strconv.Itoa(km), ok
}

func volume(s string) (string, bool) {
	m := volumeForm.FindStringSubmatch(s)
	if m == nil || strings.Trim(m[1], "0.") == "" {
		return "", false
	}
	return m[1], true
}

// amount needs a currency: a bare number may be anything.
func amount(s string) (string, bool) {
	p, ok := readPrice(s)
	return p.String(), ok && p.currency != "" && p.plausible()
}

// freighted is an amount that may name where the freight goes; that this is Dar
// es Salaam is checked where the amount is claimed.
func freighted(s string) (string, bool) { return amount(destination.ReplaceAllString(s, " ")) }

var destination = regexp.MustCompile(`(?i)\bC\s?&\s?F\b|\bto\b|\bDar[ -]es[ -]Salaam\b|\bTanzania\b`)

// dollars are what a page gives beside its own currency.
func dollars(s string) (string, bool) {
	p, ok := readPrice(s)
	return p.String(), ok && p.currency == "USD" && p.plausible()
}

func setCode(c *vehicle.Car, s string) {
	parsed, _ := chassis.Parse(s)
	c.RawModelCode, c.ModelCode = s, parsed.Code
}

func setPrice(c *vehicle.Car, s string) {
	p, _ := readPrice(s)
	c.Currency, c.AskingPrice = p.currency, &p.amount
	if p.currency == "USD" {
		c.FOBPriceUSD = &p.amount
	}
}

func setFOB(c *vehicle.Car, s string) {
	if p, _ := readPrice(s); c.FOBPriceUSD == nil {
		c.FOBPriceUSD = &p.amount
	}
}

func setCF(c *vehicle.Car, s string) {
	if p, _ := readPrice(s); p.currency == "USD" {
		c.CFPriceUSD = &p.amount
	}
}

func setVolume(c *vehicle.Car, s string) {
	if n, err := money.ParseNumber(s); err == nil {
		c.M3 = &n
	}
}
