package match

import (
	"fmt"
	"strings"

	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// The stable codes of refusals.
const (
	listingIncomplete = "listing_incomplete" // the listing lacks a field that is needed
	NoMatch           = "no_match"           // the authority does not list the car
	AmbiguousMatch    = "ambiguous_match"    // several entries fit, or the listing contradicts itself
	fuelConflict      = "fuel_conflict"      // the entry that fits runs on another fuel
	noCapacityBand    = "no_capacity_band"   // no engine band of the entry holds the car's engine size
	AIUnavailable     = "ai_unavailable"     // the AI that must decide gave no answer; a retry can succeed
	NotListed         = "not_listed"         // the authority returns an empty list for the label
	YearNotListed     = "year_not_listed"    // it lists the label in years too far from the car's own only
)

// Error is a refusal to match. Its notice is for people, its code for programs.
// Candidates are the entries that the car may be; none of them was accepted.
type Error struct {
	message.Notice

	Candidates []vehicle.Candidate `json:"candidates,omitempty"`

	scored []Scored // the same, with their scores
	cause  error    // of AIUnavailable
}

// Unwrap returns the error of the AI with the code AIUnavailable, otherwise nil.
func (e *Error) Unwrap() error { return e.cause }

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// values are the values of a text, by name.
type values = message.Values

func refusal(key string, with values) *Error { return &Error{Notice: message.New("error/"+key, with)} }

// whole returns a refusal and puts the given text into its text, in place of the named value.
func (e *Error) whole(key, name string, with values, text message.Text) *Error {
	said := message.SayWith("error/"+key, with, map[string]message.Text{name: text})
	e.Text, e.Message = &said, said.EN
	return e
}

// clip returns text of a listing for a message, at most 60 characters of it.
func clip(s string) string { return fmt.Sprintf("%.60s", strings.TrimSpace(s)) }
