package claim

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// ParseYear returns the one four-digit year in a text, whatever the order of
// year and month: 2019/3, 12.2020, "2010 / Jan". A number joined to letters is
// not a year, and a text with two different years has none.
func ParseYear(s string) (year int, ok bool) {
	years := yearsIn(Plain(s))
	if len(years) == 0 {
		return 0, false
	}
	for _, other := range years {
		if other != years[0] {
			return 0, false
		}
	}
	return years[0], years[0] >= MinYear && years[0] <= MaxYear()
}

// yearsIn returns the four-digit years of a text in their order.
func yearsIn(s string) (years []int) {
	for strings.Contains(s, "19") || strings.Contains(s, "20") { // as few texts do
		m := yearForm.FindStringSubmatchIndex(s)
		if m == nil {
			break
		}
		year, _ := strconv.Atoi(s[m[2]:m[3]])
		years = append(years, year)
		s = s[m[3]:]
	}
	return years
}

// YearIn returns the one year in a text as digits, "" when there is none or are
// several.
func YearIn(s string) string {
	y, ok := ParseYear(s)
	if !ok {
		return ""
	}
	return strconv.Itoa(y)
}

var (
	markedYear   = regexp.MustCompile(`(\d{4})\s?(?:年|년|Г(?:$|\P{L}))`)
	eraName      = regexp.MustCompile(`(令和|平成|昭和)\s?(\d{1,2}|元)`)
	eraLetter    = regexp.MustCompile(`^([RHS])\s?\.?(\d{1,2})(?:年|$|[./-])\s?(?:\d{1,2}月?)?$`)
	buddhistYear = regexp.MustCompile(`(?:^|\D)(25\d\d)(?:$|\D)`)
)

// eras are the Japanese eras by name and letter, with the year before the first
// and the last year of each.
var eras = map[string]struct{ before, last int }{
	"令和": {2018, 99}, "R": {2018, 99},
	"平成": {1988, 31}, "H": {1988, 31},
	"昭和": {1925, 64}, "S": {1925, 64},
}

// thaiEra is the difference between a year of the Buddhist era and of ours.
const thaiEra = 543

// ParseDatedYear returns the year of a value whose label says that it is a date: as
// ParseYear does, and also a year of a Japanese era (令和3年, H26) or of the Buddhist
// era (2557).
func ParseDatedYear(s string) (year int, ok bool) {
	s = strings.ToUpper(strings.TrimSpace(Plain(s)))
	if !isDate(s) {
		return 0, false
	}
	if m := markedYear.FindStringSubmatch(s); m != nil {
		return ParseYear(m[1])
	}
	if year, ok = ParseYear(s); ok {
		return year, ok
	}
	m := eraName.FindStringSubmatch(s)
	if m == nil {
		m = eraLetter.FindStringSubmatch(s)
	}
	if m != nil {
		return eraYear(m[1], m[2])
	}
	if m := buddhistYear.FindStringSubmatch(s); m != nil {
		year, _ = strconv.Atoi(m[1])
		year -= thaiEra
		return year, year >= MinYear && year <= MaxYear()
	}
	return 0, false
}

var (
	clockTime = regexp.MustCompile(`[T ]\d{1,2}:\d\d.*$`)
	plateCode = regexp.MustCompile(`\(?\b\d{2} ?(?:REG|PLATE)\b\.?\)?`) // "2018 (68 REG)"
	// openDate matches the words that leave a date open.
	openDate = regexp.MustCompile(`[~～〜+<>?]|\b(?:FROM|SINCE|UNTIL+|TILL|TO|OR|AND|ABOUT|APPROX\w*|CIRCA|CA|` +
		`BEFORE|AFTER|LATER|ONWARDS?|UP|OLDER|NEWER|EARLY|MAYBE|UNKNOWN|AU|HADI|KUANZIA)\b`)
	dateNumber = regexp.MustCompile(`\d+`)
)

// isDate reports that a text says nothing but a date: beside a year at most a month and a
// day, and no word that leaves it open.
func isDate(s string) bool {
	s = plateCode.ReplaceAllString(clockTime.ReplaceAllString(s, ""), "")
	if openDate.MatchString(s) {
		return false
	}
	var small []int
	for _, digits := range dateNumber.FindAllString(s, -1) {
		if n := Digits(digits); len(digits) <= 2 {
			small = append(small, n)
		} else if len(digits) != 4 && len(digits) != 6 && len(digits) != 8 {
			return false
		}
	}
	const months, days, most = 12, 31, 2
	switch {
	case len(small) == 0, eraName.MatchString(s), eraLetter.MatchString(s):
		return true
	case len(small) == most:
		return max(small[0], small[1]) <= days && min(small[0], small[1]) <= months
	}
	return len(small) == 1 && small[0] <= months
}

func eraYear(name, number string) (year int, ok bool) {
	n := 1 // 元 is the first year
	if number != "元" {
		n, _ = strconv.Atoi(number)
	}
	era := eras[name]
	if year = era.before + n; n < 1 || n > era.last || year < MinYear || year > MaxYear() {
		return 0, false
	}
	return year, true
}

var fullDates = []struct {
	form   *regexp.Regexp
	layout string
}{
	{regexp.MustCompile(`(?:19|20)\d\d-\d{1,2}-\d{1,2}`), "2006-1-2"},
	{regexp.MustCompile(`(?:19|20)\d\d/\d{1,2}/\d{1,2}`), "2006/1/2"},
	{regexp.MustCompile(`\d{1,2}\.\d{1,2}\.(?:19|20)\d\d`), "2.1.2006"},
	{regexp.MustCompile(`\d{1,2}/\d{1,2}/(?:19|20)\d\d`), "2/1/2006"},
	{regexp.MustCompile(`\d{1,2} [A-Za-z]{3,9} (?:19|20)\d\d`), "2 Jan 2006"},
}

// advertAge is how old a date can be that is the date of an advertisement.
const advertAge = 60 * 24 * time.Hour

// IsAdvertDate reports a full date of the last weeks or of the future: it is the date
// of the advertisement, not of a used car.
func IsAdvertDate(s string, now time.Time) bool {
	s = Plain(s)
	for _, date := range fullDates {
		for _, layout := range []string{date.layout, strings.Replace(date.layout, "Jan", "January", 1)} {
			if day, err := time.Parse(layout, date.form.FindString(s)); err == nil {
				return now.Sub(day) < advertAge
			}
		}
	}
	return false
}
