package batches

import (
	"context"
	"net/http"

	"ushuru/api/await"
	"ushuru/api/request"
)

// Events answers GET /v1/batches/{id}/events: an event whenever a row
// changes state, and a last one when the batch ends.
func (s *Resource) Events(w http.ResponseWriter, plain *http.Request) error {
	r := request.From(plain)
	changed, unsubscribe := s.options.Batches.Watch(s.options.Hub, r.Var("id"))
	defer unsubscribe()
	load := func(ctx context.Context) (await.Event, error) {
		b, err := s.find(ctx, r)
		if err != nil {
			return await.Event{}, err
		}
		body := s.shown(ctx, b)
		fingerprint := body // the throughput changes with every event
		fingerprint.PerSecond, fingerprint.SecondsLeft, fingerprint.Message, fingerprint.Text = 0, 0, "", nil
		return await.NewEvent(r.View, body, fingerprint, !b.Ended.IsZero())
	}
	blockers := func(ctx context.Context) string { return s.options.Work.Blockers(ctx, nil) }
	return s.options.Streams.Send(w, r, await.Source{Changed: changed, Load: load, Blockers: blockers})
}
