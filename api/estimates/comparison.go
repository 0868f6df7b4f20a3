package estimates

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"ushuru/api/await"
	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/api/terms"
	"ushuru/pkg/advice"
	"ushuru/pkg/cache"
	"ushuru/pkg/cost"
	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/pace"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/sheet"
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

// comparedAgain returns a comparison that is kept on the terms of a request, and for cars
// that are bought today: figures, verdict and text are made again, without asking anything
// and without changing what is kept. It is nil when that cannot be done, because the
// reading of a sheet is not kept any more.
func (s *Resource) comparedAgain(
	ctx context.Context, turn *pace.Turn, kept []byte, input tasks.CompareInput,
) ([]byte, error) {
	var c vehicle.Comparison
	if err := json.Unmarshal(kept, &c); err != nil {
		return nil, fmt.Errorf("comparisons: cached comparison: %w", err)
	}
	terms, err := input.Terms()
	if err != nil {
		return nil, err
	}
	now := time.Now()
	pair := advice.Pair{Car1: s.options.Costs.Apply(c.Car1, terms, now), Car2: s.options.Costs.Apply(c.Car2, terms, now)}
	if c.Rate != nil && c.Rate.Decimal().Equal(terms.Rate) && isSameCost(c.Car1, pair.Car1) && isSameCost(c.Car2, pair.Car2) {
		return kept, nil
	}
	turn.Give()
	var has1, has2 bool
	if pair.Condition1, has1, err = s.conditionOf(ctx, c.CondReport1, pair.Car1, input.Owner); err != nil {
		return nil, err
	}
	if pair.Condition2, has2, err = s.conditionOf(ctx, c.CondReport2, pair.Car2, input.Owner); err != nil || !has1 || !has2 {
		return nil, err
	}
	if err := turn.Take(ctx); err != nil {
		return nil, err
	}
	verdict := advice.Judge(pair)
	c.Car1, c.Car2 = pair.Cars()
	c.Verdict = &verdict
	c.Recommendation = advice.Write(verdict, pair, input.Lang)
	rate := money.NewNumber(terms.Rate)
	c.Rate = &rate
	c.Cached = true
	return plainjson.Encode(c)
}

// isSameCost reports whether an estimate has the same cost as another one of the same car.
func isSameCost(a, b vehicle.Estimate) bool {
	first, err1 := plainjson.Encode([]any{a.Summary, a.DriveAway, a.Warnings})
	second, err2 := plainjson.Encode([]any{b.Summary, b.DriveAway, b.Warnings})
	return err1 == nil && err2 == nil && bytes.Equal(first, second)
}

// conditionOf returns the condition of a car by the kept reading of its sheet; false when
// that is not kept any more. A car without a report has none.
func (s *Resource) conditionOf(
	ctx context.Context, report *string, e vehicle.Estimate, owner string,
) (condition *advice.Condition, ok bool, err error) {
	if report == nil {
		return nil, true, nil
	}
	if e.Car.ConditionReportURL == nil {
		return nil, false, nil
	}
	input := tasks.ReportInput{URL: *e.Car.ConditionReportURL}.For(owner)
	reading, err := s.options.Cache.Get(ctx, cache.ReadingKey(input.ID()))
	if err != nil || reading == nil {
		return nil, false, err
	}
	_, read, err := sheet.ParseReading(reading)
	if err != nil {
		return nil, false, err
	}
	return advice.NewCondition(read, sheet.Compare(read, e.Car)), true, nil
}
