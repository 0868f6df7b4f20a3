// Package estimates answers the requests for estimates: of a listing, and of a car that the
// caller describes (a quote); for what is made of them and of inspection sheets: bill checks,
// comparisons and reports; and for the jobs that do the work of all these.
package estimates

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"

	"ushuru/api/await"
	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/api/terms"
	"ushuru/pkg/cache"
	"ushuru/pkg/cost"
	"ushuru/pkg/jobs"
	"ushuru/pkg/sheet/scan"
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
	input, err := s.estimateInput(r, &body)
	if err != nil {
		return err
	}
	if err := terms.Read(r, &body.Request, body.TagFields); err != nil {
		return err
	}
	if r.Fields, err = r.ReadFields(terms.OfEstimate); err != nil {
		return err
	}
	r.Explain = body.Explain
	wanted := await.Wanted{Kind: tasks.KindEstimate, Identity: []any{input, r.Terms, body.Explain}}
	if body.HTML != nil {
		wanted.Attachment = []byte(*body.HTML)
	}
	input = input.For(r.Key.ID)
	wanted.Input, wanted.Key = input, input.Key()
	wanted.Known = func(ctx context.Context, result []byte) ([]byte, error) {
		// The key has named the listing, as by its job. The estimate is right without that too; only
		// a report will not be compared with it.
		if err := s.options.Tasks.NameCached(ctx, r.Key.ID, input, result); err != nil {
			s.options.Log.WarnContext(ctx, "listing of a sheet not stored", "error", err)
		}
		return result, nil
	}
	wanted.Refused = func(err error) error { return s.explained(r, err, input) }
	return s.options.Work.Serve(w, r, wanted, func(result []byte, _ bool) ([]byte, error) {
		return s.finish(r, result, input)
	})
}

// estimateInput checks a request, and returns its canonical form.
func (s *Resource) estimateInput(r *request.Request, body *estimateRequest) (input tasks.EstimateInput, err error) {
	if input.URL, err = request.ListingURL(body.URL, s.options.AllowLoopback); err != nil {
		return input, err
	}
	if input.Page, err = pageHash(r.Sender, body.HTML); err != nil {
		return input, err
	}
	if len(body.ModelBody) > terms.MaxLabel {
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

// pageHash returns the hash of the page that a request contains, and of the visitor who
// sent it. It is empty when there is no page.
func pageHash(sender string, page *string) (string, error) {
	switch {
	case page == nil:
		return "", nil
	case len(*page) > maxPage:
		return "", errPageTooLarge
	case strings.TrimSpace(*page) == "":
		return "", errPageEmpty
	}
	if sender != "" {
		return request.Hash(sender + "\n" + *page), nil
	}
	return request.Hash(*page), nil
}
