package api

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"
)

const (
	// keepAlive is how often a stream says something, so that nobody on the
	// way takes it for dead.
	keepAlive = 15 * time.Second
	// eventTimeout is how long a caller may take to read one event.
	eventTimeout = 10 * time.Second
	// maxStreamDuration bounds a stream, so that its key is checked again: callers of
	// server-sent events connect again by themselves.
	maxStreamDuration = 15 * time.Minute
	// maxStreams is how many streams one key may have open at one API process.
	maxStreams = 20
)

// event is one server-sent event (HTML Living Standard, section 9.2). Its id
// changes with what it says, and Last after it says that none will follow.
type event struct {
	id   string
	name string
	data []byte // JSON on one line
	last bool
}

// stream sends what look finds as server-sent events: at once unless the
// caller has it already, by Last-Event-ID, and then whenever it has changed,
// until it is the last. It looks when changed says so, and with every keep-alive.
// Nothing that happens here ends the work.
//
//nolint:cyclop // one loop that is read from top to bottom
func (s *Server) stream(
	w http.ResponseWriter, r *http.Request, changed <-chan struct{}, look func(context.Context) (event, error),
) error {
	now, err := look(r.Context())
	if err != nil {
		return err
	}
	sent := r.Header.Get("Last-Event-ID")
	if now.last && now.id == sent {
		w.WriteHeader(http.StatusNoContent) // the standard's word for: do not come again
		return nil
	}
	release, ok := s.streams.take(recorderOf(r).key.ID)
	if !ok {
		return errTooManyStreams
	}
	defer release()
	ctx, cancel := context.WithTimeout(r.Context(), maxStreamDuration)
	defer cancel()
	defer context.AfterFunc(s.draining, cancel)() //nolint:contextcheck // the life of the server ends the stream too
	line := newEventWriter(w)
	// A HEAD, and a caller who is gone, see no event: neither is an error.
	if r.Method == http.MethodHead || line.write("retry: 2000\n\n") != nil {
		return nil
	}
	ticker := time.NewTicker(s.options.KeepAlive)
	defer ticker.Stop()
	for {
		if err == nil && now.id != sent {
			if line.write(fmt.Sprintf("id: %s\nevent: %s\ndata: %s\n\n", now.id, now.name, now.data)) != nil {
				return nil
			}
			sent = now.id
		}
		if err == nil && now.last {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		case <-ticker.C:
			if line.write(": here\n\n") != nil {
				return nil
			}
		}
		now, err = look(ctx) // Redis may come back while there is time
	}
}

// eventWriter is an answer that goes on.
type eventWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// newEventWriter begins the answer.
func newEventWriter(w http.ResponseWriter) eventWriter {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // or nginx keeps events back
	line := eventWriter{w, http.NewResponseController(w)}
	_ = line.control.SetReadDeadline(time.Time{}) // the request is read
	w.WriteHeader(http.StatusOK)
	return line
}

// write sends a piece now, or tells that the caller does not take it.
func (l eventWriter) write(text string) error {
	_ = l.control.SetWriteDeadline(time.Now().Add(eventTimeout))
	if _, err := l.w.Write([]byte(text)); err != nil {
		return err
	}
	return l.control.Flush()
}

// streams counts those that are open, by key.
type streams struct {
	mu   sync.Mutex
	open map[string]int
}

// take counts one more until release; false when the key has too many.
func (s *streams) take(key string) (release func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[key] >= maxStreams {
		return nil, false
	}
	if s.open == nil {
		s.open = map[string]int{}
	}
	s.open[key]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.open[key]--; s.open[key] == 0 {
			delete(s.open, key)
		}
	}, true
}
