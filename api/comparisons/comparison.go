// Package comparisons answers the requests for comparisons of two listings.
package comparisons

import (
	"errors"
	"net/http"

	"github.com/gorilla/mux"

	"ushuru/api/await"
	"ushuru/api/idempotencykey"
	"ushuru/api/limits"
	"ushuru/api/problem"
	"ushuru/api/receive"
	"ushuru/api/respond"
	"ushuru/api/terms"
	"ushuru/pkg/cost"
	"ushuru/pkg/message"
	"ushuru/tasks"
)

// Options are the parts and settings of a Resource.
type Options struct {
	Costs  *cost.Tables
	Limits *limits.Limits
	Work   *await.Work
	// AllowLoopback accepts listings on this machine.
	AllowLoopback bool
}

// Resource answers the requests for comparisons.
type Resource struct{ options Options }

// New returns the Resource of some parts.
func New(options Options) *Resource { return &Resource{options} }

// Register adds the endpoints to a router.
func (s *Resource) Register(v1 *mux.Router) {
	v1.Handle("/v1/compare", respond.Methods{
		http.MethodPost: s.options.Limits.WithAITokens(idempotencykey.Accepted(s.post)),
	})
}

// request is the body of POST /v1/compare.
type request struct {
	terms.Request

	URL1 string `json:"url1"`
	URL2 string `json:"url2"`
}

// TypeProblem returns the problem of a field that has the wrong type. A URL that
// is not a string counts as missing.
func (*request) TypeProblem(string) *problem.Problem {
	return errURLMissing
}

// post answers POST /v1/compare.
func (s *Resource) post(w http.ResponseWriter, r *http.Request) error {
	input, err := s.read(w, r)
	if err != nil {
		return err
	}

	// Find the outcome: the stored one of the same request, else a cached
	// result, else a job. Only a job counts against the limits of the key.
	found, err := s.options.Work.Replay(r, input)
	if err != nil {
		return err
	}
	owner := respond.RecorderOf(r).Key.ID
	input = input.For(owner)
	if found.IsEmpty() {
		if found, err = s.options.Work.CachedOutcome(r.Context(), input.Key()); err != nil {
			return err
		}
	}
	if found.Result != nil {
		asked := input
		asked.Owner = owner // each sheet decides by its own URL whose it is
		if found.Result, err = s.comparedAgain(r.Context(), found.Result, asked); err != nil {
			return err
		}
	}
	if found.IsEmpty() {
		if found.Job, err = s.options.Work.Submit(w, r, tasks.KindCompare, input, nil); err != nil {
			return err
		}
	}
	if found, err = s.options.Work.SetOutcome(w, r, tasks.KindCompare, input, found); err != nil {
		return err
	}

	// Wait for the job as long as the caller prefers, and respond.
	result, err := s.options.Work.WaitForResult(w, r, found)
	if err != nil {
		return err
	}
	if result, err = terms.WithWarnings(result, respond.IgnoredWarning(respond.RecorderOf(r).Ignored)); err != nil {
		return err
	}
	return respond.Result(w, result)
}

// read decodes the body of a comparison. Equal requests have equal inputs, and
// so one job.
func (s *Resource) read(w http.ResponseWriter, r *http.Request) (input tasks.CompareInput, err error) {
	var req request
	if err := receive.JSON(w, r, receive.MaxBody, &req); err != nil {
		return input, err
	}
	rec := respond.RecorderOf(r)
	if input, err = s.inputOf(&req, rec.Lang); err != nil {
		return input, err
	}
	wanted, err := terms.Read(r, &req.Request)
	if err != nil {
		return input, err
	}
	if input.Rate = wanted.Rate.String(); wanted.Rate.IsZero() {
		input.Rate = cost.DefaultRate.String()
	}
	input.Landing, input.Costs = wanted.Landing, wanted.Costs
	ignored := []string{} // a comparison has no highest price and no months
	if wanted.Target != nil {
		ignored = append(ignored, "target")
	}
	if wanted.ByMonth {
		ignored = append(ignored, "byMonth")
	}
	return input, rec.Ignore(r, ignored...)
}

// inputOf checks a request and returns its canonical form.
func (s *Resource) inputOf(req *request, lang string) (input tasks.CompareInput, err error) {
	var err1, err2 error
	input.URL1, err1 = receive.ListingURL(req.URL1, s.options.AllowLoopback)
	input.URL2, err2 = receive.ListingURL(req.URL2, s.options.AllowLoopback)
	if err := pairProblem(err1, err2); err != nil {
		return input, err
	}
	if input.URL1 == input.URL2 {
		return input, errSameListing
	}
	input.Lang = lang
	return input, nil
}

// pairProblem says which of the two URLs is wrong, and why.
func pairProblem(err1, err2 error) error {
	var (
		first *problem.Problem
		said  message.Notice
	)
	for _, url := range []struct {
		name string
		err  error
	}{{"url1", err1}, {"url2", err2}} {
		var p *problem.Problem
		switch {
		case url.err == nil:
			continue
		case !errors.As(url.err, &p):
			return url.err
		case p == receive.ErrURLMissing:
			p = errURLMissing
		}
		framed := p.Within("frame/url", message.Values{"name": url.name})
		if first == nil {
			first, said = p.Of(url.name), framed
		} else {
			said = said.Then(" ", framed)
		}
	}
	if first == nil {
		return nil
	}
	first.Notice = said
	return first
}
