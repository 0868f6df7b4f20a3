package tra

import (
	"time"

	"ushuru/pkg/localtime"
)

// QuarterEnd returns the end of the calendar quarter of now in Dar es Salaam. The
// authority revises its values every quarter and ages change at New Year, so no
// figure is valid beyond it.
func QuarterEnd(now time.Time) time.Time {
	local := now.In(localtime.Zone)
	next := (int(local.Month())-1)/3*3 + 4 // 13 is January of the next year
	return time.Date(local.Year(), time.Month(next), 1, 0, 0, 0, 0, localtime.Zone)
}
