// Package estimates answers the requests for estimates: of a listing, and of a car that the
// caller describes (a quote); for what is made of them and of inspection sheets: bill checks,
// comparisons and reports; and for the jobs that do the work of all these.
package estimates

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"

	"ushuru/api/await"
	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/api/terms"
	"ushuru/pkg/cache"
	"ushuru/pkg/cost"
	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/sheet/scan"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// Each is named by its code.
var (
	errFieldInvalid   = problem.BadRequest("field_invalid.estimate")
	errPageEmpty      = problem.BadRequest("page_empty").Of("html")
	errYenRateMissing = problem.BadRequest("jpy_rate_missing.quote").Of("jpyPerUSD")
	errPageTooLarge   = problem.New(http.StatusRequestEntityTooLarge, "page_too_large", nil).Of("html")
)

// Options are the parts and settings of a Resource.
type Options struct {
	Tasks   *tasks.Engine
	Jobs    *jobs.Store
	Cache   *cache.Cache
	Hub     *jobs.Hub // its Run must be running
	Costs   *cost.Tables
	Sheets  *scan.Hosts // that sheets are fetched from
	Limits  *await.Limits
	Work    *await.Work
	Streams *await.Streams
	// AllowLoopback accepts listings and sheets on this machine.
	AllowLoopback bool
	Log           *slog.Logger
}

// Resource answers the requests for estimates and jobs.
type Resource struct{ options Options }

// New returns the Resource of some parts.
func New(options Options) *Resource { return &Resource{options} }

// estimateRequest is the body of POST /v1/estimate.
type estimateRequest struct {
	terms.Request
	request.TagFields

	URL     string  `json:"url"`
	HTML    *string `json:"html"`    // the page; nil lets a worker fetch it
	Explain bool    `json:"explain"` // add the source of each value

	ModelBody string          `json:"modelBody"` // TRA label, chosen by the caller
	Known     json.RawMessage `json:"known"`     // values that override the listing's

	PriceCandidates bool `json:"priceCandidates"` // add the taxes of all candidates to an error
}

// TypeProblem returns the problem of a field that has the wrong type. A URL that
// is not a string counts as missing.
func (*estimateRequest) TypeProblem(field string) *problem.Problem {
	switch field {
	case "html", "explain", "modelBody", "priceCandidates":
		return errFieldInvalid.Of(field)
	}
	return request.ErrURLMissing
}

// PostEstimate answers POST /v1/estimate.
func (s *Resource) PostEstimate(w http.ResponseWriter, plain *http.Request) error {
	r := request.From(plain)
	var body estimateRequest
	if err := r.JSON(w, maxEstimateBody, &body); err != nil {
		return err
	}
	input, err := s.estimateInput(&body)
	if err != nil {
		return err
	}
	if body.HTML != nil {
		input.Page = r.HashSent(*body.HTML)
	}
	if err := terms.Read(r, &body.Request, body.TagFields); err != nil {
		return err
	}
	if r.Fields, err = terms.ReadFields(r, terms.OfEstimate); err != nil {
		return err
	}
	r.Explain = body.Explain
	wanted := await.Wanted{Kind: tasks.KindEstimate, Identity: []any{input, r.Terms, body.Explain}}
	if body.HTML != nil {
		wanted.Attachment = []byte(*body.HTML)
	}
	input = input.For(r.Key.ID)
	wanted.Input, wanted.Key = input, input.Key()
	err = s.options.Work.Serve(w, r, wanted, func(result []byte, cached bool) ([]byte, error) {
		if cached {
			// The key has named the listing, as by its job. The estimate is right without that too; only
			// a report will not be compared with it.
			if err := s.options.Tasks.NameCached(r.Context(), r.Key.ID, input, result); err != nil {
				s.options.Log.WarnContext(r.Context(), "listing of a sheet not stored", "error", err)
			}
		}
		return s.finish(r, result, input)
	})
	return s.explained(r, err, input)
}

// estimateInput checks a request, and returns its canonical form, without the hash of its page.
func (s *Resource) estimateInput(body *estimateRequest) (input tasks.EstimateInput, err error) {
	if input.URL, err = request.ListingURL(body.URL, s.options.AllowLoopback); err != nil {
		return input, err
	}
	switch {
	case body.HTML != nil && len(*body.HTML) > maxPage:
		return input, errPageTooLarge
	case body.HTML != nil && strings.TrimSpace(*body.HTML) == "":
		return input, errPageEmpty
	case len(body.ModelBody) > terms.MaxLabel:
		return input, errFieldInvalid
	}
	input.ModelBody, input.PriceCandidates = body.ModelBody, body.PriceCandidates
	input.Known, err = terms.ParseKnown(body.Known)
	return input, err
}

const (
	// maxPage is for a listing page. The largest that was seen has 600 KB.
	maxPage = 4 << 20
	// maxEstimateBody allows for the escapes of a page in JSON.
	maxEstimateBody = 2 * maxPage
)

// finish makes the answer of an estimate from its result: with its cost on the terms of the
// request, and with the source of each value when the request wants that. The explanation is
// cached beside the estimate, so that callers who do not ask for it get the cached bytes as they
// are.
func (s *Resource) finish(r *request.Request, result []byte, input tasks.EstimateInput) ([]byte, error) {
	estimate, err := s.priced(r, result, vehicle.FromListing)
	if err != nil || !r.Explain {
		return estimate, err
	}
	explanation, err := s.explanation(r.Context(), input)
	if err != nil {
		return nil, err
	}
	return plainjson.Merge(estimate, explanation), nil
}

// explained adds the source of each value to the error of a car that was read but not matched,
// when the request wants that.
func (s *Resource) explained(r *request.Request, err error, input tasks.EstimateInput) error {
	p, ok := errors.AsType[*problem.Problem](err)
	if !r.Explain || !ok || p.Car == nil {
		return err
	}
	explanation, readErr := s.explanation(r.Context(), input)
	if readErr != nil {
		return err // the error of the request is more useful
	}
	explained := *p
	explained.Explained = explanation
	return &explained
}

// pricing is what the cost of an estimate depends on.
type pricing struct {
	Terms    vehicle.Terms
	Source   vehicle.Source
	Warnings []vehicle.Warning
}

// priced returns an estimate with its cost on the terms of a request.
func (s *Resource) priced(r *request.Request, result []byte, source vehicle.Source) ([]byte, error) {
	warnings := r.Warnings()
	price := func() ([]byte, error) { return terms.Priced(s.options.Costs, result, r.Terms, source, warnings) }
	if r.Terms.IsZero() {
		return s.options.Limits.Compute(r, price)
	}
	return s.options.Limits.ComputeOnce(r, result, pricing{r.Terms, source, warnings}, price)
}

// sourceRequest is the source of a value that the caller gave.
const sourceRequest = "request"

// explanation returns the source of each value that was read of a listing, as a JSON object.
// Values of the request replace those of the listing, which become values that were not taken.
func (s *Resource) explanation(ctx context.Context, input tasks.EstimateInput) ([]byte, error) {
	explanation, err := s.options.Cache.Get(ctx, cache.ExplanationKey(input.PageKey()))
	if err != nil {
		return nil, err
	}
	if explanation == nil {
		explanation = noExplanation()
	}
	if input.Known == nil {
		return explanation, nil
	}
	var parts struct {
		Explain []map[string]any `json:"explain"`
		Notes   []string         `json:"notes"`
		// NoteTexts are Notes in both languages.
		NoteTexts json.RawMessage `json:"noteTexts,omitempty"`
	}
	var values map[string]any
	encoded, err := plainjson.Encode(input.Known)
	if err == nil {
		err = errors.Join(json.Unmarshal(encoded, &values), json.Unmarshal(explanation, &parts))
	}
	if err != nil {
		return nil, fmt.Errorf("estimates: explanation: %w", err)
	}
	overridden := message.Say("explain/overridden", nil)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		entry := map[string]any{"name": name, "value": fmt.Sprint(values[name]), "source": sourceRequest}
		at := slices.IndexFunc(parts.Explain, func(field map[string]any) bool { return field["name"] == name })
		if at < 0 {
			parts.Explain = append(parts.Explain, entry)
			continue
		}
		if listed := parts.Explain[at]; listed["value"] != "" {
			entry["others"] = []map[string]any{{
				"value": listed["value"], "source": listed["source"], "rank": listed["rank"],
				"reason": overridden.EN, "code": "overridden", "text": overridden,
			}}
		}
		parts.Explain[at] = entry
	}
	return plainjson.Encode(parts)
}

// noExplanation replaces an explanation that is no longer cached.
func noExplanation() []byte {
	said := message.SayCoded("note/no_sources", nil)
	body, _ := plainjson.Encode(map[string]any{"explain": []any{}, "notes": []string{said.EN}, "noteTexts": []any{said}})
	return body
}

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
