package interpret

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"ushuru/pkg/chassis"
)

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
