package api

import (
	"context"
	"net/http"

	"github.com/gorilla/mux"

	"ushuru/api/events"
	"ushuru/api/respond"
	"ushuru/api/work"
)

// jobEvents answers GET /v1/jobs/{id}/events: an event whenever the job's state
// or progress changes, and a last one with its result or error.
func (s *Server) jobEvents(w http.ResponseWriter, r *http.Request) error {
	id := mux.Vars(r)["id"]
	respond.RecorderOf(r).Job = id
	changed, unsubscribe := s.options.Hub.Watch(id)
	defer unsubscribe()
	var listings []string
	source := events.Source{Changed: changed, Load: func(ctx context.Context) (events.Event, error) {
		job, err := s.work.Job(ctx, id)
		if err != nil {
			return events.Event{}, err
		}
		listings = s.work.ListingsOf(ctx, job)
		body, err := s.jobBody(r.WithContext(ctx), job)
		if err != nil {
			return events.Event{}, err
		}
		fingerprint := body
		if body.WaitingFor == work.WaitingForSite { // the time left changes with every event
			fingerprint.Message, fingerprint.RetryAfter = "", 0
		}
		return events.NewEvent(respond.RecorderOf(r).Lang, body, fingerprint, job.State.Ended())
	}}
	source.Hindrances = func(ctx context.Context) string { return s.work.Hindrances(ctx, listings) }
	return s.events.Send(w, r, source)
}

// batchEvents answers GET /v1/batches/{id}/events: an event whenever a row
// changes state, and a last one when the batch ends.
func (s *Server) batchEvents(w http.ResponseWriter, r *http.Request) error {
	changed, unsubscribe := s.options.Batches.Watch(s.options.Hub, mux.Vars(r)["id"])
	defer unsubscribe()
	load := func(ctx context.Context) (events.Event, error) {
		b, err := s.batchOf(r.WithContext(ctx))
		if err != nil {
			return events.Event{}, err
		}
		body := s.batchBody(ctx, b)
		fingerprint := body // the throughput changes with every event
		fingerprint.PerSecond, fingerprint.SecondsLeft = 0, 0
		return events.NewEvent(respond.RecorderOf(r).Lang, body, fingerprint, !b.Ended.IsZero())
	}
	hindrances := func(ctx context.Context) string { return s.work.Hindrances(ctx, nil) }
	return s.events.Send(w, r, events.Source{Changed: changed, Load: load, Hindrances: hindrances})
}
