package interpret

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"ushuru/pkg/chassis"
	"ushuru/pkg/sheet"
)

// dates reads the dates as printed and converts them. The three dates of a sheet
// are printed side by side and easily swapped, so they are compared with each
// other.
func (in *interpreter) dates() {
	d, raw := &in.report.Dates, &in.raw.Reading.Dates
	first := in.printed("dates.first_registration", raw.FirstRegistration)
	if first != "" {
		d.FirstRegistrationRaw = &first
	}
	registered := in.registered(first)
	until := in.printed("dates.shaken_until", raw.ShakenUntil)
	var inspected month
	if until != "" {
		d.ShakenUntilRaw = &until
		inspected = in.inspectedUntil(until)
	}
	d.NameChangeDeadline = in.text("dates.name_change_deadline", raw.NameChange)
	switch none := (month{}); {
	case registered == none:
	case registered.after(monthOf(in.auctionTime())):
		in.unreadable("dates.first_registration", sheet.Contradicts, first)
		registered = none
	case inspected != none && registered.after(inspected):
		in.unreadable("dates.first_registration", sheet.Contradicts, first, until)
		in.unreadable("dates.shaken_until", sheet.Contradicts, until, first)
		registered, inspected = none, none
	}
	d.FirstRegistration, d.ShakenUntil = registered.pointer(), inspected.pointer()
}

func (m month) pointer() *string {
	if m == (month{}) {
		return nil
	}
	return new(m.String())
}

// auctionTime returns the day of the auction, else today.
func (in *interpreter) auctionTime() time.Time {
	if day := in.report.AuctionDate; day != nil {
		if t, err := time.Parse(time.DateOnly, *day); err == nil && !t.After(in.known.Now.AddDate(0, 1, 0)) {
			return t
		}
	}
	return in.known.Now
}

// registered returns the month of first registration; the zero value when it
// cannot be determined.
func (in *interpreter) registered(printed string) month {
	const field = "dates.first_registration"
	if again := in.raw.Second; again != nil {
		second, _ := printedValue(again.FirstRegistration)
		if areDifferent(printed, second) && !sameDate(printed, second) {
			in.unreadable(field, sheet.ReadingsDiffer, printed, second)
			return month{}
		}
	}
	if printed == "" {
		return month{}
	}
	date, ok := parseEra(printed)
	if !ok {
		in.unreadable(field, sheet.NotAllowed, printed)
		return month{}
	}
	list := date.months()
	if date.letter != "" {
		if len(list) == 0 {
			in.unreadable(field, sheet.NotAllowed, printed)
			return month{}
		}
		return list[0]
	}
	var possible []month
	for _, m := range list {
		fits, known := built(in.car, in.known.Years, m.year)
		if known && fits && !m.after(monthOf(in.auctionTime())) {
			possible = append(possible, m)
		}
	}
	if len(possible) != 1 {
		in.unreadable(field, sheet.EraMissing, printed)
		return month{}
	}
	in.inferred(field, "the era is not printed; it is the one in which cars of this code were registered")
	return possible[0]
}

// sameDate reports whether two texts are the same date with the same era letter.
func sameDate(a, b string) bool {
	x, ok1 := parseEra(a)
	y, ok2 := parseEra(b)
	x.day0, y.day0 = 0, 0
	return ok1 && ok2 && x == y
}

// inspectedUntil returns the month in which the road inspection ends: within
// three years after the auction, or some time before it.
func (in *interpreter) inspectedUntil(printed string) month {
	const field = "dates.shaken_until"
	date, ok := parseEra(printed)
	if !ok {
		in.unreadable(field, sheet.NotAllowed, printed)
		return month{}
	}
	at := in.auctionTime()
	var possible []month
	for _, m := range date.months() {
		if date.letter != "" || m.after(monthOf(at.AddDate(-2, 0, 0))) && !m.after(monthOf(at.AddDate(4, 0, 0))) {
			possible = append(possible, m)
		}
	}
	switch {
	case len(possible) == 0 && date.letter != "":
		in.unreadable(field, sheet.NotAllowed, printed)
	case len(possible) != 1:
		in.unreadable(field, sheet.EraMissing, printed)
	default:
		if date.letter == "" {
			in.inferred(field, "the era is not printed; it is the one that ends after the auction")
		}
		return possible[0]
	}
	return month{}
}

// month is a month of a year. The zero value is no month.
type month struct{ year, month int }

func (m month) String() string { return fmt.Sprintf("%04d-%02d", m.year, m.month) }

func (m month) after(other month) bool {
	return m.year > other.year || m.year == other.year && m.month > other.month
}

func monthOf(t time.Time) month { return month{t.Year(), int(t.Month())} }

// era is a Japanese era. Its year 1 is base + 1.
type era struct {
	letter      string
	base        int
	first, last month
}

// eras are the eras in which cars on the road were registered. Reiwa began on 1 May 2019, Heisei
// on 8 January 1989, Showa on 25 December 1926.
var eras = []era{
	{"R", 2018, month{2019, 5}, month{2099, 12}},
	{"H", 1988, month{1989, 1}, month{2019, 4}},
	{"S", 1925, month{1926, 12}, month{1989, 1}},
}

// eraPattern is the shape of a date: an optional era, its year, a month, an
// optional day.
var eraPattern = regexp.MustCompile(`^([RHS]?)(\d{1,2})\s*[年/.\-]\s*(\d{1,2})(?:\s*月?|\s*[月/.\-]\s*(\d{1,2})\s*日?)$`)

// westernPattern is the shape of a date with a year of four digits, also in brackets
// behind its era.
var westernPattern = regexp.MustCompile(`^(?:[RHS]?\d{0,2}\()?((?:19|20)\d\d)\)?` +
	`\s*[年/.\-]\s*(\d{1,2})(?:\s*月?|\s*[月/.\-]\s*(\d{1,2})\s*日?)$`)

// number reads digits, or nothing.
func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// parseWestern puts a date with a year of four digits into its era.
func parseWestern(match []string) (eraDate, bool) {
	m := month{number(match[1]), number(match[2])}
	for _, e := range eras {
		if !m.after(e.last) && !e.first.after(m) && m.month >= 1 && m.month <= 12 {
			return eraDate{e.letter, m.year - e.base, m.month, number(match[3])}, true
		}
	}
	return eraDate{}, false
}

var eraNames = strings.NewReplacer("令和", "R", "平成", "H", "昭和", "S", "元年", "1年")

// eraDate is a date as printed.
type eraDate struct {
	letter             string // "" when the era is not printed
	year, month0, day0 int    // the day is 0 when it is not printed
}

// parseEra parses a date in ordinary width. It returns false for any other shape,
// A year of four digits is put into its era.
func parseEra(text string) (eraDate, bool) {
	text = strings.ToUpper(eraNames.Replace(strings.ReplaceAll(text, " ", "")))
	if western := westernPattern.FindStringSubmatch(text); western != nil {
		return parseWestern(western)
	}
	match := eraPattern.FindStringSubmatch(text)
	if match == nil {
		return eraDate{}, false
	}
	d := eraDate{match[1], number(match[2]), number(match[3]), number(match[4])}
	return d, d.year >= 1 && d.month0 >= 1 && d.month0 <= 12 && d.day0 <= 31
}

// in returns the month, and whether it lies in the era.
func (d eraDate) in(e era) (month, bool) {
	m := month{e.base + d.year, d.month0}
	return m, !m.after(e.last) && !e.first.after(m)
}

// months returns the months that a date can mean; at most one when its era is
// printed.
func (d eraDate) months() (list []month) {
	for _, e := range eras {
		if d.letter == "" || d.letter == e.letter {
			if m, ok := d.in(e); ok {
				list = append(list, m)
			}
		}
	}
	return list
}

// built reports whether a car can have been registered first in a year: by the
// years of its chassis code where they are known, else by those of its emission
// prefix. The second result is false when neither is known.
func built(code chassis.Code, years func(chassis.Code) (from, to int), year int) (fits, known bool) {
	const late = 2 // years from the last car built to its first registration
	if years != nil {
		if from, to := years(code); from > 0 {
			return year >= from-1 && (to == 0 || year <= to+late), true
		}
	}
	if chassis.IsPrefix(code.Prefix) {
		return chassis.PrefixFits(code.Prefix, year), true
	}
	return false, false
}

// auctionDay parses the day of the auction, with a year of four digits or of an
// era. It returns nil without a year.
func auctionDay(text string) *string {
	text = strings.ReplaceAll(text, " ", "")
	for _, layout := range []string{"2006/1/2", "2006-1-2", "2006.1.2", "2006年1月2日"} {
		if day, err := time.Parse(layout, text); err == nil && day.Year() >= 1990 && day.Year() < 2100 {
			return new(day.Format(time.DateOnly))
		}
	}
	d, ok := parseEra(text)
	if !ok || d.letter == "" || d.day0 == 0 {
		return nil
	}
	list := d.months()
	if len(list) != 1 {
		return nil
	}
	day := time.Date(list[0].year, time.Month(list[0].month), d.day0, 0, 0, 0, 0, time.UTC)
	if day.Day() != d.day0 {
		return nil
	}
	return new(day.Format(time.DateOnly))
}
