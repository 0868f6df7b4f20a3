// Package reports answers the requests for reports on inspection sheets.
package reports

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/gorilla/mux"

	"ushuru/api/await"
	"ushuru/api/idempotencykey"
	"ushuru/api/limits"
	"ushuru/api/problem"
	"ushuru/api/receive"
	"ushuru/api/respond"
	"ushuru/pkg/cache"
	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/render"
	"ushuru/pkg/sheet/scan"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// Options are the parts and settings of a Resource.
type Options struct {
	Sheets *scan.Hosts // that sheets are fetched from
	Limits *limits.Limits
	Work   *await.Work
	// AllowLoopback accepts sheets on this machine.
	AllowLoopback bool
}

// Resource answers the requests for reports.
type Resource struct{ options Options }

// New returns the Resource of some parts.
func New(options Options) *Resource { return &Resource{options} }

// Register adds the endpoints to a router.
func (s *Resource) Register(v1 *mux.Router) {
	v1.Handle("/v1/condition-report", respond.Methods{
		http.MethodPost: s.options.Limits.WithAITokens(idempotencykey.Accepted(s.post)),
	})
	v1.Handle("/v1/condition-report/{id:[0-9a-f]{32}}/map.svg", respond.Methods{http.MethodGet: s.getDamageMap})
}

// request is the body of POST /v1/condition-report: the URL of a sheet,
// or a form with its file.
type request struct {
	URL string `json:"url"`

	file []byte // nil when the URL is given
	lang string // of the form
}

// TypeProblem returns the problem of a field that has the wrong type. A URL that
// is not a string counts as missing.
func (*request) TypeProblem(string) *problem.Problem {
	return errURLMissing
}

// post answers POST /v1/condition-report.
func (s *Resource) post(w http.ResponseWriter, r *http.Request) error {
	// Decode the body or form. Equal requests have equal inputs, and so one job.
	req, err := s.read(w, r)
	if err != nil {
		return err
	}
	lang := respond.RecorderOf(r).Lang
	input, err := s.inputOf(req)
	if err != nil {
		return err
	}

	// Find the outcome: the stored one of the same request, else a cached
	// result, else a job. Only a job counts against the limits of the key.
	found, err := s.options.Work.Replay(r, identity{input, lang})
	if err != nil {
		return err
	}
	owner := respond.RecorderOf(r).Key.ID
	input = input.For(owner)
	if found.IsEmpty() {
		if found, err = s.options.Work.CachedOutcome(r.Context(), cache.ReadingKey(input.ID())); err != nil {
			return err
		}
	}
	if found.IsEmpty() {
		if found.Job, err = s.options.Work.Submit(w, r, tasks.KindReport, input, req.file); err != nil {
			return err
		}
	}
	if found, err = s.options.Work.SetOutcome(w, r, tasks.KindReport, input, found); err != nil {
		return err
	}

	// Wait for the job as long as the caller prefers, and respond.
	reading, err := s.options.Work.WaitForResult(w, r, found)
	if err != nil {
		return err
	}
	report, err := s.Report(r.Context(), input, owner, reading, lang)
	if err != nil {
		return err
	}
	report.Cached = found.Job == nil || found.WasCached
	report.Warnings = append(report.Warnings, respond.IgnoredWarning(respond.RecorderOf(r).Ignored)...)
	return respond.JSON(w, http.StatusOK, report)
}

// identity is what makes two requests for a report the same request.
type identity struct {
	tasks.ReportInput

	Lang string `json:"lang"`
}

// Report writes the report on a sheet in a language, from what the AI
// read. When a listing with this sheet was estimated for the caller, the sheet is
// compared with it.
func (s *Resource) Report(
	ctx context.Context, input tasks.ReportInput, owner string, result []byte, lang string,
) (*vehicle.ConditionReport, error) {
	reading, report, err := sheet.ParseReading(result)
	if err != nil {
		return nil, err
	}
	listing, err := s.listingOf(ctx, input.ID(), owner)
	if err != nil {
		return nil, err
	}
	response := &vehicle.ConditionReport{ID: input.ID(), Lang: lang, Report: reading.Report}
	var mismatches []sheet.Mismatch
	if listing != nil {
		mismatches = sheet.Compare(report, listing.Car)
		response.Listing = listing.Input.URL
	}
	for _, m := range mismatches {
		response.Mismatches = append(response.Mismatches, vehicle.Mismatch{
			Field: m.Field, Sheet: m.Sheet, Listing: m.Listing, YearBasis: m.YearBasis,
		})
	}
	response.Summary, err = render.Text(report, lang, mismatches)
	return response, err
}

// listingOf returns the estimate of the listing that has a sheet, of those that an
// API key has named; nil when there is none.
func (s *Resource) listingOf(ctx context.Context, sheetID, owner string) (*vehicle.Estimate, error) {
	key, err := s.options.Work.CachedResult(ctx, cache.ListingKey(sheetID, owner))
	if err != nil || key == nil {
		return nil, err
	}
	cached, err := s.options.Work.CachedResult(ctx, cache.Key(key))
	if err != nil || cached == nil {
		return nil, err
	}
	estimate := &vehicle.Estimate{}
	if err := json.Unmarshal(cached, estimate); err != nil {
		return nil, fmt.Errorf("reports: cached estimate: %w", err)
	}
	return estimate, nil
}

// read reads the request in either of its formats.
func (s *Resource) read(w http.ResponseWriter, r *http.Request) (req request, err error) {
	if isForm(r.Header) {
		if req, err = s.readForm(w, r); err != nil || req.lang == "" {
			return req, err
		}
		respond.RecorderOf(r).Lang, err = respond.ParseLanguage(req.lang)
		return req, err
	}
	err = receive.JSON(w, r, receive.MaxBody, &req)
	return req, err
}

// inputOf names the sheet, or says what is wrong with its URL.
func (s *Resource) inputOf(req request) (input tasks.ReportInput, err error) {
	if req.file != nil {
		input.Upload = receive.Hash(req.file)
		return input, nil
	}
	if strings.TrimSpace(req.URL) == "" {
		return input, errURLMissing
	}
	input.URL, err = s.options.Sheets.Canonical(req.URL, s.options.AllowLoopback)
	return input, receive.URLProblem(err)
}
