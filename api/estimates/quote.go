package estimates

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"ushuru/api/await"
	"ushuru/api/described"
	"ushuru/api/problem"
	"ushuru/api/receive"
	"ushuru/api/respond"
	"ushuru/api/terms"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// quoteRequest is the body of POST /v1/quote.
type quoteRequest struct {
	terms.Request
	described.Car

	FOBPriceJPY json.RawMessage `json:"fobPriceJPY"`
	CFPriceJPY  json.RawMessage `json:"cfPriceJPY"`
	JPYPerUSD   json.RawMessage `json:"jpyPerUSD"`
}

// canonical returns the canonical form of the car, with its prices in dollars.
func (req *quoteRequest) canonical() (vehicle.QuoteInput, error) {
	car := req.Car
	rate, err := described.ParseYenRate(req.JPYPerUSD)
	if err != nil {
		return vehicle.QuoteInput{}, err
	}
	for _, price := range []struct {
		field string
		yen   json.RawMessage
		usd   *json.RawMessage
	}{{"fobPriceJPY", req.FOBPriceJPY, &car.FOBPriceUSD}, {"cfPriceJPY", req.CFPriceJPY, &car.CFPriceUSD}} {
		*price.usd, err = described.InUSD(*price.usd, price.yen, price.field, rate)
		switch {
		case errors.Is(err, described.ErrYenRateMissing):
			return vehicle.QuoteInput{}, errYenRateMissing
		case err != nil:
			return vehicle.QuoteInput{}, err
		}
	}
	return car.Canonical()
}

// TypeProblem says which type a field must have.
func (*quoteRequest) TypeProblem(field string) *problem.Problem { return described.TypeProblem(field) }

// postQuote answers POST /v1/quote: the estimate of a car that the caller
// describes, without a listing.
func (s *Resource) postQuote(w http.ResponseWriter, r *http.Request) error {
	// Decode the body. Equal requests have equal inputs, and so one job.
	var req quoteRequest
	if err := receive.JSON(w, r, receive.MaxBody, &req); err != nil {
		return err
	}
	input, err := req.canonical()
	if err != nil {
		return err
	}
	wanted, err := terms.Read(r, &req.Request)
	if err != nil {
		return err
	}

	// Find the outcome: the stored one of the same request, else a cached
	// result, else a job. Only a job counts against the limits of the key.
	found, err := s.options.Work.Replay(r, terms.Identity(wanted, input))
	if err != nil {
		return err
	}
	if found.IsEmpty() {
		if found, err = s.cachedQuote(r.Context(), input); err != nil {
			return err
		}
	}
	if found.IsEmpty() {
		if found.Job, err = s.options.Work.Submit(w, r, tasks.KindQuote, input, nil); err != nil {
			return err
		}
	}
	if found, err = s.options.Work.SetOutcome(w, r, tasks.KindQuote, input, found); err != nil {
		return err
	}

	// Wait for the job as long as the caller prefers, and respond.
	result, err := s.options.Work.WaitForResult(w, r, found)
	if err != nil {
		return err
	}
	ignored := respond.RecorderOf(r).Ignored
	if result, err = terms.Priced(s.options.Costs, result, wanted, vehicle.FromRequest, ignored); err != nil {
		return err
	}
	return respond.Result(w, result)
}

// cachedQuote returns the cached estimate of a described car, if there is one.
func (s *Resource) cachedQuote(ctx context.Context, input vehicle.QuoteInput) (await.Outcome, error) {
	key, err := tasks.QuoteKey(input)
	if err != nil {
		return await.Outcome{}, err
	}
	return s.options.Work.CachedOutcome(ctx, key)
}
