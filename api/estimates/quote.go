package estimates

import (
	"encoding/json"
	"errors"
	"net/http"

	"ushuru/api/await"
	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/api/terms"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// quoteRequest is the body of POST /v1/quote.
type quoteRequest struct {
	terms.Request
	request.TagFields
	terms.Car

	FOBPriceJPY json.RawMessage `json:"fobPriceJPY"`
	CFPriceJPY  json.RawMessage `json:"cfPriceJPY"`
	JPYPerUSD   json.RawMessage `json:"jpyPerUSD"`
}

// canonical returns the canonical form of the car, with its prices in dollars.
func (req *quoteRequest) canonical() (vehicle.QuoteInput, error) {
	car := req.Car
	rate, err := terms.ParseYenRate(req.JPYPerUSD)
	if err != nil {
		return vehicle.QuoteInput{}, err
	}
	for _, price := range []struct {
		field string
		yen   json.RawMessage
		usd   *json.RawMessage
	}{{"fobPriceJPY", req.FOBPriceJPY, &car.FOBPriceUSD}, {"cfPriceJPY", req.CFPriceJPY, &car.CFPriceUSD}} {
		*price.usd, err = terms.InUSD(*price.usd, price.yen, price.field, rate)
		switch {
		case errors.Is(err, terms.ErrYenRateMissing):
			return vehicle.QuoteInput{}, errYenRateMissing
		case err != nil:
			return vehicle.QuoteInput{}, err
		}
	}
	return car.Canonical()
}

// TypeProblem says which type a field must have.
func (*quoteRequest) TypeProblem(field string) *problem.Problem { return terms.CarTypeProblem(field) }

// PostQuote answers POST /v1/quote: the estimate of a car that the caller
// describes, without a listing.
func (s *Resource) PostQuote(w http.ResponseWriter, plain *http.Request) error {
	r := request.From(plain)
	var body quoteRequest
	if err := r.JSON(w, request.MaxBody, &body); err != nil {
		return err
	}
	input, err := body.canonical()
	if err != nil {
		return err
	}
	if err := terms.Read(r, &body.Request, body.TagFields); err != nil {
		return err
	}
	if r.Fields, err = terms.ReadFields(r, terms.OfEstimate); err != nil {
		return err
	}
	wanted := await.Wanted{Kind: tasks.KindQuote, Input: input, Identity: []any{input, r.Terms}}
	if wanted.Key, err = tasks.QuoteKey(input); err != nil {
		return err
	}
	return s.options.Work.Serve(w, r, wanted, func(result []byte, _ bool) ([]byte, error) {
		return s.priced(r, result, vehicle.FromRequest)
	})
}
