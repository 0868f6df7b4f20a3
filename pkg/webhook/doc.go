// Package webhook tells callers that their work is done, by the Standard
// Webhooks specification (standardwebhooks.com): a POST with an id, a time and
// an HMAC-SHA256 signature, sent again by a schedule until it is taken. It is
// delivered at least once; the id tells a receiver what he has already.
//
// In Redis: webhook:{<owner>} is a hash of the endpoints of one API key;
// delivery:{<id>} is one delivery with its attempts; webhook:{<owner>}:<id>
// orders the deliveries of an endpoint by time; webhooks:due orders those that
// are to be sent by when. What is due is leased, so that a sender may die at
// any moment and another sends again.
package webhook

import (
	"encoding/json"
	"errors"
	"time"
)

// Errors of the store.
var (
	// ErrNotFound means that the caller has no such endpoint or delivery.
	ErrNotFound = errors.New("webhook: no such endpoint or delivery")
	// ErrTooMany means that the caller has as many endpoints as one may have.
	ErrTooMany = errors.New("webhook: too many endpoints")
)

// Events that an endpoint can ask for.
const (
	JobCompleted   = "job.completed"
	BatchCompleted = "batch.completed"
)

// TestEvent is sent to an endpoint that its owner tries out. It is not asked
// for.
const TestEvent = "webhook.test"

// Events are all there are.
func Events() []string { return []string{JobCompleted, BatchCompleted} }

// MaxEndpoints is how many endpoints one API key may have.
const MaxEndpoints = 10

// rotationGrace is how long the old secret signs beside a new one.
const rotationGrace = 24 * time.Hour

// Endpoint is where one API key wants to be told of events.
type Endpoint struct {
	ID       string    `json:"id"`
	URL      string    `json:"url"`
	Events   []string  `json:"events"` // of whatever; none: only of what names the endpoint
	Created  time.Time `json:"created"`
	Disabled string    `json:"disabled,omitempty"` // why nothing is sent any more; empty while it is
}

// stored is an Endpoint with its secrets, which are needed to sign and so
// cannot be kept as hashes.
type stored struct {
	Endpoint

	Secrets []secret `json:"secrets"` // newest first
}

type secret struct {
	Value string    `json:"value"`
	Until time.Time `json:"until,omitzero"` // zero is without end
}

// signing are the secrets in force.
func (e *stored) signing(now time.Time) (values []string) {
	for _, s := range e.Secrets {
		if s.Until.IsZero() || now.Before(s.Until) {
			values = append(values, s.Value)
		}
	}
	return values
}

// State of a delivery.
type State string

// The states: pending → delivered or failed. A failed one can be sent again.
const (
	Pending   State = "pending"
	Delivered State = "delivered"
	Failed    State = "failed"
)

// Delivery is one event on its way to one endpoint.
type Delivery struct {
	ID       string          `json:"id"` // header webhook-id, the same for every attempt
	Endpoint string          `json:"webhook"`
	Owner    string          `json:"owner"`
	Event    string          `json:"event"`
	Payload  json.RawMessage `json:"payload"`
	Created  time.Time       `json:"created"`
	State    State           `json:"state"`
	Tries    int             `json:"tries"`         // since it was made or sent again
	Next     time.Time       `json:"next,omitzero"` // of a pending one
	Attempts []Attempt       `json:"attempts"`      // the last of them, oldest first
}

// Attempt is one try to deliver.
type Attempt struct {
	At     time.Time `json:"at"`
	Status int       `json:"status,omitempty"` // of HTTP; 0 without an answer
	Error  string    `json:"error,omitempty"`  // a word and a sentence without internals
	Millis int64     `json:"ms"`
}

// Message is the body of a delivery.
type Message struct {
	Type      string          `json:"type"`
	Timestamp time.Time       `json:"timestamp"` // of the event
	Data      json.RawMessage `json:"data"`
}
