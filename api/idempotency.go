package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"ushuru/pkg/idempotency"
	"ushuru/pkg/jobs"
)

// maxIdempotencyKey is the longest key that is taken, in bytes.
const maxIdempotencyKey = 255

// repeated is a request that carries an Idempotency-Key, and what came of it
// before. Nil is one that carries none; all methods take it.
type repeated struct{ request *idempotency.Request }

// repeat notes a request under its Idempotency-Key, if it has one, before its
// work is begun. question is what makes two requests the same one.
func (s *Server) repeat(r *http.Request, identity any) (*repeated, error) {
	key, err := idempotencyKey(r.Header)
	if err != nil || key == "" {
		return nil, err
	}
	asked, err := json.Marshal(identity)
	if err != nil {
		return nil, fmt.Errorf("api: question: %w", err)
	}
	ctx, cancel := context.WithTimeout(r.Context(), redisTimeout)
	defer cancel()
	request, err := s.options.Idempotency.Begin(ctx, recorderOf(r).key.ID, r.URL.Path, key, asked)
	switch {
	case errors.Is(err, idempotency.ErrReused):
		return nil, errIdempotencyKeyReused.withCause(err)
	case err != nil:
		return nil, errUnavailable.withCause(err)
	}
	return &repeated{request}, nil
}

// idempotencyKey reads the header. The draft has the key in quotes; many
// callers leave them out, and mean the same.
func idempotencyKey(h http.Header) (string, error) {
	values := h.Values("Idempotency-Key")
	if len(values) == 0 {
		return "", nil
	}
	key := values[0]
	if inner, quoted := strings.CutPrefix(key, `"`); quoted {
		var closed bool
		if key, closed = strings.CutSuffix(inner, `"`); !closed {
			return "", errIdempotencyKeyInvalid
		}
	}
	unprintable := strings.ContainsFunc(key, func(c rune) bool { return c < ' ' || c > '~' })
	if len(values) > 1 || key == "" || len(key) > maxIdempotencyKey || unprintable {
		return "", errIdempotencyKeyInvalid
	}
	return key, nil
}

// before is what came of the request before, if it is of a kind, such as "job".
func (p *repeated) before(kind string) (string, bool) {
	if p == nil {
		return "", false
	}
	return strings.CutPrefix(p.request.Outcome, kind+":")
}

// bind says what came of the request. It returns what stands, which is what
// whoever was first has said: of the same kind, or "".
func (p *repeated) bind(parent context.Context, kind, outcome string) (string, error) {
	if p == nil {
		return outcome, nil
	}
	ctx, cancel := context.WithTimeout(parent, redisTimeout)
	defer cancel()
	stands, err := p.request.SetOutcome(ctx, kind+":"+outcome)
	if err != nil {
		return "", errUnavailable.withCause(err)
	}
	p.request.Outcome = stands
	outcome, _ = p.before(kind)
	return outcome, nil
}

// once does what may be done twice at once, but not again later under the same
// Idempotency-Key.
func (s *Server) once(r *http.Request, do func() error) error {
	repeated, err := s.repeat(r, nil)
	if err != nil {
		return err
	}
	if _, done := repeated.before("done"); done {
		return nil
	}
	if err := do(); err != nil {
		return err
	}
	_, err = repeated.bind(r.Context(), "done", "")
	return err
}

// task is a question whose answer is kept or takes a job.
type task struct {
	identity any // equal for equal requests, as JSON
	kept     func(ctx context.Context) ([]byte, error)
	submit   func(ctx context.Context) (*jobs.Job, error)
	answer   writer
}

// serve answers a question: with what is kept, or from a job that is waited
// for as long as the caller prefers. The same request under one
// Idempotency-Key has the same answer or the same job.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, t task) error {
	repeated, err := s.repeat(r, t.identity)
	if err != nil {
		return err
	}
	if done, err := s.again(w, r, repeated, t.answer); done || err != nil {
		return err
	}
	hit, err := t.kept(r.Context())
	if err != nil {
		return err
	}
	if hit != nil {
		if _, err := repeated.bind(r.Context(), "answer", string(hit)); err != nil {
			return err
		}
		if done, err := s.again(w, r, repeated, t.answer); done || err != nil {
			return err
		}
		return t.answer(w, hit)
	}
	if err := s.checkLimits(w, r, s.jobQuota); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), redisTimeout)
	job, err := t.submit(ctx)
	cancel()
	if err != nil {
		return errUnavailable.withCause(err)
	}
	if _, err := repeated.bind(r.Context(), "job", job.ID); err != nil {
		return err
	}
	// Equal questions share a job, so what stands is this one, but for a race
	// that is lost to one that has ended already.
	if done, err := s.again(w, r, repeated, t.answer); done || err != nil {
		return err
	}
	return s.respondWithJob(w, r, job, t.answer)
}

// again answers a request as it was answered before; false when it was not.
func (s *Server) again(w http.ResponseWriter, r *http.Request, repeated *repeated, answer writer) (bool, error) {
	if kept, ok := repeated.before("answer"); ok {
		return true, answer(w, []byte(kept))
	}
	id, ok := repeated.before("job")
	if !ok {
		return false, nil
	}
	job, err := s.job(r.Context(), id)
	if errors.Is(err, errJobNotFound) { // its record is gone before its time: ask anew
		return false, nil
	}
	if err != nil {
		return true, err
	}
	return true, s.respondWithJob(w, r, job, answer)
}
