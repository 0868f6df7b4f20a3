package client

import (
	"context"
	"net/url"
	"time"
)

// Batch is many listings that are estimated together.
type Batch struct {
	ID          string         `json:"id"`
	State       string         `json:"state"`    // running, cancelling, completed or cancelled
	Rows        int            `json:"rows"`     // submitted
	Repeated    int            `json:"repeated"` // rows that duplicate an earlier one
	Counts      map[string]int `json:"counts"`   // of all rows, by state
	Created     time.Time      `json:"created"`
	PerSecond   float64        `json:"perSecond"`
	SecondsLeft int            `json:"secondsLeft"`
}

// HasEnded reports whether no row waits or runs.
func (b Batch) HasEnded() bool { return b.State == "completed" || b.State == "cancelled" }

// Batch returns the status of a batch.
func (c *Client) Batch(ctx context.Context, id string) (*Batch, error) {
	return get[Batch](ctx, c, "/v1/batches/"+url.PathEscape(id))
}
