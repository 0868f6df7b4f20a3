package console

import (
	"fmt"
	"html/template"
	"strings"
	"time"

	"ushuru/api/web/frame"
	"ushuru/pkg/localtime"
	"ushuru/pkg/money"
	"ushuru/pkg/operate/status"
)

// view is what the overview shows.
type view struct {
	status.Status

	Monitoring string
	Still      bool // the page is not loaded again
}

// functions are what templates can call.
func functions(files *frame.Files) template.FuncMap {
	return template.FuncMap{
		"asset":   files.Address,
		"at":      func(at any) string { return clock(at, time.Now()) },
		"ago":     func(at any) string { return ago(at, time.Now()) },
		"in":      func(at time.Time) string { return length(time.Until(at)) },
		"ms":      func(ms int64) string { return length(time.Duration(ms) * time.Millisecond) },
		"n":       grouped,
		"bytes":   size,
		"uses":    uses,
		"agrees":  func(agree *bool) bool { return agree != nil && *agree },
		"strip":   newStrip,
		"reasons": reasons,
	}
}

// timeOf returns a time, or one that a pointer leads to; zero for none.
func timeOf(at any) time.Time {
	switch at := at.(type) {
	case time.Time:
		return at
	case *time.Time:
		if at != nil {
			return *at
		}
	}
	return time.Time{}
}

// clock returns a time as an operator reads it: the hour alone today, else with the day.
func clock(at any, now time.Time) string {
	when := timeOf(at)
	if when.IsZero() {
		return "never"
	}
	local, today := when.In(localtime.Zone), now.In(localtime.Zone)
	layout := "15:04"
	switch {
	case local.Year() != today.Year():
		layout = "2 Jan 2006"
	case local.YearDay() != today.YearDay():
		layout = "2 Jan 15:04"
	}
	return local.Format(layout)
}

// ago returns how long ago a time is.
func ago(at any, now time.Time) string {
	when := timeOf(at)
	if when.IsZero() {
		return "never"
	}
	return length(max(now.Sub(when), 0)) + " ago"
}

// length returns a duration in the unit that suits it.
func length(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d <= 0:
		return "0 s"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 2*day:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d d", int(d/day))
}

// grouped returns a whole number with commas for thousands.
func grouped(n any) string { return money.Grouped(fmt.Sprint(n)) }

// size returns a number of bytes in the unit that suits it.
func size(n int64) string {
	const unit = 1000
	value, names := float64(n), []string{"B", "KB", "MB", "GB", "TB"}
	at := 0
	for value >= unit && at < len(names)-1 {
		value, at = value/unit, at+1
	}
	if at == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", value, names[at])
}

// uses returns how much of a limit is used.
func uses(use status.Use) string {
	used, limit := grouped(use.Used), grouped(use.Limit)
	if use.What == status.UseBytes {
		used, limit = size(use.Used), size(use.Limit)
	}
	if use.Limit == 0 {
		return used
	}
	return used + " of " + limit
}

// reasons returns what failed by reason, the most frequent first.
func reasons(failed map[string]int64) string {
	names := status.Commonest(failed)
	for i, name := range names {
		names[i] = name + " " + grouped(failed[name])
	}
	return strings.Join(names, ", ")
}

const (
	stripHeight = 24
	barWidth    = 4 // of an hour, with its gap
)

// strip is a drawing of what happened in each hour: what went well below, what failed
// above.
type strip struct {
	Width, Height int
	Bars          []bar
	Says          string // the same in words
}

type bar struct {
	X, OKY, OK, FailedY, Failed int
}

// newStrip draws hours, the oldest first. ok and failed are the words for what they count.
func newStrip(hours []status.Hour, ok, failed string) strip {
	most := int64(1)
	for _, hour := range hours {
		most = max(most, hour.OK+hour.Failed)
	}
	drawn := strip{Width: barWidth * len(hours), Height: stripHeight}
	var sum status.Hour
	var said []string
	for i, hour := range hours {
		// What is not nothing is to be seen.
		up := func(n int64) int { return int((n*stripHeight + most - 1) / most) }
		b := bar{X: barWidth * i, OK: up(hour.OK), Failed: up(hour.Failed)}
		b.OK = min(b.OK, stripHeight-min(b.Failed, stripHeight/2))
		b.Failed = min(b.Failed, stripHeight-b.OK)
		b.OKY = stripHeight - b.OK
		b.FailedY = b.OKY - b.Failed
		drawn.Bars = append(drawn.Bars, b)
		sum.OK, sum.Failed = sum.OK+hour.OK, sum.Failed+hour.Failed
		if hour.OK+hour.Failed > 0 {
			said = append(said, fmt.Sprintf("%s: %s %s, %s %s", hour.Start.In(localtime.Zone).Format("15:00"),
				grouped(hour.OK), ok, grouped(hour.Failed), failed))
		}
	}
	drawn.Says = fmt.Sprintf("%s %s and %s %s in %d hours.", grouped(sum.OK), ok, grouped(sum.Failed), failed, len(hours))
	if len(said) > 0 {
		drawn.Says += " " + strings.Join(said, "; ") + "."
	}
	return drawn
}
