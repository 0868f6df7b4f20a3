package cost

import (
	"time"

	"ushuru/pkg/duty"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// monthsAhead is for how many months of landing the cost is computed.
const monthsAhead = 12

// byMonth returns the cost on the road of a car that lands in this month, and in each of
// the next ones.
func (t *Tables) byMonth(e vehicle.Estimate, terms vehicle.Terms, now time.Time) *vehicle.ByMonth {
	today := midnight(now)
	first := today.AddDate(0, 0, 1-today.Day())
	months := make([]vehicle.MonthCost, monthsAhead)
	newYear, newRules := false, ""
	for i := range months {
		from, to := first.AddDate(0, i, 0), first.AddDate(0, i+1, -1)
		if from.Before(today) {
			from = today
		}
		terms.Landing = &vehicle.LandingDays{From: dateOf(from), To: dateOf(to)}
		b := t.sums(e, terms, now)
		older, later := !b.knowsAge(to), !b.knowsRules(to)
		months[i] = vehicle.MonthCost{
			Month: from.Format(monthOnly), OnTheRoad: b.onTheRoad(),
			Assumed: older || later,
		}
		if newYear = newYear || older; later && newRules == "" {
			newRules = dateOf(from)
		}
	}
	return &vehicle.ByMonth{Months: months, Text: monthsText(newYear, newRules)}
}

// monthOnly is the form of a month: 2027-01.
const monthOnly = "2006-01"

// knowsAge reports whether the excise duty for age on a landing day is known: the car is
// as old as in the authority's answer, or the answer follows known rules on age.
func (b *calculation) knowsAge(day time.Time) bool {
	then, known := b.ageCar(b.asked, b.implied.tax.YOM)
	if known && duty.Age(day, b.yearMade()) == then.Age {
		return true
	}
	_, fit := b.ageRules(then, day)
	return known && fit && b.hasAgeSteps()
}

// monthsText says what is assumed about the months.
func monthsText(newYear bool, newRules string) vehicle.Sentence {
	text := message.SayCoded("by_month/value", nil)
	if newYear {
		text = text.And(say("by_month/age", nil))
	}
	if newRules != "" {
		text = text.And(say("by_month/rules", values{"from": newRules}))
	}
	return text
}
