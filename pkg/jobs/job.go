// Package jobs stores the record of every job in Redis. The record is the truth; a
// task in a queue only makes a worker read the record. Every change is one atomic
// script on one key, so that a process may die between any two writes and another
// one continues from what is stored.
package jobs

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"ushuru/pkg/message"
	"ushuru/pkg/pace"
)

// Errors of the store.
var (
	// ErrNotFound means that there is no such job, or that it ended more than
	// its retention ago.
	ErrNotFound = errors.New("jobs: no such job")
)

// State is the state of a job. A job that has ended never changes again.
type State string

// The states: queued → running → succeeded, failed or cancelled.
const (
	Queued    State = "queued"
	Running   State = "running"
	Succeeded State = "succeeded"
	Failed    State = "failed"
	Cancelled State = "cancelled"
)

// Ended reports whether the state is final.
func (s State) Ended() bool { return s == Succeeded || s == Failed || s == Cancelled }

// Class says what waits for a job: a person's request, or a batch.
type Class string

// The classes.
const (
	Interactive Class = "interactive"
	Bulk        Class = "bulk"
)

// StepState is the state of one step of a job.
type StepState string

// The states of a step: ready (its task is in the queue, or soon will be) →
// claimed (a worker is at it) → done (its output is stored).
const (
	StepReady   StepState = "ready"
	StepClaimed StepState = "claimed"
	StepDone    StepState = "done"
)

// Step is one step of a job.
type Step struct {
	State   StepState `json:"state"`
	Attempt int       `json:"attempt"` // rises when a lost worker's step is given to another
	Retries int       `json:"retries"` // after failures, over all attempts
	Worker  string    `json:"worker,omitempty"`
	Claim   string    `json:"claim,omitempty"` // names one run of the handler
	Since   time.Time `json:"since"`           // of the present state
}

// Error is why a job failed. The notice is for the caller; the cause is only
// logged. Details is JSON in the shape of its code, for example candidates.
type Error struct {
	message.Notice

	Details   json.RawMessage `json:"details,omitempty"`
	Permanent bool            `json:"permanent,omitempty"` // a retry is useless
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Message) }

// Child is a job that another job waits for.
type Child struct {
	Job    string          `json:"job"`   // its id; empty when its result was known before
	State  State           `json:"state"` // how it ended; empty until then
	Result json.RawMessage `json:"-"`     // once succeeded
	Error  *Error          `json:"-"`     // once failed
}

// Job is the record of one piece of work. As JSON it has what an operator reads.
type Job struct {
	ID                string                     `json:"id"`
	Kind              string                     `json:"kind"` // estimate
	Class             Class                      `json:"class"`
	Owner             string                     `json:"key"` // id of the API key that requested it first
	State             State                      `json:"state"`
	Steps             map[string]Step            `json:"steps"`
	Children          map[string]Child           `json:"children,omitempty"` // by name
	Input             json.RawMessage            `json:"input"`              // canonical: equal inputs have equal bytes
	Error             *Error                     `json:"error,omitempty"`    // once failed
	Result            json.RawMessage            `json:"result,omitempty"`   // once succeeded
	Created           time.Time                  `json:"created"`
	Ended             time.Time                  `json:"ended,omitzero"` // zero until it ends
	Deadline          time.Time                  `json:"deadline"`       // past it no step is retried
	DedupKey          string                     `json:"-"`              // hash of kind and input; no two running jobs share it
	Outputs           map[string]json.RawMessage `json:"-"`              // by step
	RequestedByCaller bool                       `json:"-"`              // not only by other jobs and batches
	Attached          bool                       `json:"-"`              // it has an attachment until it ends
	Origin            Origin                     `json:"-"`              // of the request that created it
	Query             string                     `json:"-"`              // of List: of the URL at which the key last read it
	Kept              int64                      `json:"-"`              // bytes of its result or error in the record
}

// Caller returns the caller that takes turns for the job and whose limits it counts against.
func (j *Job) Caller() string { return pace.Caller(j.Owner, j.Origin.Network) }

// New is what Create needs.
type New struct {
	Kind       string
	Class      Class
	Owner      string
	Input      json.RawMessage
	Deadline   time.Duration // from now
	Subscriber string        // see keySubscribers; "" is a caller who polls the job
	Attachment []byte        // what the caller sent for the job, deleted when it ends; nil for nothing
	Listed     bool          // the owner finds the job in its list
	Query      string        // with which the owner reads it, see Job.Query
	Origin     Origin
}

// Origin is where a job comes from: what its log lines and its trace are found by.
type Origin struct {
	Request string `json:"request,omitempty"` // id of the request that caused it
	Trace   string `json:"trace,omitempty"`   // W3C traceparent of that; "" when it is not traced
	Network string `json:"network,omitempty"` // of the visitor who sent it; "" for an API key's
	Visitor string `json:"visitor,omitempty"` // who that is among those of the network; "" when not known
}
