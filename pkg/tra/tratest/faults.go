package tratest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/shopspring/decimal"

	"ushuru/pkg/faults"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// Faults are the ways in which the simulator misbehaves. The zero value is
// healthy. Latency, Jitter, NumbersAsNumbers and ObjectInList always apply;
// the others to the calls and the number of requests that are selected.
type Faults struct {
	Latency Duration `json:"latency" help:"Delay before each answer."`
	Jitter  Duration `json:"jitter" help:"Maximum additional random delay."`

	NumbersAsNumbers bool `json:"numbersAsNumbers" kong:"-"` // money as 2439.00 in place of "2,439.00"
	ObjectInList     bool `json:"objectInList" kong:"-"`     // the calculation as the one item of a list

	Calls []string `json:"calls" help:"Apply faults to these calls only, for example getYom."`
	Next  int      `json:"next" help:"Number of faulty answers; 0 means no limit."`

	ErrorRate      float64  `json:"errorRate" help:"Share of requests that fail, 0 to 1."`
	Status         int      `json:"status" help:"HTTP status of failing requests."`
	RetryAfter     int      `json:"retryAfter" kong:"-"` // header sent with Status, in seconds
	HTML           bool     `json:"html" name:"html" help:"Answer with a maintenance page and status 200."`
	RefuseRegion   bool     `json:"refuseRegion" help:"Refuse requests as from outside Tanzania."`
	EmptyLists     bool     `json:"emptyLists" help:"Answer with empty lists."`
	ShortLists     int      `json:"shortLists" help:"Answer with at most so many items of each list; 0 means all."`
	TinyTotals     bool     `json:"tinyTotals" help:"Answer with calculations whose total is TZS 2.00."`
	OtherLaw       bool     `json:"otherLaw" help:"Answer with calculations by the rules before those in force."`
	DropConnection bool     `json:"dropConnection" help:"Close the connection without an answer."`
	TruncatedBody  bool     `json:"truncatedBody" help:"Close the connection in the middle of the answer."`
	SlowBody       Duration `json:"slowBody" help:"Time to send the body."`
}

// Duration is a time.Duration whose JSON form is text: "250ms".
type Duration = faults.Duration

// fault is what one request suffers.
type fault struct {
	Faults
	delay Duration
}

// take throws the dice for one request.
func (f Faults) take(dice *faults.Dice, call string) fault {
	delay := dice.Delay(f.Latency, f.Jitter)
	if len(f.Calls) > 0 && !slices.Contains(f.Calls, call) || !dice.Strike() {
		return fault{Faults{NumbersAsNumbers: f.NumbersAsNumbers, ObjectInList: f.ObjectInList}, delay}
	}
	f.Status = dice.Status(f.ErrorRate, f.Status)
	return fault{f, delay}
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
	if list, ok := value.([]item); ok && f.ShortLists > 0 {
		return list[:min(f.ShortLists, len(list))]
	}
	tax, ok := value.(vehicle.Tax)
	if !ok {
		return value
	}
	if f.TinyTotals {
		two := money.New(decimal.New(2, 0))
		tax.TotalImportTaxesInUSD, tax.TotalImportTaxesInTZS, tax.TotalTaxesInTZS = two, two, two
		value = tax
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
		for part := range slices.Chunk(body, len(body)/parts+1) {
			_, _ = w.Write(part)
			_ = http.NewResponseController(w).Flush()
			if !(f.SlowBody / parts).Wait(ctx) {
				return
			}
		}
	default:
		_, _ = w.Write(body)
	}
}
