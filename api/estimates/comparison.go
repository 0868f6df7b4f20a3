package estimates

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"ushuru/api/await"
	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/api/terms"
	"ushuru/pkg/cost"
	"ushuru/pkg/message"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// Each is named by its code.
var (
	errPairMissing = problem.BadRequest("url_missing.pair")
	errSameListing = problem.BadRequest("same_listing").Of("url2")
)

// compareRequest is the body of POST /v1/compare.
type compareRequest struct {
	terms.Request
	request.TagFields

	URL1 string `json:"url1"`
	URL2 string `json:"url2"`
	Lang string `json:"lang"`
}

// TypeProblem returns the problem of a field that has the wrong type. A URL that
// is not a string counts as missing.
func (*compareRequest) TypeProblem(string) *problem.Problem {
	return errPairMissing
}

// PostComparison answers POST /v1/compare.
func (s *Resource) PostComparison(w http.ResponseWriter, plain *http.Request) error {
	r := request.From(plain)
	input, err := s.readComparison(w, r)
	if err != nil {
		return err
	}
	wanted := await.Wanted{Kind: tasks.KindCompare, Identity: input}
	asked := input
	asked.Owner = r.Key.ID // each sheet decides by its own URL whose it is
	input = input.For(r.Key.ID)
	wanted.Input, wanted.Key = input, input.Key()
	wanted.Known = func(ctx context.Context, result []byte) ([]byte, error) {
		return s.options.Limits.ComputeOnce(r, result, asked, func() ([]byte, error) { //nolint:contextcheck // that of r
			return s.comparedAgain(ctx, r.Place.Turn, result, asked)
		})
	}
	return s.options.Work.Serve(w, r, wanted, func(result []byte, _ bool) ([]byte, error) {
		return withWarnings(result, r.Warnings())
	})
}

// withWarnings returns a comparison with more warnings.
func withWarnings(comparison []byte, more []vehicle.Warning) ([]byte, error) {
	if len(more) == 0 {
		return comparison, nil
	}
	var c vehicle.Comparison
	if err := json.Unmarshal(comparison, &c); err != nil {
		return nil, fmt.Errorf("estimates: comparison: %w", err)
	}
	c.Warnings = append(c.Warnings, more...)
	return plainjson.Encode(c)
}

// readComparison decodes the body of a comparison.
func (s *Resource) readComparison(w http.ResponseWriter, r *request.Request) (input tasks.CompareInput, err error) {
	var body compareRequest
	if err := r.JSON(w, request.MaxBody, &body); err != nil {
		return input, err
	}
	if input, err = s.comparisonInput(&body, r.Lang); err != nil {
		return input, err
	}
	if r.Fields, err = terms.ReadFields(r, terms.OfComparison); err != nil {
		return input, err
	}
	if err := terms.Read(r, &body.Request, body.TagFields); err != nil {
		return input, err
	}
	if input.Rate = r.Terms.Rate.String(); r.Terms.Rate.IsZero() {
		input.Rate = cost.DefaultRate.String()
	}
	input.Landing, input.Costs = r.Terms.Landing, r.Terms.Costs
	var ignored []string // a comparison has no highest price and no months
	if r.Terms.Target != nil {
		ignored = append(ignored, "target")
	}
	if r.Terms.ByMonth {
		ignored = append(ignored, "byMonth")
	}
	r.Terms = vehicle.Terms{} // the comparison is made on them
	return input, r.Ignore(ignored...)
}

// comparisonInput checks a request and returns its canonical form.
func (s *Resource) comparisonInput(body *compareRequest, lang string) (input tasks.CompareInput, err error) {
	var err1, err2 error
	input.URL1, err1 = request.ListingURL(body.URL1, s.options.AllowLoopback)
	input.URL2, err2 = request.ListingURL(body.URL2, s.options.AllowLoopback)
	if err := pairProblem(err1, err2); err != nil {
		return input, err
	}
	if input.URL1 == input.URL2 {
		return input, errSameListing
	}
	input.Lang = lang
	_, err = request.ParseLanguage(body.Lang)
	return input, err
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
		case p == request.ErrURLMissing:
			p = errPairMissing
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
