package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"

	"github.com/gorilla/mux"

	"ushuru/api/respond"
	"ushuru/api/work"
	"ushuru/pkg/plainjson"
)

// jobEvents answers GET /v1/jobs/{id}/events: an event whenever the job's state
// or progress changes, and a last one with its result or error.
func (s *Server) jobEvents(w http.ResponseWriter, r *http.Request) error {
	id := mux.Vars(r)["id"]
	respond.RecorderOf(r).Job = id
	changed, unsubscribe := s.options.Hub.Watch(id)
	defer unsubscribe()
	var listings []string
	source := eventSource{changed: changed, load: func(ctx context.Context) (event, error) {
		job, err := s.work.Job(ctx, id)
		if err != nil {
			return event{}, err
		}
		listings = s.work.ListingsOf(ctx, job)
		body, err := s.jobBody(r.WithContext(ctx), job)
		if err != nil {
			return event{}, err
		}
		fingerprint := body
		if body.WaitingFor == work.WaitingForSite { // the time left changes with every event
			fingerprint.Message, fingerprint.RetryAfter = "", 0
		}
		return newEvent(respond.RecorderOf(r).Lang, body, fingerprint, job.State.Ended())
	}}
	source.hindrances = func(ctx context.Context) string { return s.work.Hindrances(ctx, listings) }
	return s.stream(w, r, source)
}

// batchEvents answers GET /v1/batches/{id}/events: an event whenever a row
// changes state, and a last one when the batch ends.
func (s *Server) batchEvents(w http.ResponseWriter, r *http.Request) error {
	changed, unsubscribe := s.options.Batches.Watch(s.options.Hub, mux.Vars(r)["id"])
	defer unsubscribe()
	load := func(ctx context.Context) (event, error) {
		b, err := s.batchOf(r.WithContext(ctx))
		if err != nil {
			return event{}, err
		}
		body := s.batchBody(ctx, b)
		fingerprint := body // the throughput changes with every event
		fingerprint.PerSecond, fingerprint.SecondsLeft = 0, 0
		return newEvent(respond.RecorderOf(r).Lang, body, fingerprint, !b.Ended.IsZero())
	}
	hindrances := func(ctx context.Context) string { return s.work.Hindrances(ctx, nil) }
	return s.stream(w, r, eventSource{changed, load, hindrances})
}

// newEvent returns the event with a body in a language. Its id is the hash of the
// fingerprint, so that every API process knows which event a caller has.
func newEvent(lang string, body, fingerprint any, last bool) (event, error) {
	data, err := plainjson.Encode(body)
	if err != nil {
		return event{}, err
	}
	identity, err := plainjson.Encode(fingerprint)
	if err != nil {
		return event{}, err
	}
	sum := sha256.Sum256(identity)
	ev := event{id: hex.EncodeToString(sum[:8]), name: "progress", data: respond.InLanguage(data, lang), last: last}
	if last {
		ev.name = "end"
	}
	return ev, nil
}
