// Package webhook notifies callers of events as the Standard Webhooks
// specification says (standardwebhooks.com): a POST with an id, a time and an
// HMAC-SHA256 signature, repeated by a schedule until the receiver acknowledges
// it. An event is delivered at least once; its id identifies duplicates.
//
// An endpoint gets events once it has proved that it wants them (verification.go). One
// that is slow is paused, and delays no other (pace.go).
//
// In Redis: webhook:{<owner>} is a hash of the endpoints of one API key;
// delivery:{<id>} is the record of one delivery with its attempts;
// webhook:{<owner>}:<id> orders the deliveries of an endpoint by time. What is to
// be sent, and when, is a task of asynq in the queue webhook. The record is
// written before its task is enqueued. A process that emits an event repeats that
// after a failure, and Emit then enqueues a task that is missing.
package webhook

import (
	"encoding/json"
	"errors"
	"time"
)

// Errors of the store.
var (
	// ErrNotFound means that the API key has no such endpoint or delivery.
	ErrNotFound = errors.New("webhook: no such endpoint or delivery")
	// ErrTooMany means that the API key has MaxEndpoints endpoints.
	ErrTooMany = errors.New("webhook: too many endpoints")
	// ErrDisabled means that nothing is sent to an endpoint that is disabled.
	ErrDisabled = errors.New("webhook: the endpoint is disabled")
	// ErrBadCursor means that the list of deliveries cannot begin where the caller says.
	ErrBadCursor = errors.New("webhook: no such place in the list")
)

// Events that an endpoint can subscribe to.
const (
	JobCompleted   = "job.completed"
	BatchCompleted = "batch.completed"
)

// testEvent is sent when the owner tests an endpoint. No endpoint subscribes to it.
const testEvent = "webhook.test"

// Events returns the events that an endpoint can subscribe to.
func Events() []string { return []string{JobCompleted, BatchCompleted} }

// MaxEndpoints is how many endpoints one API key may have.
const MaxEndpoints = 10

// rotationGrace is how long the old secret stays valid beside a new one.
const rotationGrace = 24 * time.Hour

// Endpoint is a URL that receives events of one API key.
type Endpoint struct {
	ID       string    `json:"id"`
	URL      string    `json:"url"`
	Events   []string  `json:"events"` // empty: only events that name the endpoint
	Created  time.Time `json:"created"`
	Disabled string    `json:"disabled,omitempty"` // why nothing is sent; empty while the endpoint is enabled
	// State is pending until the endpoint has proved that it wants events.
	State EndpointState `json:"state"`
}

// EndpointState says whether an endpoint gets events.
type EndpointState string

// The states of an endpoint.
const (
	Unverified EndpointState = "pending"
	Verified   EndpointState = "verified"
)

// stored is an Endpoint with its secrets, which are sealed (seal.go). Deliveries are signed with
// them, so hashes of the secrets would not suffice.
type stored struct {
	Endpoint

	Secrets []secret `json:"secrets"` // newest first
}

type secret struct {
	Value string    `json:"value"`
	Until time.Time `json:"until,omitzero"` // zero: no limit
}

// State of a delivery.
type State string

// The states: pending → delivered or failed. Any delivery can be sent again.
const (
	Pending   State = "pending"
	Delivered State = "delivered"
	Failed    State = "failed"
)

// Delivery is one event for one endpoint.
type Delivery struct {
	ID       string          `json:"id"` // header webhook-id, the same in every attempt
	Endpoint string          `json:"webhook"`
	Owner    string          `json:"owner"`
	Event    string          `json:"event"`
	Payload  json.RawMessage `json:"payload"`
	Created  time.Time       `json:"created"`
	State    State           `json:"state"`
	Run      int             `json:"run,omitempty"` // how often Redeliver was called
	Tries    int             `json:"tries"`         // attempts of this run
	Next     time.Time       `json:"next,omitzero"` // when a pending delivery is retried
	Attempts []Attempt       `json:"attempts"`      // the last ones, oldest first
}

// Attempt is one POST to an endpoint.
type Attempt struct {
	At     time.Time `json:"at"`
	Status int       `json:"status,omitempty"` // of HTTP; 0 without a response
	Error  string    `json:"error,omitempty"`  // for the caller, without internals
	Millis int64     `json:"ms"`
}

// Message is the body of a delivery.
type Message struct {
	Type      string          `json:"type"`
	Timestamp time.Time       `json:"timestamp"` // of the event
	Data      json.RawMessage `json:"data"`
}
