package client

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"time"

	"ushuru/pkg/vehicle"
)

// Batch is many listings that are estimated together.
type Batch struct {
	Raw

	ID          string         `json:"id"`
	State       string         `json:"state"`  // running, completed or cancelled
	Rows        int            `json:"rows"`   // submitted
	Counts      map[string]int `json:"counts"` // of all rows, by state
	Created     time.Time      `json:"created"`
	Ended       time.Time      `json:"ended"`
	Expires     time.Time      `json:"expires"`
	PerSecond   float64        `json:"perSecond"`
	SecondsLeft int            `json:"secondsLeft"`
	WaitingFor  string         `json:"waitingFor"` // authority, while TRA cannot be asked
	Message     string         `json:"message"`    // why
}

// HasEnded reports whether no row waits or runs.
func (b *Batch) HasEnded() bool { return b.State == "completed" || b.State == "cancelled" }

// Finished returns the number of rows that neither wait nor run.
func (b *Batch) Finished() int { return b.Rows - b.Counts["waiting"] - b.Counts["running"] }

// BatchTable is a table of listings with a header, in a media type that the API
// reads, and the parameters of the query that are its options.
type BatchTable struct {
	Type  string // text/csv; charset=utf-8
	Data  []byte
	Query url.Values
}

// CreateBatchFromTable submits the listings of a table. The key names the request: the
// same one in another process, or after a crash, has the same outcome for 24 hours.
func (c *Client) CreateBatchFromTable(ctx context.Context, t BatchTable, key string) (*Batch, error) {
	r := t.request(t.Query)
	r.Header.Set("Idempotency-Key", key)
	return call[Batch](ctx, c, r)
}

func (t BatchTable) request(query url.Values) Request {
	return Request{
		Method: http.MethodPost, Path: withQuery("/v1/batches", query), Body: t.Data,
		Header: http.Header{"Content-Type": {t.Type}},
	}
}

// DryRunBatch returns how the API understands a table. Nothing is stored.
func (c *Client) DryRunBatch(ctx context.Context, t BatchTable) (json.RawMessage, error) {
	response, err := c.Do(ctx, t.request(with(t.Query, "dryRun", "true")))
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}

// with returns a query with another parameter.
func with(query url.Values, name, value string) url.Values {
	result := url.Values{}
	maps.Copy(result, query)
	result.Set(name, value)
	return result
}

// BatchPath is where a batch is.
func BatchPath(id string) string { return "/v1/batches/" + url.PathEscape(id) }

// Batch returns the status of a batch.
func (c *Client) Batch(ctx context.Context, id string) (*Batch, error) {
	return Send[Batch](ctx, c, "GET "+BatchPath(id), nil)
}

// BatchItem is a row of a batch.
type BatchItem struct {
	Raw

	Row       int            `json:"row"` // from 1; of a table, its line
	Sheet     string         `json:"sheet"`
	Reference string         `json:"reference"`
	URL       string         `json:"url"`
	State     string         `json:"state"` // waiting, running, succeeded, failed, cancelled or rejected
	Error     *vehicle.Error `json:"error"`
}

// BatchFile returns the results of a batch as a file: json, ndjson, csv, xlsx or another
// format of the API, with further parameters of the query. The caller closes it.
func (c *Client) BatchFile(ctx context.Context, id, format string, query url.Values) (io.ReadCloser, error) {
	response, err := c.Open(ctx, Request{Path: withQuery(BatchPath(id)+"/results", with(query, "format", format))})
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}
