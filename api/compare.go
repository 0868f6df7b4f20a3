package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/shopspring/decimal"

	"ushuru/pkg/cache"
	"ushuru/pkg/cost"
	"ushuru/pkg/jobs"
	"ushuru/tasks"
)

// compareRequest is the body of POST /v1/compare.
type compareRequest struct {
	URL1 string          `json:"url1"`
	URL2 string          `json:"url2"`
	Rate json.RawMessage `json:"rate"` // shillings for a dollar
	Lang string          `json:"lang"`
}

// postCompare answers POST /v1/compare: from the cache, or from a job that is
// waited for as long as the caller prefers. A kept comparison at another rate
// is made again; its estimates and readings are kept too.
func (s *Server) postCompare(w http.ResponseWriter, r *http.Request) error {
	var asked compareRequest
	if err := readJSON(w, r, maxBody, &asked); err != nil {
		return pairProblem(err)
	}
	input, err := s.pairInput(asked)
	if err != nil {
		return err
	}
	return s.serve(w, r, task{
		identity: input,
		kept: func(ctx context.Context) ([]byte, error) {
			hit, err := s.cached(ctx, cache.CompareKey(input.URL1, input.URL2, input.Lang))
			if hit == nil || !sameRate(hit, input.Rate) {
				return nil, err
			}
			return hit, nil
		},
		submit: func(ctx context.Context) (*jobs.Job, error) {
			asker := tasks.Requester{Owner: recorderOf(r).key.ID, Class: jobs.Interactive}
			return s.options.Tasks.Submit(ctx, tasks.KindCompare, input, asker)
		},
		answer: writeResult,
	})
}

// pairInput checks what was asked.
func (s *Server) pairInput(asked compareRequest) (input tasks.CompareInput, err error) {
	var err1, err2 error
	input.URL1, err1 = s.canonical(asked.URL1)
	input.URL2, err2 = s.canonical(asked.URL2)
	if err := bothURLs(err1, err2); err != nil {
		return input, err
	}
	if input.URL1 == input.URL2 {
		return input, errSameListing
	}
	rate, err := rateOf(asked.Rate)
	if err != nil {
		return input, err
	}
	if rate.IsZero() {
		rate = cost.DefaultRate
	}
	input.Rate = rate.String()
	input.Lang, err = languageOf(asked.Lang)
	return input, err
}

// bothURLs says which of the two addresses is wrong, and why.
func bothURLs(err1, err2 error) error {
	var (
		first   *problem
		reasons []string
	)
	for _, url := range []struct {
		name string
		err  error
	}{{"url1", err1}, {"url2", err2}} {
		var p *problem
		switch {
		case url.err == nil:
			continue
		case !errors.As(url.err, &p):
			return url.err
		case p == errURLMissing:
			p = errPairURLMissing
		}
		if first == nil {
			first = p
		}
		reasons = append(reasons, url.name+": "+p.message)
	}
	if first == nil {
		return nil
	}
	told := *first
	told.message = strings.Join(reasons, " ")
	return &told
}

// sameRate reports whether a kept comparison was made at a rate.
func sameRate(kept []byte, rate string) bool {
	var made struct {
		Rate decimal.Decimal `json:"rate"`
	}
	want, err := decimal.NewFromString(rate)
	return err == nil && json.Unmarshal(kept, &made) == nil && made.Rate.Equal(want)
}

// pairProblem says which field of a comparison has the wrong type.
func pairProblem(err error) error {
	var wrongType *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &wrongType):
		return err
	case wrongType.Field == "lang":
		return errLangInvalid.withCause(err)
	}
	return errPairURLMissing.withCause(err)
}
