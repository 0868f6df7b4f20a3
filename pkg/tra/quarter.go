package tra

import "time"

// eat is the time zone of Dar es Salaam, UTC+3 without daylight saving.
var eat = time.FixedZone("EAT", 3*60*60)

// QuarterEnd is when the calendar quarter of now ends in Dar es Salaam. The
// authority revises its values every quarter, and ages roll over at New Year:
// nothing computed before is good after.
func QuarterEnd(now time.Time) time.Time {
	local := now.In(eat)
	next := (int(local.Month())-1)/3*3 + 4 // 13 is January of the next year
	return time.Date(local.Year(), time.Month(next), 1, 0, 0, 0, 0, eat)
}

// Stamp writes a time as answers carry it, to the second and with the zone of
// Dar es Salaam: 2026-11-21T17:04:05+03:00.
func Stamp(at time.Time) string { return at.In(eat).Format(time.RFC3339) }
