package aitest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"ushuru/pkg/faults"
)

// Faults are the ways in which the simulator misbehaves. The zero value is
// healthy. Latency and Jitter always apply; the others to Next requests.
type Faults struct {
	Latency Duration `json:"latency" help:"Delay before each answer."`
	Jitter  Duration `json:"jitter" help:"Maximum additional random delay."`

	Next int `json:"next" help:"Number of faulty answers; 0 means no limit."`

	ErrorRate      float64 `json:"errorRate" help:"Share of requests that fail, 0 to 1."`
	Status         int     `json:"status" help:"HTTP status of failing requests."`
	RetryAfter     int     `json:"retryAfter" help:"Seconds in Retry-After of failing requests."`
	Code           string  `json:"code" kong:"-"` // of the error sent with Status: insufficient_quota …
	HTML           bool    `json:"html" name:"html" help:"Answer with a gateway's error page."`
	DropConnection bool    `json:"dropConnection" help:"Close the connection without an answer."`
	EmptyChoices   bool    `json:"emptyChoices" help:"Answer without choices."`
	CutJSON        bool    `json:"cutJSON" name:"cut-json" help:"Cut the answer in the middle."`
	Refusal        bool    `json:"refusal" help:"Refuse to answer."`
	Filtered       bool    `json:"filtered" help:"Let the content filter cut the answer."`
	WrongID        bool    `json:"wrongID" name:"wrong-id" help:"Answer with an id that is not a candidate."`
	OtherSchema    bool    `json:"otherSchema" help:"Answer in another schema."`
	Obey           bool    `json:"obey" help:"Obey instructions in the data."`

	// Of pictures alone.
	InventField bool `json:"inventField" help:"Add a property to the reading of a sheet."`
	InventValue bool `json:"inventValue" help:"Give values outside the closed lists of a sheet."`
	SeeSheet    bool `json:"seeSheet" help:"Treat any image as a sheet and invent a car."`
	OtherDigits bool `json:"otherDigits" help:"Give other values in the second reading of a sheet."`
}

// Duration is a time.Duration whose JSON form is text: "250ms".
type Duration = faults.Duration

// fault is what one request suffers.
type fault struct {
	Faults
	delay Duration
}

// take throws the dice for one request.
func (f Faults) take(dice *faults.Dice) fault {
	delay := dice.Delay(f.Latency, f.Jitter)
	if !dice.Strike() {
		return fault{delay: delay}
	}
	f.Status = dice.Status(f.ErrorRate, f.Status)
	return fault{f, delay}
}

// misbehaves reports whether there is more to it than slowness.
func (f fault) misbehaves() bool {
	return f.Status != 0 || f.HTML || f.DropConnection || f.EmptyChoices || f.CutJSON || f.Refusal || f.Filtered ||
		f.WrongID || f.OtherSchema || f.Obey || f.InventField || f.InventValue || f.SeeSheet || f.OtherDigits
}

// replaces answers with the fault in place of a completion, where it is one
// that does.
func (f fault) replaces(w http.ResponseWriter) bool {
	if f.DropConnection {
		panic(http.ErrAbortHandler)
	}
	if f.RetryAfter > 0 && f.Status != 0 {
		w.Header().Set("Retry-After", strconv.Itoa(f.RetryAfter))
	}
	switch {
	case f.HTML:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(max(f.Status, http.StatusOK))
		_, _ = fmt.Fprint(w, "<!DOCTYPE html><html><body><h1>502 Bad Gateway (SIMULATED)</h1></body></html>")
	case f.Status != 0:
		e := &apiError{status: f.Status, Type: "server_error", Message: "SIMULATED failure."}
		if f.Code != "" {
			e.code(f.Code)
		}
		writeJSON(w, f.Status, map[string]any{"error": e})
	default:
		return false
	}
	return true
}

// spoil makes a good answer a bad one.
func (f fault) spoil(a answer) answer {
	switch {
	case f.CutJSON:
		a.content, a.finish = a.content[:len(a.content)/2], "length"
	case f.Refusal:
		a.content, a.refusal = "", Mark+": I'm sorry, I can't assist with that request."
	case f.Filtered:
		a.content, a.finish = "", "content_filter"
	case f.WrongID && a.candidates > 0:
		a.content = strings.ReplaceAll(a.content, quoted(a.choice), quoted("c99"))
	case f.OtherSchema:
		a.content = `{"verdict":"` + Mark + `"}`
	}
	return a
}
