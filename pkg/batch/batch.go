// Package batch keeps batches in Redis: many listings that one caller handed
// in at once, what became of each, and which of them are next.
//
// Every change is one atomic script on the keys of one batch, which share a
// hash tag, so that any worker may die between any two of them and any other
// may go on; and every change may be asked for twice. What stands where is in
// scripts.go.
package batch

import (
	"encoding/json"
	"errors"
	"time"

	"ushuru/pkg/jobs"
)

// MaxRows is the most listings in a batch.
const MaxRows = 10_000

// Retention is how long a batch and its results are kept after its end.
const Retention = 7 * 24 * time.Hour

// Errors of the store. Any other error means that Redis did not answer.
var (
	// ErrNotFound means that there is no such batch, or that it ended more
	// than Retention ago.
	ErrNotFound = errors.New("batch: no such batch")
	// ErrNoneFailed means that there is nothing to try again.
	ErrNoneFailed = errors.New("batch: no listing of the batch has failed")
)

// State is where a row stands.
type State string

// The states of a row: waiting → running → succeeded or failed; waiting →
// cancelled; failed → waiting when it is tried again. A row that is not to be
// worked on at all is rejected.
const (
	Waiting   State = "waiting"
	Running   State = "running"
	Succeeded State = "succeeded"
	Failed    State = "failed"
	Cancelled State = "cancelled"
	Rejected  State = "rejected"
)

// stateCodes are the states as Redis holds them, one byte for each row. A row
// with the same question as an earlier one has the capital of that one's.
var stateCodes = map[byte]State{
	'w': Waiting, 'r': Running, 's': Succeeded, 'f': Failed, 'c': Cancelled, 'x': Rejected,
}

// States are all states in the order of a row's life.
func States() []State { return []State{Waiting, Running, Succeeded, Failed, Cancelled, Rejected} }

func stateOf(letter byte) State { return stateCodes[letter|0x20] }

func codeOf(state State) byte {
	for letter, named := range stateCodes {
		if named == state {
			return letter
		}
	}
	return 0
}

// Row is one listing of a batch as it was handed in.
type Row struct {
	Number    int    `json:"n"`             // as the caller counts: the first is 1, or what his file has
	Reference string `json:"ref,omitempty"` // the caller's own name for it
	URL       string `json:"url"`           // canonical; of a rejected row, what was given
	ModelBody string `json:"label,omitempty"`
	// DuplicateOf is the index of the first row with the same question; that one's
	// outcome is this one's. Its own index where it is the first.
	DuplicateOf  int `json:"as"`
	DuplicateRow int `json:"asn,omitempty"` // number of that row; 0 where it is the first
	// Problem is why the row was rejected, nil where it was not.
	RejectReason *jobs.Error `json:"problem,omitempty"`
}

// Options are what a caller may ask for all rows of a batch.
type Options struct {
	Rate string `json:"rate,omitempty"` // shillings for a dollar in the drive-away cost; "" is the usual
	// Webhook is the id of an endpoint that is told of the end, whatever it
	// asked for; "" is none.
	Webhook string `json:"webhook,omitempty"`
}

// New is a batch to be made. Its rows' DuplicateOf and DuplicateRow are found by Create.
type New struct {
	ID      string // from NewID; "" has one made. A batch that stands under it is returned as it is
	Owner   string // id of the API key
	Options Options
	Rows    []Row
}

// Batch is the record of a batch.
type Batch struct {
	ID        string
	Owner     string
	Options   Options
	Rows      int // handed in, rejected and repeated ones too
	Repeated  int // of these, with the same question as an earlier one
	Counts    map[State]int
	Created   time.Time
	Cancelled time.Time // when the caller cancelled it; zero when not
	Ended     time.Time // zero while rows wait or are at work
	PerSecond float64   // listings finished, of late; 0 when not known
}

// Expires is when the batch will be gone; zero while it is at work.
func (b *Batch) Expires() time.Time {
	if b.Ended.IsZero() {
		return time.Time{}
	}
	return b.Ended.Add(Retention)
}

// Left is how long the batch will probably take yet; 0 when that is not known.
func (b *Batch) Remaining() time.Duration {
	if b.PerSecond <= 0 {
		return 0
	}
	return time.Duration(float64(b.Counts[Waiting]+b.Counts[Running]) / b.PerSecond * float64(time.Second))
}

// Item is a row and what became of it.
type Item struct {
	Row
	Index  int
	State  State
	Job    string          // at work on it; "" when none is
	Result json.RawMessage // once succeeded
	Error  *jobs.Error     // once failed, or when rejected
}
