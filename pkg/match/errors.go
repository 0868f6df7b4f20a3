package match

import (
	"fmt"
	"strings"

	"ushuru/pkg/vehicle"
)

// The stable codes of refusals.
const (
	ListingIncomplete = "listing_incomplete" // the listing lacks a field without which nothing can be looked up
	NoMatch           = "no_match"           // the authority does not list the car
	AmbiguousMatch    = "ambiguous_match"    // several entries fit, or the listing contradicts itself
	FuelConflict      = "fuel_conflict"      // the entry that fits runs on another fuel
	NoCapacityBand    = "no_capacity_band"   // no engine band of the entry holds the car's engine size
	NotListed         = "not_listed"         // the authority answers with an empty list for the label
)

// Error is a refusal to match. Message is for people, Code for programs.
type Error struct {
	Code       string              `json:"code"`
	Message    string              `json:"error"`
	Candidates []vehicle.Candidate `json:"candidates,omitempty"` // what the car might be; none of them is accepted

	scored []Scored // the same, with their scores
}

// Error is the message.
func (e *Error) Error() string { return e.Message }

func refusal(code, message string) *Error { return &Error{Code: code, Message: message} }

// quote shows a listing's own words in a message, cut to a sane length.
func quote(s string) string { return fmt.Sprintf("%.60q", strings.TrimSpace(s)) }
