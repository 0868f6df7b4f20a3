// Package localtime writes times in the one form of the API: in Dar es Salaam, where TRA's
// days begin, and in whole seconds, as 2026-11-21T17:04:05+03:00 (RFC 3339).
package localtime

import "time"

// Zone is the time of Dar es Salaam.
var Zone = time.FixedZone("EAT", 3*60*60)

// Of returns a time whose JSON has the form. The zero time stays zero.
func Of(at time.Time) time.Time {
	if at.IsZero() {
		return at
	}
	return at.In(Zone).Truncate(time.Second)
}

// OfPointer is Of for a time that may be unknown.
func OfPointer(at *time.Time) *time.Time {
	if at == nil {
		return nil
	}
	return new(Of(*at))
}

// NotBefore is Of for the first moment at which something is possible: the second that has
// begun is over.
func NotBefore(at time.Time) time.Time {
	if at.IsZero() {
		return at
	}
	return Of(at.Add(time.Second - 1))
}

// Stamp returns a time as text in the form.
func Stamp(at time.Time) string { return Of(at).Format(time.RFC3339) }

// Quarter returns the first day of the calendar quarter of a time.
func Quarter(at time.Time) time.Time {
	at = at.In(Zone)
	return time.Date(at.Year(), (at.Month()-1)/3*3+1, 1, 0, 0, 0, 0, Zone)
}
