package batches

import (
	"context"
	"net/http"

	"github.com/gorilla/mux"

	"ushuru/api/events"
	"ushuru/api/respond"
)

// events answers GET /v1/batches/{id}/events: an event whenever a row
// changes state, and a last one when the batch ends.
func (s *Resource) events(w http.ResponseWriter, r *http.Request) error {
	changed, unsubscribe := s.options.Batches.Watch(s.options.Hub, mux.Vars(r)["id"])
	defer unsubscribe()
	load := func(ctx context.Context) (events.Event, error) {
		b, err := s.find(r.WithContext(ctx))
		if err != nil {
			return events.Event{}, err
		}
		body := s.shown(ctx, b)
		fingerprint := body // the throughput changes with every event
		fingerprint.PerSecond, fingerprint.SecondsLeft = 0, 0
		return events.NewEvent(respond.RecorderOf(r).Lang, body, fingerprint, !b.Ended.IsZero())
	}
	hindrances := func(ctx context.Context) string { return s.options.Work.Hindrances(ctx, nil) }
	return s.options.Events.Send(w, r, events.Source{Changed: changed, Load: load, Hindrances: hindrances})
}
