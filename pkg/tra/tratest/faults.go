package tratest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"time"

	"ushuru/pkg/vehicle"
)

// Faults are the ways in which the simulator misbehaves. The zero value is
// healthy. Latency, Jitter, NumbersAsNumbers and ObjectInList always apply;
// the others to the calls and the number of requests that are selected.
type Faults struct {
	Latency Duration `json:"latency"` // before each answer
	Jitter  Duration `json:"jitter"`  // up to so much more, evenly spread

	NumbersAsNumbers bool `json:"numbersAsNumbers"` // money as 2439.00 in place of "2,439.00"
	ObjectInList     bool `json:"objectInList"`     // the calculation as the one item of a list

	Calls []string `json:"calls"` // only these calls: getMakes …; empty: all
	Next  int      `json:"next"`  // only so many of the selected requests, then healthy; 0: no end

	ErrorRate      float64  `json:"errorRate"`      // share of requests that get Status, drawn from the seed
	Status         int      `json:"status"`         // every request gets it unless ErrorRate is set; 503 for ErrorRate alone
	RetryAfter     int      `json:"retryAfter"`     // header sent with Status, in seconds
	HTML           bool     `json:"html"`           // a maintenance page with status 200
	RefuseRegion   bool     `json:"refuseRegion"`   // 403, as to an address outside Tanzania (guessed)
	EmptyLists     bool     `json:"emptyLists"`     // lists without items
	DropConnection bool     `json:"dropConnection"` // closed without an answer
	TruncatedBody  bool     `json:"truncatedBody"`  // closed in the middle of the body
	SlowBody       Duration `json:"slowBody"`       // the time that the body takes
}

// Duration is a time.Duration whose JSON form is text: "250ms".
type Duration time.Duration

// UnmarshalText reads what time.ParseDuration reads, but nothing negative.
func (d *Duration) UnmarshalText(text []byte) error {
	value, err := time.ParseDuration(string(text))
	if err == nil && value < 0 {
		err = fmt.Errorf("negative duration %s", text)
	}
	*d = Duration(value)
	return err
}

// MarshalText writes the same form.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// faults hands out the fault of each request.
type faults struct {
	Faults
	limited bool
	random  *rand.Rand
}

func newFaults(f Faults, seed uint64) faults {
	return faults{Faults: f, limited: f.Next > 0, random: rand.New(rand.NewPCG(seed, 0xfa17))}
}

// fault is what one request suffers.
type fault struct {
	Faults
	delay time.Duration
}

func (f *faults) take(call string) fault {
	delay := time.Duration(f.Latency)
	if f.Jitter > 0 {
		delay += time.Duration(f.random.Int64N(int64(f.Jitter)))
	}
	healthy := fault{Faults{NumbersAsNumbers: f.NumbersAsNumbers, ObjectInList: f.ObjectInList}, delay}
	switch {
	case len(f.Calls) > 0 && !slices.Contains(f.Calls, call), f.limited && f.Next == 0:
		return healthy
	case f.limited:
		f.Next--
	}
	suffered := fault{f.Faults, delay}
	if f.ErrorRate > 0 {
		switch drawn := f.random.Float64() < f.ErrorRate; {
		case !drawn:
			suffered.Status = 0
		case f.Status == 0:
			suffered.Status = http.StatusServiceUnavailable
		}
	}
	return suffered
}

// wait returns false when the client went away.
func (f fault) wait(ctx context.Context) bool {
	if f.delay <= 0 {
		return true
	}
	timer := time.NewTimer(f.delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// replaces answers with the fault in place of data, where it is one that does.
func (f fault) replaces(w http.ResponseWriter) bool {
	switch {
	case f.DropConnection:
		panic(http.ErrAbortHandler)
	case f.RefuseRegion:
		http.Error(w, "Access denied: this service is not available in your region (SIMULATED).", http.StatusForbidden)
	case f.Status != 0:
		if f.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(f.RetryAfter))
		}
		http.Error(w, "SIMULATED failure: java.lang.NullPointerException at tz.go.tra.umvvs", f.Status)
	case f.HTML:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprint(w, "<!DOCTYPE html><html><body><h1>System maintenance (SIMULATED)</h1></body></html>")
	default:
		return false
	}
	return true
}

// reshape puts a calculation into another of the forms that clients have met.
func (f fault) reshape(value any) any {
	tax, ok := value.(vehicle.Tax)
	if !ok {
		return value
	}
	if f.NumbersAsNumbers {
		value = numbers(tax)
	}
	if f.ObjectInList {
		value = []any{value}
	}
	return value
}

// write sends the data, whole, slowly or in part.
func (f fault) write(ctx context.Context, w http.ResponseWriter, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	switch {
	case f.TruncatedBody:
		_, _ = w.Write(body[:len(body)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case f.SlowBody > 0:
		const parts = 20
		step := fault{delay: time.Duration(f.SlowBody) / parts}
		for part := range slices.Chunk(body, len(body)/parts+1) {
			_, _ = w.Write(part)
			_ = http.NewResponseController(w).Flush()
			if !step.wait(ctx) {
				return
			}
		}
	default:
		_, _ = w.Write(body)
	}
}
