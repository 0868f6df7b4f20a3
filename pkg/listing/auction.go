package listing

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/vehicle"
)

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
