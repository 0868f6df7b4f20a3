package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"ushuru/pkg/webhook/signature"
)

// The types of events.
const (
	EventJobCompleted   = "job.completed"
	EventBatchCompleted = "batch.completed"
	EventTest           = "webhook.test"
	EventVerification   = "webhook.verification"
)

// Event is what the API sends to a webhook.
type Event struct {
	ID        string          `json:"-"` // the same in every attempt: it identifies duplicates
	Type      string          `json:"type"`
	Timestamp time.Time       `json:"timestamp"`
	Data      json.RawMessage `json:"data"`
}

// Job returns the job of an EventJobCompleted, without its result.
func (e *Event) Job() (*Job, error) { return decode[Job](e.Data) }

// Batch returns the batch of an EventBatchCompleted.
func (e *Event) Batch() (*Batch, error) { return decode[Batch](e.Data) }

// ErrSignature means that an event was not signed with the secret of the webhook, or
// longer than five minutes ago. Nothing of it can be believed.
var ErrSignature = errors.New("client: the event is not signed with the secret of the webhook")

// VerifyEvent returns the event of a request to a webhook, by the secrets that it has:
// one, or the old and the new one while a secret is replaced.
func VerifyEvent(header http.Header, body []byte, secrets ...string) (*Event, error) {
	for _, secret := range secrets {
		id := header.Get(signature.HeaderID)
		err := signature.Verify(secret, id, header.Get(signature.HeaderTimestamp),
			header.Get(signature.HeaderSignature), body, time.Now())
		if err != nil {
			continue
		}
		event := &Event{ID: id}
		if err := json.Unmarshal(body, event); err != nil {
			return nil, fmt.Errorf("client: event: %w", err)
		}
		return event, nil
	}
	return nil, ErrSignature
}

// maxEventBody is more than the API sends.
const maxEventBody = 1 << 20

// Receiver handles the requests to a webhook. It verifies them, proves to the API that
// the webhook wants events, and calls On with the others. The API sends an event again
// for three days until On returns nil, and perhaps twice: Event.ID tells.
type Receiver struct {
	Secrets []string // of the webhook
	On      func(*Event) error
}

func (h Receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxEventBody))
	if err != nil {
		http.Error(w, "the body cannot be read", http.StatusBadRequest)
		return
	}
	event, err := VerifyEvent(r.Header, body, h.Secrets...)
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	if event.Type == EventVerification {
		var data struct {
			Challenge string `json:"challenge"`
		}
		if err := json.Unmarshal(event.Data, &data); err != nil {
			http.Error(w, "the event has no challenge", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.Copy(w, bytes.NewReader([]byte(data.Challenge)))
		return
	}
	if err := h.On(event); err != nil {
		http.Error(w, "the event cannot be taken now", http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
