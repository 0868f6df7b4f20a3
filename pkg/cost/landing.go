package cost

import (
	"slices"
	"time"

	"ushuru/pkg/localtime"
	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"

	"github.com/shopspring/decimal"
)

// landingTime is how long a car takes from the day on which it is bought to the day
// on which it lands.
type landingTime struct {
	origin

	Countries countries `json:"countries"` // where the car is bought; * is every other
	FromDays  int       `json:"from_days"`
	ToDays    int       `json:"to_days"`
}

// window is the days on which the car may land, at midnight in Dar es Salaam.
type window struct {
	from, likely, to time.Time
	typed            bool // the caller named the days
	usual            landingTime
}

// windowOf returns the landing days: those that the caller names, or the usual ones
// from today.
func (t *Tables) windowOf(days *vehicle.LandingDays, country string, now time.Time) window {
	today := midnight(now)
	usual := t.landingTime(country)
	if days != nil {
		from, err := time.ParseInLocation(time.DateOnly, days.From, localtime.Zone)
		to, errTo := time.ParseInLocation(time.DateOnly, days.To, localtime.Zone)
		if err == nil && errTo == nil && !to.Before(from) { // the API has checked them
			return windowBetween(from, to)
		}
	}
	w := windowBetween(today.AddDate(0, 0, usual.FromDays), today.AddDate(0, 0, usual.ToDays))
	w.typed, w.usual = false, usual
	return w
}

// windowBetween returns the landing days between two days that the caller or a scenario gives.
func windowBetween(from, to time.Time) window {
	const day = 24 * time.Hour // there is no daylight saving time in Dar es Salaam
	return window{from: from, likely: from.Add((to.Sub(from) / 2).Truncate(day)), to: to, typed: true}
}

// landingTime returns how long a car takes from a country.
func (t *Tables) landingTime(country string) (usual landingTime) {
	for _, l := range t.landings {
		switch {
		case country != "" && l.Countries.has(country):
			return l
		case usual.Source == "" && l.Countries.has(anyCountry):
			usual = l
		}
	}
	return usual
}

const anyCountry = "*"

// midnight returns the beginning of a day in Dar es Salaam.
func midnight(at time.Time) time.Time {
	at = at.In(localtime.Zone)
	return time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, localtime.Zone)
}

func dateOf(day time.Time) string { return day.In(localtime.Zone).Format(time.DateOnly) }

// taxDays returns the first, the likely and the last landing day, and those days between
// the first and the last on which a tax may change: a new year, and new rules.
func (b *calculation) taxDays() []time.Time {
	w := b.window
	days := slices.Concat([]time.Time{w.likely, w.from, w.to}, newYears(w.from, w.to), b.tables.law.Changes(w.from, w.to))
	slices.SortStableFunc(days[1:], time.Time.Compare)
	return b.compact(days)
}

// compact removes days on which a car is taxed as on an earlier one of the list: those
// of the same year and rules.
func (b *calculation) compact(days []time.Time) (once []time.Time) {
	for _, day := range days {
		taxedAlike := func(earlier time.Time) bool {
			law := b.tables.law
			return earlier.In(localtime.Zone).Year() == day.In(localtime.Zone).Year() &&
				law.On(earlier).From == law.On(day).From &&
				b.isSettled(earlier) == b.isSettled(day) && len(law.Announced(earlier)) == len(law.Announced(day))
		}
		if !slices.ContainsFunc(once, taxedAlike) {
			once = append(once, day)
		}
	}
	return once
}

// newYears returns the first days of a year after a day, up to another.
func newYears(after, until time.Time) (days []time.Time) {
	for year := after.In(localtime.Zone).Year() + 1; year <= until.In(localtime.Zone).Year(); year++ {
		days = append(days, time.Date(year, time.January, 1, 0, 0, 0, 0, localtime.Zone))
	}
	return days
}

// landing returns the landing days as callers see them.
func (b *calculation) landing() vehicle.Landing {
	l := vehicle.Landing{
		From: dateOf(b.window.from), To: dateOf(b.window.to), Likely: dateOf(b.window.likely),
		Basis: message.SayCoded("landing/named", nil),
	}
	if usual := b.window.usual; !b.window.typed {
		l.Basis = message.SayCoded("landing/usual", values{
			"from": itoa(usual.FromDays), "to": itoa(usual.ToDays), "source": usual.Source, "date": usual.Date,
		})
	}
	return l
}

// OnLanding returns the taxes of a car at the authority's own value on its likely landing
// day, in the middle of the days that the caller names or of the usual ones from now. The
// estimate needs the authority's answer and its entry only.
func (t *Tables) OnLanding(e vehicle.Estimate, landing *vehicle.LandingDays, now time.Time) vehicle.LandingTaxes {
	b := t.begin(e, vehicle.Terms{Landing: landing}, now)
	own := b.implied.tax.CIFInUSD.Decimal()
	taxes := b.likely(own)
	on := vehicle.LandingTaxes{
		Landing: dateOf(b.window.likely), TotalTaxesInTZS: rounded(taxes.grandTZS),
		TotalTaxesInUSD: b.allTaxes(taxes),
	}
	on.ExciseDueToAgePercent = AgePercent(own, taxes.duty, taxes.age)
	return on
}

// AgePercent returns the excise duty due to age as a share of the value with import duty,
// which are in one currency; nil without a value.
func AgePercent(value, importDuty, excise decimal.Decimal) *money.Number {
	const percent, tenths = 100, 1 // cents that are rounded give 15.0008 %
	base := value.Add(importDuty)
	if !base.IsPositive() {
		return nil
	}
	rate := money.NewNumber(excise.Mul(decimal.NewFromInt(percent)).DivRound(base, tenths))
	return &rate
}
