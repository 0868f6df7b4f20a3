package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"

	"github.com/gorilla/mux"

	"ushuru/pkg/plainjson"
)

// jobEvents answers GET /v1/jobs/{id}/events: the job whenever its state or
// progress changes, and its end with the result or the error.
func (s *Server) jobEvents(w http.ResponseWriter, r *http.Request) error {
	id := mux.Vars(r)["id"]
	recorderOf(r).job = id
	moved, leave := s.options.Hub.Watch(id)
	defer leave()
	return s.stream(w, r, moved, func(ctx context.Context) (event, error) {
		job, err := s.job(ctx, id)
		if err != nil {
			return event{}, err
		}
		body, err := s.jobBody(r.WithContext(ctx), job)
		if err != nil {
			return event{}, err
		}
		return eventOf(body, body, job.State.Ended())
	})
}

// batchEvents answers GET /v1/batches/{id}/events: the batch whenever a row
// moves on, and its end. One that is tried again is at work again.
func (s *Server) batchEvents(w http.ResponseWriter, r *http.Request) error {
	moved, leave := s.options.Batches.Watch(s.options.Hub, mux.Vars(r)["id"])
	defer leave()
	return s.stream(w, r, moved, func(ctx context.Context) (event, error) {
		b, err := s.batchOf(r.WithContext(ctx))
		if err != nil {
			return event{}, err
		}
		body := newBatchBody(b)
		standing := body // how fast it goes is another answer every moment
		standing.PerSecond, standing.SecondsLeft = 0, 0
		return eventOf(body, standing, !b.Ended.IsZero())
	})
}

// eventOf tells of something. Its id says how that stands, so that every API
// process knows what was told.
func eventOf(body, standing any, last bool) (event, error) {
	data, err := plainjson.Encode(body)
	if err != nil {
		return event{}, err
	}
	named, err := plainjson.Encode(standing)
	if err != nil {
		return event{}, err
	}
	sum := sha256.Sum256(named)
	told := event{id: hex.EncodeToString(sum[:8]), name: "progress", data: data, last: last}
	if last {
		told.name = "end"
	}
	return told, nil
}
