// Package batch stores batches in Redis: listings or cars that one caller submitted
// together, the outcome of each, and which are next.
//
// Every change is one atomic script on the keys of one batch, which share a hash
// tag. A worker may die between any two changes and another one continue, and
// every change may be made twice. scripts.go lists the keys.
package batch

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"ushuru/pkg/jobs"
	"ushuru/pkg/money"
	"ushuru/pkg/pace"
	"ushuru/pkg/vehicle"
)

// MaxRows is the maximum number of listings in a batch.
const MaxRows = 10_000

// Retention is how long a batch and its results are stored after its end.
const Retention = 7 * 24 * time.Hour

// Errors of the store. Any other error means that Redis did not answer.
var (
	// ErrNotFound means that there is no such batch, or that it ended more
	// than Retention ago.
	ErrNotFound = errors.New("batch: no such batch")
	// ErrBadCursor means that a list cannot begin where the caller says.
	ErrBadCursor = errors.New("batch: no such place in the list")
	// ErrNoneFailed means that no row has failed or was cancelled, so there is nothing to retry.
	ErrNoneFailed = errors.New("batch: no listing of the batch has failed or was cancelled")
)

// State is the state of a row.
type State string

// The states of a row: waiting → running → succeeded or failed; waiting →
// cancelled, also from running; failed or cancelled → waiting when it is retried. An invalid row is rejected.
const (
	Waiting   State = "waiting"
	Running   State = "running"
	Succeeded State = "succeeded"
	Failed    State = "failed"
	Cancelled State = "cancelled"
	Rejected  State = "rejected"
)

// stateCodes are the states as Redis holds them, one byte for each row. The code
// of a duplicate is the capital letter of the original's.
var stateCodes = map[byte]State{
	'w': Waiting, 'r': Running, 's': Succeeded, 'f': Failed, 'c': Cancelled, 'x': Rejected,
}

// States returns all states in the order in which a row has them.
func States() []State { return []State{Waiting, Running, Succeeded, Failed, Cancelled, Rejected} }

func stateOf(code byte) State { return stateCodes[code|0x20] }

func codeOf(state State) byte {
	for code, s := range stateCodes {
		if s == state {
			return code
		}
	}
	return 0
}

// Row is one listing, or one described car, of a batch as it was submitted.
type Row struct {
	Number    int    `json:"n"`               // of the caller: the first row is 1, or the line of the file
	Sheet     string `json:"sheet,omitempty"` // of a workbook with several sheets of cars, whose row the number is
	Reference string `json:"ref,omitempty"`   // the caller's name for the listing
	URL       string `json:"url"`             // canonical; of a rejected row, as it was submitted
	ModelBody string `json:"label,omitempty"`
	// Known is the canonical JSON of the values that override the listing's; nil
	// for none.
	Known json.RawMessage `json:"known,omitempty"`
	// Car is the canonical JSON of the car that the row describes, a vehicle.QuoteInput;
	// nil of a row with a URL.
	Car json.RawMessage `json:"car,omitempty"`
	// PriceBasis says which price of the row the car's is: fob, cf, hammer or start.
	PriceBasis string `json:"basis,omitempty"`
	// Own are the cells of the caller's own columns, see Options.Columns.
	Own []string `json:"own,omitempty"`
	// PriceCandidates adds the taxes of all candidates to the error of the row.
	PriceCandidates bool `json:"price,omitempty"`
	// DuplicateOf is the index of the first row with the same listing and label,
	// whose outcome applies to this row too. It is the row's own index where the
	// row is the first.
	DuplicateOf  int `json:"as"`
	DuplicateRow int `json:"asn,omitempty"` // Number of that row; 0 where the row is the first
	// DuplicateSheet is its Sheet.
	DuplicateSheet string `json:"ass,omitempty"`
	// RejectReason is nil unless the row was rejected.
	RejectReason *jobs.Error `json:"problem,omitempty"`
}

// Terms are what a caller says of the cost and of the prices of all rows of a batch, as the API and
// the record have it. What is nil was not said.
type Terms struct {
	JPYPerUSD *money.Number `json:"jpyPerUSD,omitempty"` // yen for a dollar, in the prices of the rows
	Rate      *money.Number `json:"rate,omitempty"`      // shillings for a dollar, in the cost on the road

	Landing *vehicle.LandingDays `json:"landing,omitempty"`
	Costs   *vehicle.Costs       `json:"costs,omitempty"`
	Target  *vehicle.Target      `json:"target,omitempty"`
}

// OfCost returns the terms on which the cost of a row is calculated.
func (t Terms) OfCost() vehicle.Terms {
	wanted := vehicle.Terms{Landing: t.Landing, Costs: t.Costs, Target: t.Target}
	if t.Rate != nil {
		wanted.Rate = t.Rate.Decimal()
	}
	return wanted
}

// Options apply to all rows of a batch.
type Options struct {
	Terms

	// Webhook is the id of an endpoint that is notified of the batch's end, also when it does not
	// subscribe to such events; "" for no endpoint.
	Webhook string `json:"webhook,omitempty"`

	Columns  []string          `json:"columns,omitempty"` // names of the caller's own columns
	Sheets   bool              `json:"sheets,omitempty"`  // rows have a Sheet
	Lang     string            `json:"lang,omitempty"`    // in which its caller reads it: en, sw or all
	Metadata map[string]string `json:"metadata,omitempty"`
}

// New is a batch to create. Create sets the DuplicateOf and DuplicateRow of its rows.
type New struct {
	ID      string // from NewID, or "". An existing batch with this id is returned unchanged
	Owner   string // id of the API key
	Options Options
	Origin  jobs.Origin // of the request
	Rows    []Row
}

// Batch is the record of a batch.
type Batch struct {
	ID        string
	Owner     string
	Options   Options
	Rows      int // submitted, with rejected and repeated ones
	Repeated  int // duplicates of earlier rows
	Counts    map[State]int
	Created   time.Time
	Cancelled time.Time     // when the caller cancelled it; zero when not
	Ended     time.Time     // zero while rows wait or run
	Expires   time.Time     // when the batch will be deleted; zero while it runs
	PerSecond float64       // listings finished recently; 0 when not known
	Remaining time.Duration // to the end, as estimated; 0 when it is not known
	// OpenAt counts the rows that wait or run by the hosts of their listings, while the batch
	// has not ended.
	OpenAt map[string]int
}

// Item is a row and its outcome.
type Item struct {
	Row
	Index  int
	State  State
	Job    string          // of a running row; "" when there is none
	Result json.RawMessage // of a row that succeeded
	Error  *jobs.Error     // of a row that failed or was rejected
}

const (
	// rowBytes is what a row takes beside its texts: its state, its place in a list,
	// and its place among the outcomes.
	rowBytes = 300
	// headBytes is what a batch takes beside its rows.
	headBytes = 4000
	// RowRoom is the room that is promised to a row for all that its outcome keeps: the
	// result in the batch and in the cache, the sources of its values, and the record of
	// its job. With rowBytes and a URL it is nine kilobytes.
	RowRoom = 8800
)

// AccountName names a batch in the account of its owner's key.
func AccountName(id string) string { return "batch:" + id }

// PromiseName names the room in that account that is promised to rows without outcomes.
func PromiseName(id string) string { return pace.Promised + id }

// AccountTTL is how long a batch counts that has not ended. It is longer than any runs.
const AccountTTL = 30 * 24 * time.Hour

// Room returns the bytes that a batch of these rows takes until the rows have outcomes, and the
// bytes promised to the outcomes. Duplicate rows have no outcome of their own.
func Room(id string, rows []Row) []pace.Kept {
	kept := pace.Kept{Name: AccountName(id), Size: headBytes, TTL: AccountTTL}
	_, states := markDuplicates(rows)
	promised := pace.Kept{Name: PromiseName(id), Size: RowRoom * int64(strings.Count(states, "w")), TTL: AccountTTL}
	for _, row := range rows {
		kept.Size += int64(rowBytes + len(row.Reference) + len(row.URL) + len(row.ModelBody) + len(row.Known) + len(row.Car))
		for _, cell := range row.Own {
			kept.Size += int64(len(cell))
		}
	}
	return []pace.Kept{kept, promised}
}

// Recorded is what Succeed and Fail did.
type Recorded struct {
	Last  bool   // the batch has ended with the row
	Owner string // of the batch; "" when the row had its outcome already
	Bytes int64  // that the outcome takes
}

const (
	// siteBytes are the bytes that say of which site a row is, of those with most rows.
	siteBytes = "!#$%&'()*+,-./0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~"
	noSite    = ' ' // of a described car, a duplicate, a rejected row or one of another site
)

// sitesOf returns the hosts of the listings of rows, and for each row the byte of its own.
func sitesOf(rows []Row, states string) (hosts []string, ofRows string) {
	byRow, counts := make([]string, len(rows)), map[string]int{}
	for i := range rows {
		if listing, err := url.Parse(rows[i].URL); err == nil && states[i] == codeOf(Waiting) && listing.Host != "" {
			byRow[i] = listing.Host
			counts[listing.Host]++
		}
	}
	for host := range counts {
		hosts = append(hosts, host)
	}
	slices.SortFunc(hosts, func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	hosts = hosts[:min(len(hosts), len(siteBytes))]
	marks := make([]byte, len(rows))
	for i, host := range byRow {
		marks[i] = noSite
		if at := slices.Index(hosts, host); at >= 0 && host != "" {
			marks[i] = siteBytes[at]
		}
	}
	return hosts, string(marks)
}

// openAt counts the rows that wait or run, by the hosts of their listings.
func (m meta) openAt(states string) map[string]int {
	open := map[string]int{}
	for i := range min(len(states), len(m.SiteOfRow)) {
		state := stateOf(states[i])
		at := strings.IndexByte(siteBytes, m.SiteOfRow[i])
		if at >= 0 && at < len(m.Sites) && (state == Waiting || state == Running) {
			open[m.Sites[at]]++
		}
	}
	return open
}
