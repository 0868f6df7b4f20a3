package figures

import (
	"time"

	"ushuru/pkg/localtime"
	"ushuru/pkg/vehicle"
)

// Months is the cost by the month of landing, as a drawing and a table.
type Months struct {
	*vehicle.ByMonth

	Columns []Column
	Landing Segment // when the ship should land
	Low     Column  // the first month of the lowest cost
	High    Column  // the first month of the highest
	First   string
	Last    string
	Dearer  bool // a month costs more than the lowest
	Assumed bool // the rules of a month are not known
}

// Column is a month of the drawing.
type Column struct {
	Month, Letter, Class string
	TZS                  int64
	X, Y, Height         int64
	Assumed              bool
}

// The drawing of the months, in its own units.
const (
	slot       = 30 // of a month
	columnFoot = 100
	columnMost = 92
)

// MonthsOf returns the months of a summary; nil when the cost of one is not known.
func MonthsOf(s *vehicle.Summary) *Months {
	if s.ByMonth == nil || len(s.ByMonth.Months) == 0 {
		return nil
	}
	view := &Months{ByMonth: s.ByMonth}
	for i, m := range s.ByMonth.Months {
		at, err := time.ParseInLocation("2006-01", m.Month, localtime.Zone)
		if err != nil || m.OnTheRoad == nil || m.OnTheRoad.TZS <= 0 {
			return nil
		}
		c := Column{
			Month: m.Month, Letter: "JFMAMJJASOND"[at.Month()-1 : at.Month()], TZS: m.OnTheRoad.TZS,
			X: int64(i * slot), Assumed: m.Assumed,
		}
		if i == 0 || c.TZS < view.Low.TZS {
			view.Low = c
		}
		if c.TZS > view.High.TZS {
			view.High = c
		}
		view.Assumed = view.Assumed || c.Assumed
		view.Columns = append(view.Columns, c)
	}
	for i := range view.Columns {
		c := &view.Columns[i]
		c.Height = c.TZS * columnMost / view.High.TZS
		c.Y, c.Class = columnFoot-c.Height, "month"
		if (c.TZS-view.Low.TZS)*100 > view.Low.TZS { // less than a percent is no step
			c.Class, view.Dearer = c.Class+" dear", true
		}
		if c.Assumed {
			c.Class += " guess"
		}
	}
	view.First, view.Last = view.Columns[0].Month, view.Columns[len(view.Columns)-1].Month
	view.Landing = landingIn(view.First, s.Landing)
	return view
}

// landingIn returns where the days of a landing lie among the months from the first on;
// its width is 0 when they do not.
func landingIn(first string, landing vehicle.Landing) Segment {
	start, err := time.ParseInLocation("2006-01", first, localtime.Zone)
	place := func(day string, add int) int64 {
		at, dayErr := time.ParseInLocation(time.DateOnly, day, localtime.Zone)
		if err != nil || dayErr != nil {
			return 0
		}
		at = at.AddDate(0, 0, add)
		month := (at.Year()-start.Year())*12 + int(at.Month()-start.Month())
		days := time.Date(at.Year(), at.Month()+1, 0, 0, 0, 0, 0, localtime.Zone).Day()
		x := int64(month*slot + (at.Day()-1)*slot/days)
		return min(max(x, 0), 12*slot)
	}
	from, to := place(landing.From, 0), place(landing.To, 1)
	return Segment{Key: "landing", X: from, Width: max(to-from, 0)}
}
