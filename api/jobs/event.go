package jobs

import (
	"context"
	"net/http"

	"github.com/gorilla/mux"

	"ushuru/api/await"
	"ushuru/api/events"
	"ushuru/api/respond"
)

// events answers GET /v1/jobs/{id}/events: an event whenever the job's state
// or progress changes, and a last one with its result or error.
func (s *Resource) events(w http.ResponseWriter, r *http.Request) error {
	id := mux.Vars(r)["id"]
	respond.RecorderOf(r).Job = id
	changed, unsubscribe := s.options.Hub.Watch(id)
	defer unsubscribe()
	var listings []string
	source := events.Source{Changed: changed, Load: func(ctx context.Context) (events.Event, error) {
		job, err := s.options.Work.Job(ctx, id)
		if err != nil {
			return events.Event{}, err
		}
		listings = s.options.Work.ListingsOf(ctx, job)
		body, err := s.body(r.WithContext(ctx), job)
		if err != nil {
			return events.Event{}, err
		}
		fingerprint := body
		if body.WaitingFor == await.WaitingForSite { // the time left changes with every event
			fingerprint.Message, fingerprint.RetryAfter = "", 0
		}
		return events.NewEvent(respond.RecorderOf(r).Lang, body, fingerprint, job.State.Ended())
	}}
	source.Hindrances = func(ctx context.Context) string { return s.options.Work.Hindrances(ctx, listings) }
	return s.options.Events.Send(w, r, source)
}
