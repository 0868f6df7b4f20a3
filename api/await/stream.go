package await

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"time"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/pkg/message"
	"ushuru/pkg/pace"
	"ushuru/pkg/plainjson"
)

const (
	// KeepAlive is the default interval between comments on a stream without
	// events. Without them a proxy would close it.
	KeepAlive = 15 * time.Second
	// maxStreamDuration ends a stream, so that its key is verified again.
	// Clients of server-sent events reconnect automatically.
	maxStreamDuration = 15 * time.Minute
	// maxStreams is the maximum number of open streams of a key at one API
	// process.
	maxStreams = 20
)

var errTooManyStreams = problem.New(http.StatusTooManyRequests, "too_many_streams", problem.AtMost(maxStreams)).
	After(30 * time.Second)

// Event is one server-sent event (HTML Living Standard, section 9.2). Its id
// changes with its content; last means that no other event follows.
type Event struct {
	id   string
	name string
	data []byte // JSON on one line
	last bool
}

// Source is what a stream shows.
type Source struct {
	Changed  <-chan struct{} // signals a change
	Load     func(context.Context) (Event, error)
	Blockers func(context.Context) string // changes when what the work waits for may have changed
}

// Streams are the open streams of one API process.
type Streams struct {
	open      pace.Counts
	keepAlive time.Duration
	draining  context.Context //nolint:containedctx // the life of the server, not of a call
}

// NewStreams returns the streams of one API process, which end when draining does.
func NewStreams(draining context.Context, keepAlive time.Duration) *Streams {
	return &Streams{keepAlive: keepAlive, draining: draining}
}

// Open returns how many streams are open.
func (s *Streams) Open() int { return s.open.All() }

// Send sends what the source loads as server-sent events: at once, unless the
// caller has that event already (Last-Event-ID), and then whenever it has
// changed, until the last event. It loads on each signal of a change, when the
// blockers change, and at each keep-alive. The end of a stream does not end the work.
//
//nolint:cyclop // one loop that is read from top to bottom
func (s *Streams) Send(w http.ResponseWriter, r *request.Request, source Source) error {
	current, err := source.Load(r.Context())
	if err != nil {
		return err
	}
	sent := r.Header.Get("Last-Event-ID")
	if current.last && current.id == sent {
		w.WriteHeader(http.StatusNoContent) // the standard's status for: do not reconnect
		return nil
	}
	release, ok := s.open.Take(pace.Bound{Owner: r.Caller(), Most: maxStreams})
	if !ok {
		return errTooManyStreams
	}
	defer release()
	ctx, cancel := context.WithTimeout(r.Context(), maxStreamDuration)
	defer cancel()
	defer context.AfterFunc(s.draining, cancel)()
	events := request.NewEvents(w)
	// A HEAD request and a caller who has disconnected get no event.
	if r.Method == http.MethodHead || events.Send("retry: 2000\n\n") != nil {
		return nil
	}
	ticker, look := time.NewTicker(s.keepAlive), time.NewTicker(lookInterval)
	defer ticker.Stop()
	defer look.Stop()
	blockers := source.Blockers(ctx)
	for {
		if err == nil && current.id != sent {
			if events.Send(fmt.Sprintf("id: %s\nevent: %s\ndata: %s\n\n", current.id, current.name, current.data)) != nil {
				return nil
			}
			sent = current.id
		}
		if err == nil && current.last {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-source.Changed:
		case <-look.C:
			before := blockers
			if blockers = source.Blockers(ctx); blockers == before {
				continue
			}
		case <-ticker.C:
			if events.Send(": here\n\n") != nil {
				return nil
			}
		}
		current, err = source.Load(ctx) // Redis may return before the stream ends
	}
}

// NewEvent returns the event with a body as the caller reads it. Its id is the hash of the
// fingerprint, so that every API process knows which event a caller has.
func NewEvent(view message.View, body, fingerprint any, last bool) (Event, error) {
	data, err := plainjson.Encode(body)
	if err != nil {
		return Event{}, err
	}
	identity, err := plainjson.Encode(fingerprint)
	if err != nil {
		return Event{}, err
	}
	sum := sha256.Sum256(identity)
	ev := Event{id: hex.EncodeToString(sum[:8]), name: "progress", data: view.Of(data), last: last}
	if last {
		ev.name = "end"
	}
	return ev, nil
}
