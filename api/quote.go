package api

import (
	"context"
	"net/http"

	"ushuru/pkg/jobs"
	"ushuru/tasks"
)

// postQuote answers POST /v1/quote: an estimate of a car that the caller
// describes, without a listing. From the cache, or from a job that is waited
// for as long as the caller prefers.
func (s *Server) postQuote(w http.ResponseWriter, r *http.Request) error {
	var asked quoteRequest
	if err := readJSON(w, r, maxBody, &asked); err != nil {
		return err
	}
	input, err := asked.canonical()
	if err != nil {
		return err
	}
	rate, err := rateOf(asked.Rate)
	if err != nil {
		return err
	}
	key, err := tasks.QuoteKey(input)
	if err != nil {
		return err
	}
	return s.serve(w, r, task{
		identity: []any{input, rate},
		kept:     func(ctx context.Context) ([]byte, error) { return s.cached(ctx, key) },
		submit: func(ctx context.Context) (*jobs.Job, error) {
			return s.options.Tasks.Quote(ctx, input, recorderOf(r).key.ID, jobs.Interactive)
		},
		answer: s.repriced(rate, true, writeResult),
	})
}
