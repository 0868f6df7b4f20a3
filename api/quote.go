package api

import (
	"context"
	"net/http"

	"ushuru/pkg/jobs"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// postQuote answers POST /v1/quote: an estimate of a car that the caller
// describes, without a listing. From the cache, or from a job that is waited
// for as long as the caller prefers.
func (s *Server) postQuote(w http.ResponseWriter, r *http.Request) error {
	var asked describedCar
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
	answer := s.atRate(rate, true, writeResult)
	hit, err := s.cached(r.Context(), key)
	if err != nil {
		return err
	}
	if hit != nil {
		return answer(w, hit)
	}
	if err := s.admit(w, r); err != nil {
		return err
	}
	job, err := s.submitQuote(r.Context(), input, exchangeOf(r).key.ID)
	if err != nil {
		return errUnavailable.because(err)
	}
	return s.answerWith(w, r, job, answer)
}

func (s *Server) submitQuote(parent context.Context, input vehicle.QuoteInput, owner string) (*jobs.Job, error) {
	ctx, cancel := context.WithTimeout(parent, redisPatience)
	defer cancel()
	return s.options.Tasks.Quote(ctx, input, owner, jobs.Interactive)
}
