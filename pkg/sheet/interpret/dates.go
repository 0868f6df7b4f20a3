package interpret

import (
	"time"

	"ushuru/pkg/sheet"
)

// dates reads the dates as printed and converts them. The three dates of a sheet
// are printed side by side and easily swapped, so they are compared with each
// other.
func (in *interpreter) dates() {
	d, raw := &in.report.Dates, &in.raw.Reading.Dates
	first := in.printed("dates.first_registration", raw.FirstRegistration)
	if first != "" {
		d.FirstRegistrationRaw = &first
	}
	registered := in.registered(first)
	until := in.printed("dates.shaken_until", raw.ShakenUntil)
	var inspected month
	if until != "" {
		d.ShakenUntilRaw = &until
		inspected = in.inspectedUntil(until)
	}
	d.NameChangeDeadline = in.text("dates.name_change_deadline", raw.NameChange)
	switch none := (month{}); {
	case registered == none:
	case registered.after(monthOf(in.auctionTime())):
		in.unreadable("dates.first_registration", sheet.Contradicts, first)
		registered = none
	case inspected != none && registered.after(inspected):
		in.unreadable("dates.first_registration", sheet.Contradicts, first, until)
		in.unreadable("dates.shaken_until", sheet.Contradicts, until, first)
		registered, inspected = none, none
	}
	d.FirstRegistration, d.ShakenUntil = registered.pointer(), inspected.pointer()
}

func (m month) pointer() *string {
	if m == (month{}) {
		return nil
	}
	return new(m.String())
}

// auctionTime returns the day of the auction, else today.
func (in *interpreter) auctionTime() time.Time {
	if day := in.report.AuctionDate; day != nil {
		if t, err := time.Parse(time.DateOnly, *day); err == nil && !t.After(in.known.Now.AddDate(0, 1, 0)) {
			return t
		}
	}
	return in.known.Now
}

// registered returns the month of first registration; the zero value when it
// cannot be determined.
func (in *interpreter) registered(printed string) month {
	const field = "dates.first_registration"
	if again := in.raw.Second; again != nil {
		second, _ := printedValue(again.FirstRegistration)
		if areDifferent(printed, second) && !sameDate(printed, second) {
			in.unreadable(field, sheet.ReadingsDiffer, printed, second)
			return month{}
		}
	}
	if printed == "" {
		return month{}
	}
	date, ok := parseEra(printed)
	if !ok {
		in.unreadable(field, sheet.NotAllowed, printed)
		return month{}
	}
	list := date.months()
	if date.letter != "" {
		if len(list) == 0 {
			in.unreadable(field, sheet.NotAllowed, printed)
			return month{}
		}
		return list[0]
	}
	var possible []month
	for _, m := range list {
		fits, known := built(in.car, in.known.Years, m.year)
		if known && fits && !m.after(monthOf(in.auctionTime())) {
			possible = append(possible, m)
		}
	}
	if len(possible) != 1 {
		in.unreadable(field, sheet.EraMissing, printed)
		return month{}
	}
	in.inferred(field, "the era is not printed; it is the one in which cars of this code were registered")
	return possible[0]
}

// sameDate reports whether two texts are the same date with the same era letter.
func sameDate(a, b string) bool {
	x, ok1 := parseEra(a)
	y, ok2 := parseEra(b)
	x.day0, y.day0 = 0, 0
	return ok1 && ok2 && x == y
}

// inspectedUntil returns the month in which the road inspection ends: within
// three years after the auction, or some time before it.
func (in *interpreter) inspectedUntil(printed string) month {
	const field = "dates.shaken_until"
	date, ok := parseEra(printed)
	if !ok {
		in.unreadable(field, sheet.NotAllowed, printed)
		return month{}
	}
	at := in.auctionTime()
	var possible []month
	for _, m := range date.months() {
		if date.letter != "" || m.after(monthOf(at.AddDate(-2, 0, 0))) && !m.after(monthOf(at.AddDate(4, 0, 0))) {
			possible = append(possible, m)
		}
	}
	switch {
	case len(possible) == 0 && date.letter != "":
		in.unreadable(field, sheet.NotAllowed, printed)
	case len(possible) != 1:
		in.unreadable(field, sheet.EraMissing, printed)
	default:
		if date.letter == "" {
			in.inferred(field, "the era is not printed; it is the one that ends after the auction")
		}
		return possible[0]
	}
	return month{}
}
