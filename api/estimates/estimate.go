// Package estimates answers the requests for estimates: of a listing, and of a car that
// the caller describes (a quote).
package estimates

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"

	"github.com/gorilla/mux"

	"ushuru/api/await"
	"ushuru/api/described"
	"ushuru/api/idempotencykey"
	"ushuru/api/limits"
	"ushuru/api/problem"
	"ushuru/api/receive"
	"ushuru/api/respond"
	"ushuru/api/terms"
	"ushuru/pkg/cost"
	"ushuru/pkg/jobs"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// Options are the parts and settings of a Resource.
type Options struct {
	Tasks  *tasks.Engine
	Costs  *cost.Tables
	Limits *limits.Limits
	Work   *await.Work
	// AllowLoopback accepts listings on this machine.
	AllowLoopback bool
	Log           *slog.Logger
}

// Resource answers the requests for estimates.
type Resource struct{ options Options }

// New returns the Resource of some parts.
func New(options Options) *Resource { return &Resource{options} }

// Register adds the endpoints to a router.
func (s *Resource) Register(v1 *mux.Router) {
	v1.Handle("/v1/estimate", respond.Methods{http.MethodPost: idempotencykey.Accepted(s.postEstimate)})
	v1.Handle("/v1/quote", respond.Methods{http.MethodPost: idempotencykey.Accepted(s.postQuote)})
}

// estimateRequest is the body of POST /v1/estimate.
type estimateRequest struct {
	terms.Request

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
	return receive.ErrURLMissing
}

// postEstimate answers POST /v1/estimate.
func (s *Resource) postEstimate(w http.ResponseWriter, r *http.Request) error {
	// Decode the body. Equal requests have equal inputs, and so one job.
	if err := s.options.Limits.AdmitBody(w, r); err != nil {
		return err
	}
	var req estimateRequest
	if err := receive.JSON(w, r, maxEstimateBody, &req); err != nil {
		return err
	}
	input, err := s.estimateInput(r, &req)
	if err != nil {
		return err
	}
	wanted, err := terms.Read(r, &req.Request)
	if err != nil {
		return err
	}

	respond.RecorderOf(r).Explain = req.Explain

	// Find the outcome: the stored one of the same request, else a cached
	// result, else a job. Only a job counts against the limits of the key.
	found, err := s.options.Work.Replay(r, terms.Identity(wanted, input, req.Explain))
	if err != nil {
		return err
	}
	input = input.For(respond.RecorderOf(r).Key.ID)
	if found.IsEmpty() {
		if found, err = s.cachedEstimate(r, input); err != nil {
			return err
		}
	}
	if found.IsEmpty() {
		if found.Job, err = s.Submit(w, r, input, req.HTML); err != nil {
			return err
		}
	}
	if found, err = s.options.Work.SetOutcome(w, r, tasks.KindEstimate, input, found); err != nil {
		return err
	}

	// Wait for the job as long as the caller prefers, and respond.
	result, err := s.options.Work.WaitForResult(w, r, found)
	if err == nil {
		result, err = terms.Priced(s.options.Costs, result, wanted, vehicle.FromListing, respond.RecorderOf(r).Ignored)
	}
	if req.Explain {
		result, err = s.Explained(r.Context(), result, err, input)
	}
	if err != nil {
		return err
	}
	return respond.Result(w, result)
}

// Submit submits the job of an estimate, unless the key has used up its rate or
// the site pauses.
func (s *Resource) Submit(
	w http.ResponseWriter, r *http.Request, input tasks.EstimateInput, html *string,
) (*jobs.Job, error) {
	if err := s.options.Limits.CheckRate(w, r); err != nil {
		return nil, err
	}
	if err := s.options.Work.CheckPause(r.Context(), input); err != nil {
		return nil, err
	}
	return s.options.Work.Submit(w, r, tasks.KindEstimate, input, attachedPage(html))
}

// cachedEstimate returns the cached estimate of a listing; it is empty when there is
// none. The key has named the listing, as it does with a job.
func (s *Resource) cachedEstimate(r *http.Request, input tasks.EstimateInput) (await.Outcome, error) {
	found, err := s.options.Work.CachedOutcome(r.Context(), input.Key())
	if found.IsEmpty() {
		return found, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), respond.RedisTimeout)
	defer cancel()
	if err := s.options.Tasks.NameCached(ctx, respond.RecorderOf(r).Key.ID, input, found.Result); err != nil {
		// The estimate is right all the same; only a report will not be compared with it.
		s.options.Log.WarnContext(ctx, "listing of a sheet not stored", "error", err)
	}
	return found, nil
}

// estimateInput checks a request, and returns its canonical form.
func (s *Resource) estimateInput(r *http.Request, req *estimateRequest) (input tasks.EstimateInput, err error) {
	if input.URL, err = receive.ListingURL(req.URL, s.options.AllowLoopback); err != nil {
		return input, err
	}
	if input.Page, err = pageHash(respond.RecorderOf(r).Sender, req.HTML); err != nil {
		return input, err
	}
	if len(req.ModelBody) > described.MaxLabel {
		return input, errFieldInvalid
	}
	input.ModelBody, input.PriceCandidates = req.ModelBody, req.PriceCandidates
	input.Known, err = described.ParseKnown(req.Known)
	return input, err
}
