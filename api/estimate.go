package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"ushuru/pkg/cache"
	"ushuru/pkg/fetch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/listing"
	"ushuru/tasks"
)

// estimateRequest is the body of POST /v1/estimate.
type estimateRequest struct {
	URL     string  `json:"url"`
	HTML    *string `json:"html"`    // the page, when it is not to be fetched
	Explain bool    `json:"explain"` // add where the values came from

	ModelBody string          `json:"modelBody"` // the authority's label, chosen by the caller
	Rate      json.RawMessage `json:"rate"`      // shillings for a dollar in the drive-away cost
}

// maxModelBody is the longest label that a caller may choose, in bytes.
const maxModelBody = 200

// postEstimate answers POST /v1/estimate: from the cache, or from a job that
// is waited for as long as the caller prefers.
func (s *Server) postEstimate(w http.ResponseWriter, r *http.Request) error {
	s.allowUpload(w, r)
	var asked estimateRequest
	if err := readJSON(w, r, maxEstimateBody, &asked); err != nil {
		return err
	}
	url, err := s.canonical(asked.URL)
	if err != nil {
		return err
	}
	page, err := pageOf(asked)
	if err != nil {
		return err
	}
	if len(asked.ModelBody) > maxModelBody {
		return errFieldInvalid
	}
	rate, err := rateOf(asked.Rate)
	if err != nil {
		return err
	}
	key := cache.UploadKey(url, page)
	answer := s.repriced(rate, false, s.explainedWriter(r.Context(), key, asked.Explain))
	input := tasks.EstimateInput{URL: url, Page: page, ModelBody: asked.ModelBody}
	return s.serve(w, r, task{
		identity: []any{input, asked.Explain, rate},
		kept:     func(ctx context.Context) ([]byte, error) { return s.cached(ctx, input.Key()) },
		submit: func(ctx context.Context) (*jobs.Job, error) {
			return s.submit(ctx, input, asked.HTML, recorderOf(r).key.ID)
		},
		answer: answer,
	})
}

// submit has the work done.
func (s *Server) submit(ctx context.Context, input tasks.EstimateInput, page *string, owner string) (*jobs.Job, error) {
	if page != nil {
		if err := s.options.Uploads.Put(ctx, input.Page, []byte(*page)); err != nil {
			return nil, err
		}
	}
	return s.options.Tasks.EstimateAs(ctx, input, owner, jobs.Interactive)
}

// canonical returns the canonical form of a listing's address, or says what
// is wrong with it.
func (s *Server) canonical(raw string) (string, error) {
	if raw == "" {
		return "", errURLMissing
	}
	url, err := listing.Canonical(raw, s.options.AllowLoopback)
	if public, ok := errors.AsType[*fetch.Error](err); ok {
		return "", &problem{status: http.StatusBadRequest, code: public.Code, message: public.Message, cause: err}
	}
	return url, err
}

// cached returns the bytes of a cached answer, nil when there is none.
func (s *Server) cached(parent context.Context, key cache.Key) ([]byte, error) {
	ctx, cancel := context.WithTimeout(parent, redisTimeout)
	defer cancel()
	hit, err := s.options.Cache.Get(ctx, key)
	switch {
	case errors.Is(err, cache.ErrMiss):
		return nil, nil
	case err != nil:
		return nil, errUnavailable.withCause(err)
	}
	return hit, nil
}

// writer sends a result.
type writer func(w http.ResponseWriter, result []byte) error

// respondWithJob answers with the result of a job; when that takes longer than
// the caller waits, with where to find it.
func (s *Server) respondWithJob(w http.ResponseWriter, r *http.Request, job *jobs.Job, answer writer) error {
	recorderOf(r).job = job.ID
	if err := s.trackJob(r, job); err != nil {
		return err
	}
	prefer := preferenceOf(r.Header, s.options.WaitMax)
	ended := job
	if !job.State.Ended() {
		var err error
		ended, err = s.wait(r.Context(), job.ID, prefer.patience())
		switch {
		case errors.Is(err, errNotFinished) && prefer.accepts():
			return writeAccepted(w, job, prefer)
		case errors.Is(err, errNotFinished):
			return errNotFinished.at(locationOf(job))
		case err != nil:
			return err
		}
	}
	if applied := prefer.applied(false); applied != "" {
		w.Header().Set("Preference-Applied", applied)
	}
	if ended.State != jobs.Succeeded {
		return jobProblem(ended)
	}
	return answer(w, ended.Result)
}

// writeAccepted answers 202: the work goes on, and here is its job.
func writeAccepted(w http.ResponseWriter, job *jobs.Job, prefer preference) error {
	w.Header().Set("Preference-Applied", prefer.applied(true))
	w.Header().Set("Location", locationOf(job))
	w.Header().Set("Retry-After", seconds(pollAfter))
	return writeJSON(w, http.StatusAccepted, bodyOf(job))
}
