package listing

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"ushuru/pkg/chassis"
	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// reader reads one field: read parses the claimed text into its canonical form, or
// returns false when that is not certain; set writes that form into the car.
type reader struct {
	field string
	noted bool // sources that disagree add a note
	read  func(string) (string, bool)
	set   func(*vehicle.Car, string)
}

// readers are the fields in the order in which they are explained.
var readers = []reader{
	{claim.FieldMake, true, maker, func(c *vehicle.Car, s string) { c.Make = s }},
	{claim.FieldModel, true, name, func(c *vehicle.Car, s string) { c.Model = s }},
	{claim.FieldCode, true, code, setCode},
	{claim.FieldFrame, false, plain, func(c *vehicle.Car, s string) { c.FrameNumber = s }},
	{claim.FieldVersion, false, version, func(c *vehicle.Car, s string) { c.Version = s }},
	{claim.FieldManufacture, true, dated, func(c *vehicle.Car, s string) { c.Manufacture = s }},
	{claim.FieldRegistration, true, dated, func(c *vehicle.Car, s string) { c.Registration = s }},
	{claim.FieldModelYear, true, dated, func(*vehicle.Car, string) {}},
	{claim.FieldTitleYear, false, number(claim.ParseYear), func(*vehicle.Car, string) {}},
	{claim.FieldEngine, true, number(claim.ParseEngine), func(c *vehicle.Car, s string) { c.EngineCC = claim.Digits(s) }},
	{claim.FieldFuel, false, word, func(c *vehicle.Car, s string) { c.Fuel = s }},
	{claim.FieldPrice, true, amount, setPrice},
	{claim.FieldFOB, true, dollars, setFOB},
	{claim.FieldCF, true, freighted, setCF},
	{claim.FieldBody, false, plain, func(c *vehicle.Car, s string) { c.BodyType = s }},
	{claim.FieldColour, false, colour, func(c *vehicle.Car, s string) { c.Colour = s }},
	{claim.FieldMileage, true, number(claim.ParseMileage), func(c *vehicle.Car, s string) { c.MileageKM = new(claim.Digits(s)) }},
	{claim.FieldTransmission, false, plain, func(c *vehicle.Car, s string) { c.Transmission = s }},
	{claim.FieldSteering, false, plain, func(c *vehicle.Car, s string) { c.Steering = s }},
	{claim.FieldStock, false, plain, func(c *vehicle.Car, s string) { c.StockNo = s }},
	{claim.FieldLocation, false, plain, func(c *vehicle.Car, s string) { c.Location = s }},
	{claim.FieldVolume, false, claim.ParseVolume, setVolume},
	{claim.FieldHouse, false, plain, func(c *vehicle.Car, s string) { auction(c).House = s }},
	{claim.FieldDate, false, day, func(c *vehicle.Car, s string) { auction(c).Date = s }},
	{claim.FieldLot, false, plain, func(c *vehicle.Car, s string) { auction(c).LotNo = s }},
	{claim.FieldScore, false, score, func(c *vehicle.Car, s string) { auction(c).Score = s }},
	{claim.FieldStart, false, yen, func(c *vehicle.Car, s string) { auction(c).StartPriceJPY = claim.Digits(s) }},
	{claim.FieldEnd, false, yen, func(c *vehicle.Car, s string) { auction(c).EndPriceJPY = claim.Digits(s) }},
}

// plain accepts any text that is not too long.
func plain(s string) (string, bool) { return s, len(s) <= 120 }

// colour accepts a word or two; a number is the manufacturer's code for the paint.
func colour(s string) (string, bool) {
	return s, len(s) <= 40 && strings.ContainsFunc(s, unicode.IsLetter) && !strings.ContainsFunc(s, unicode.IsDigit)
}

// version rejects a text without letters and digits, and an auction's score.
func version(s string) (string, bool) {
	s = claim.CutJapanese(s)
	return s, len(s) <= 120 && claim.Squash(s) != "" && !bareScore.MatchString(s)
}

// name accepts a text with a letter or a digit, and writes it in upper case.
func name(s string) (string, bool) {
	s = claim.CutJapanese(s)
	return strings.ToUpper(s), len(s) <= 60 && claim.Squash(s) != ""
}

// word is a name with a letter; a bare number is an id of the site.
func word(s string) (string, bool) {
	s, ok := name(s)
	return s, ok && strings.ContainsFunc(s, unicode.IsLetter)
}

// maker is the name of a make in Latin letters, where that is known.
func maker(s string) (string, bool) {
	if known, ok := page.KnownMake(s); ok && strings.ContainsFunc(s, isNotLatin) {
		return known, true
	}
	return word(s)
}

func isNotLatin(r rune) bool { return unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) }

func code(s string) (string, bool) {
	_, ok := chassis.Parse(s)
	return s, ok && len(s) <= 60
}

// dated accepts a date, as listed, that contains a year and is not the date of the
// advertisement.
func dated(s string) (string, bool) {
	_, ok := claim.ParseDatedYear(s)
	return s, ok && len(s) <= 40 && !claim.IsAdvertDate(s, time.Now())
}

// number is a value that a parser reads as a whole number.
func number(parse func(string) (int, bool)) func(string) (string, bool) {
	return func(s string) (string, bool) {
		n, ok := parse(s)
		return strconv.Itoa(n), ok
	}
}

// amount is a price with a currency; a bare number can have any meaning.
func amount(s string) (string, bool) {
	p, ok := claim.ParsePrice(s)
	return p.String(), ok && p.Currency != "" && p.Plausible()
}

// freighted is an amount that may name the destination of the freight; the source
// that claims it checks that this is Dar es Salaam.
func freighted(s string) (string, bool) { return amount(destination.ReplaceAllString(s, " ")) }

var destination = regexp.MustCompile(`(?i)\bC\s?&\s?F\b|\bto\b|\bDar[ -]es[ -]Salaam\b|\bTanzania\b`)

// dollars is the amount that a page gives in addition to its own currency.
func dollars(s string) (string, bool) {
	p, ok := claim.ParsePrice(s)
	return p.String(), ok && p.Currency == "USD" && p.Plausible()
}

func setCode(c *vehicle.Car, s string) {
	parsed, _ := chassis.Parse(s)
	c.RawModelCode, c.ModelCode = s, parsed.Code
}

func setPrice(c *vehicle.Car, s string) {
	p, _ := claim.ParsePrice(s)
	c.Currency, c.AskingPrice = p.Currency, &p.Amount
	if p.Currency == "USD" {
		c.FOBPriceUSD = &p.Amount
	}
}

func setFOB(c *vehicle.Car, s string) {
	if p, _ := claim.ParsePrice(s); c.FOBPriceUSD == nil {
		c.FOBPriceUSD = &p.Amount
	}
}

func setCF(c *vehicle.Car, s string) {
	if p, _ := claim.ParsePrice(s); p.Currency == "USD" {
		c.CFPriceUSD = &p.Amount
	}
}

func setVolume(c *vehicle.Car, s string) {
	if n, err := money.ParseNumber(s); err == nil {
		c.M3 = &n
	}
}

// auction returns the auction of a car, made when it is first needed.
func auction(c *vehicle.Car) *vehicle.Auction {
	if c.Auction == nil {
		c.Auction = &vehicle.Auction{}
	}
	return c.Auction
}

var (
	scoreForm = regexp.MustCompile(`^(?:[0-9](?:\.[05])?|S|R|RA|A|B|C|D|X|\*{1,3}|-?R[A-C0-9]?)$`)
	bareScore = regexp.MustCompile(`^(?:[0-6]|[3-5]\.[05])$`)
)

// score reads an inspector's grade; "4.0" is a 4.
func score(s string) (string, bool) {
	s = strings.ToUpper(s)
	return strings.TrimSuffix(s, ".0"), scoreForm.MatchString(s)
}

// dayForms are the dates of auction pages, day before month where it is not
// the year that comes first.
var dayForms = []string{"2006-01-02 15:04:05", "2006-01-02", "2006/01/02", "02.01.2006", "02/01/2006", "02-01-2006"}

// day reads a date into the form 2026-07-02.
func day(s string) (string, bool) {
	for _, form := range dayForms {
		if t, err := time.Parse(form, s); err == nil {
			return t.Format(time.DateOnly), true
		}
	}
	return "", false
}

// yen reads an amount that names its currency.
func yen(s string) (string, bool) {
	p, ok := claim.ParsePrice(s)
	if !ok || p.Currency != "JPY" || !p.Amount.Decimal().IsInteger() || p.Amount.Decimal().IntPart() > 1_000_000_000 {
		return "", false
	}
	return strconv.FormatInt(p.Amount.Decimal().IntPart(), 10), true
}
