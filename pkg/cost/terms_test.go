package cost_test

import (
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/cost"
	"ushuru/pkg/localtime"
	"ushuru/pkg/vehicle"
)

// landed returns the cost of a car that lands today.
func landed(
	tables *cost.Tables, e vehicle.Estimate, rate decimal.Decimal, now time.Time,
) (vehicle.DriveAway, []vehicle.Warning) {
	answer := tables.Calculate(e, onDays(rate, now, now), now)
	return answer.DriveAway, answer.Warnings
}

// landedByNewYear returns the cost of a car that lands from today to the next 1
// January, so that the step of its age counts.
func landedByNewYear(e vehicle.Estimate, now time.Time) (vehicle.DriveAway, []vehicle.Warning) {
	newYear := time.Date(now.In(localtime.Zone).Year()+1, time.January, 1, 0, 0, 0, 0, localtime.Zone)
	answer := cost.Embedded().Calculate(e, onDays(cost.DefaultRate, now, newYear), now)
	return answer.DriveAway, answer.Warnings
}

// onDays returns the terms of a landing between two days.
func onDays(rate decimal.Decimal, from, to time.Time) vehicle.Terms {
	return vehicle.Terms{Rate: rate, Landing: &vehicle.LandingDays{From: dayOf(from), To: dayOf(to)}}
}

func dayOf(t time.Time) string { return t.In(localtime.Zone).Format(time.DateOnly) }
