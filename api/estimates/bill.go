package estimates

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"ushuru/api/await"
	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/api/terms"
	"ushuru/pkg/bill"
	"ushuru/pkg/jsonobject"
	"ushuru/pkg/localtime"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

var (
	errBillInvalid = problem.BadRequest("field_invalid.bill")
	errBillEmpty   = problem.BadRequest("bill_empty")
	errBillTooLong = problem.New(http.StatusRequestEntityTooLarge, "bill_too_long", problem.AtMost(bill.MaxLines))
)

// maxBillText is for a bill as pasted.
const maxBillText = 8 << 10

// billRequest is the body of POST /v1/bill-check: a bill, and the car as a listing or as the
// caller describes it.
type billRequest struct {
	terms.Request
	request.TagFields

	URL   string          `json:"url"`
	Known json.RawMessage `json:"known"` // of the listing
	Car   json.RawMessage `json:"car"`   // as in POST /v1/quote
	Lines []struct {
		Name     string          `json:"name"`
		Amount   json.RawMessage `json:"amount"`
		Currency string          `json:"currency"`
	} `json:"lines"`
	Text string `json:"text"` // the bill as pasted
	Date string `json:"date"` // of the bill; today without one
}

// TypeProblem returns the problem of a field that has the wrong type.
func (*billRequest) TypeProblem(field string) *problem.Problem { return errBillInvalid.Of(field) }

// bill returns the lines and the day of the bill.
func (req *billRequest) bill(now time.Time) (lines []bill.Line, day time.Time, err error) {
	if len(req.Text) > maxBillText {
		return nil, now, errBillTooLong.Of("text")
	}
	for _, line := range req.Lines {
		amount := string(line.Amount)
		if amount != "" && amount[0] == '"' {
			if err := json.Unmarshal(line.Amount, &amount); err != nil {
				return nil, now, errBillInvalid.Of("lines")
			}
		}
		if line.Currency != "" && line.Currency != "TZS" && line.Currency != "USD" {
			return nil, now, errBillInvalid.Of("lines.currency")
		}
		if err := terms.CheckText("lines.name", line.Name); err != nil {
			return nil, now, err
		}
		if err := terms.CheckText("lines.amount", amount); err != nil {
			return nil, now, err
		}
		lines = append(lines, bill.Line{Name: line.Name, Amount: amount, Currency: line.Currency})
	}
	lines = append(lines, bill.FromText(req.Text)...)
	if len(lines) > bill.MaxLines {
		return nil, now, errBillTooLong.Of("lines")
	}
	if req.Date != "" {
		day, err = time.ParseInLocation(time.DateOnly, req.Date, localtime.Zone)
		if err != nil || day.After(now) {
			return nil, now, errBillInvalid.Of("date")
		}
		const noon = 12
		return lines, day.Add(noon * time.Hour), nil
	}
	return lines, now, nil
}

// PostBill answers POST /v1/bill-check. The work is that of an estimate or a quote of the car,
// which the bill is compared with; the bill itself is stored nowhere.
func (s *Resource) PostBill(w http.ResponseWriter, plain *http.Request) error {
	r := request.From(plain)
	var body billRequest
	if err := r.JSON(w, request.MaxBody, &body); err != nil {
		return err
	}
	lines, day, err := body.bill(time.Now())
	if err != nil {
		return err
	}
	if err := terms.Read(r, &body.Request, body.TagFields); err != nil {
		return err
	}
	check := bill.Check{Tables: s.options.Costs, Terms: r.Terms, Day: day}
	alone, err := s.options.Limits.Compute(r, func() ([]byte, error) { return judged(check, lines) })
	if err != nil {
		return err
	}
	wanted, err := s.wantedCar(r, &body)
	switch {
	case err != nil:
		return err
	case wanted == nil: // no car: what needs none is said at once
		if err := s.options.Limits.CheckRate(w, r); err != nil {
			return err
		}
		if _, err := s.options.Work.CheckWebhook(r); err != nil {
			return err
		}
		request.WriteBytes(w, http.StatusOK, r.Of(alone))
		return nil
	}
	wanted.Identity = []any{wanted.Input, r.Terms, "bill", lines, body.Date}
	return s.options.Work.Serve(w, r, *wanted, func(result []byte, _ bool) ([]byte, error) {
		return s.options.Limits.Compute(r, func() ([]byte, error) {
			var e vehicle.Estimate
			if err := json.Unmarshal(result, &e); err != nil {
				return nil, fmt.Errorf("estimates: bill: %w", err)
			}
			check.Estimate = &e
			return judged(check, lines)
		})
	})
}

// judged returns what a check says of the lines of a bill.
func judged(check bill.Check, lines []bill.Line) ([]byte, error) {
	answer, ok := check.Judge(lines)
	if !ok {
		return nil, errBillEmpty
	}
	return json.Marshal(answer)
}

// wantedCar returns the work that finds out about the car; nil without a car.
func (s *Resource) wantedCar(r *request.Request, body *billRequest) (*await.Wanted, error) {
	if !jsonobject.IsAbsent(body.Car) {
		var car quoteRequest
		if err := json.Unmarshal(body.Car, &car); err != nil {
			return nil, errBillInvalid.Of("car").WithCause(err)
		}
		input, err := car.canonical()
		if err != nil {
			return nil, err
		}
		key, err := tasks.QuoteKey(input)
		return &await.Wanted{Kind: tasks.KindQuote, Input: input, Key: key}, err
	}
	if body.URL == "" {
		return nil, nil //nolint:nilnil // no car
	}
	input, err := s.estimateInput(&estimateRequest{URL: body.URL, Known: body.Known})
	if err != nil {
		return nil, err
	}
	input = input.For(r.Key.ID)
	return &await.Wanted{Kind: tasks.KindEstimate, Input: input, Key: input.Key()}, nil
}
