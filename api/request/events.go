package request

import (
	"net/http"
	"time"
)

// eventTimeout is the maximum time for a caller to read one event.
const eventTimeout = 10 * time.Second

// Events is a response of server-sent events (HTML Living Standard, section 9.2).
type Events struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// NewEvents begins the response. It writes past the compression, which would keep events back
// and hide that the caller does not read them.
func NewEvents(w http.ResponseWriter) Events {
	if rec := recorderBehind(w); rec != nil {
		w = rec
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // or nginx buffers events
	events := Events{w, http.NewResponseController(w)}
	_ = events.control.SetReadDeadline(time.Time{}) // the request has been read
	w.WriteHeader(http.StatusOK)
	return events
}

// Send sends a piece at once: an event or a comment. It fails when the caller does not read it.
func (e Events) Send(piece string) error {
	_ = e.control.SetWriteDeadline(time.Now().Add(eventTimeout))
	if _, err := e.w.Write([]byte(piece)); err != nil {
		return err
	}
	return e.control.Flush()
}
