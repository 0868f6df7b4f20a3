package tra

import "time"

// eat is the time zone of Dar es Salaam, UTC+3 without daylight saving.
var eat = time.FixedZone("EAT", 3*60*60)

// QuarterEnd returns the end of the calendar quarter of now in Dar es Salaam. The
// authority revises its values every quarter and ages change at New Year, so no
// figure is valid beyond it.
func QuarterEnd(now time.Time) time.Time {
	local := now.In(eat)
	next := (int(local.Month())-1)/3*3 + 4 // 13 is January of the next year
	return time.Date(local.Year(), time.Month(next), 1, 0, 0, 0, 0, eat)
}

// Stamp formats a time for answers, to the second and in the time zone of Dar es
// Salaam: 2026-11-21T17:04:05+03:00.
func Stamp(at time.Time) string { return at.In(eat).Format(time.RFC3339) }
