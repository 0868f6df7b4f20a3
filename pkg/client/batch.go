package client

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/retry"
	"ushuru/pkg/vehicle"
)

// Batch is many listings that are estimated together.
type Batch struct {
	Raw

	ID          string            `json:"id"`
	State       string            `json:"state"`    // running, cancelling, completed or cancelled
	Rows        int               `json:"rows"`     // submitted
	Repeated    int               `json:"repeated"` // rows that duplicate an earlier one
	Counts      map[string]int    `json:"counts"`   // of all rows, by state
	Options     json.RawMessage   `json:"options"`
	Created     time.Time         `json:"created"`
	Cancelled   time.Time         `json:"cancelled,omitzero"`
	Ended       time.Time         `json:"ended,omitzero"`
	Expires     time.Time         `json:"expires,omitzero"`
	PerSecond   float64           `json:"perSecond,omitzero"`
	SecondsLeft int               `json:"secondsLeft,omitzero"`
	Webhook     *BatchWebhook     `json:"webhook,omitzero"`
	Table       json.RawMessage   `json:"table,omitzero"`      // how it was understood, in the answer to it
	Warnings    []vehicle.Warning `json:"warnings,omitzero"`   // about the request
	WaitingFor  string            `json:"waitingFor,omitzero"` // authority, while TRA cannot be asked
	Message     string            `json:"message,omitzero"`    // why
	Text        *message.Text     `json:"text,omitzero"`       // Message in both languages
}

// BatchWebhook is the webhook that a batch names. The secret is there once, when the
// request has created it.
type BatchWebhook struct {
	ID     string `json:"id"`
	Secret string `json:"secret,omitzero"`
}

// HasEnded reports whether no row waits or runs.
func (b *Batch) HasEnded() bool { return b.State == "completed" || b.State == "cancelled" }

// Finished returns the number of rows that neither wait nor run.
func (b *Batch) Finished() int { return b.Rows - b.Counts["waiting"] - b.Counts["running"] }

// BatchRequest submits many listings.
type BatchRequest struct {
	Items   []BatchRow   `json:"items"`
	Options BatchOptions `json:"options"`
	Webhook string       `json:"webhook,omitempty"` // URL to notify when the batch ends
}

// BatchRow is a listing of a batch.
type BatchRow struct {
	Reference       string         `json:"reference,omitempty"` // the caller's own name for it
	URL             string         `json:"url,omitempty"`
	ModelBody       string         `json:"modelBody,omitempty"`
	Known           *vehicle.Known `json:"known,omitempty"`
	PriceCandidates bool           `json:"priceCandidates,omitempty"`
}

// BatchOptions are the options of a batch.
type BatchOptions struct {
	Terms

	OnInvalid string        `json:"onInvalid,omitempty"` // reject or skip; "" is reject
	JPYPerUSD *money.Number `json:"jpyPerUSD,omitempty"` // required when rows have prices in yen
}

// CreateBatch submits listings.
func (c *Client) CreateBatch(ctx context.Context, r BatchRequest, options ...Option) (*Batch, error) {
	return create[Batch](ctx, c, "/v1/batches", r, options)
}

// BatchTable is a table of listings with a header, in a media type that the API
// reads, and the parameters of the query that are its options.
type BatchTable struct {
	Type  string // text/csv; charset=utf-8
	Data  []byte
	Query url.Values
}

// CreateBatchFromTable submits the listings of a table.
func (c *Client) CreateBatchFromTable(ctx context.Context, t BatchTable, options ...Option) (*Batch, error) {
	r := Request{
		Method: http.MethodPost, Path: withQuery("/v1/batches", t.Query), Body: t.Data,
		Header: http.Header{"Content-Type": {t.Type}},
	}
	return call[Batch](ctx, c, named(r, options))
}

func batchPath(id string) string { return "/v1/batches/" + url.PathEscape(id) }

// Batch returns the status of a batch.
func (c *Client) Batch(ctx context.Context, id string) (*Batch, error) {
	return get[Batch](ctx, c, batchPath(id), nil)
}

// Batches returns the caller's batches, newest first.
func (c *Client) Batches(ctx context.Context) iter.Seq2[*Batch, error] {
	return pages(ctx, "/v1/batches", nil, func(ctx context.Context, path string) ([]Batch, string, error) {
		page, err := get[struct {
			Batches []json.RawMessage `json:"batches"`
			Next    string            `json:"next"`
		}](ctx, c, path, nil)
		if err != nil {
			return nil, "", err
		}
		all, err := decodeAll[Batch](page.Batches)
		return all, page.Next, err
	})
}

// CancelBatch cancels the rows that wait. Running ones finish.
func (c *Client) CancelBatch(ctx context.Context, id string) (*Batch, error) {
	return call[Batch](ctx, c, Request{Method: http.MethodDelete, Path: batchPath(id)})
}

// RetryBatch retries the failed rows.
func (c *Client) RetryBatch(ctx context.Context, id string, options ...Option) (*Batch, error) {
	return create[Batch](ctx, c, batchPath(id)+"/retry", nil, options)
}

// BatchEvents returns a batch now, and whenever a row has changed its state, at most
// twice a second. In the last one no row waits or runs.
func (c *Client) BatchEvents(ctx context.Context, id string) iter.Seq2[*Batch, error] {
	return events[Batch](ctx, c, batchPath(id)+"/events")
}

// BatchItem is a row of a batch, and with BatchResults its estimate.
type BatchItem struct {
	Raw

	Row             int                 `json:"row"` // from 1; of a table, its line
	Reference       string              `json:"reference,omitzero"`
	URL             string              `json:"url"`
	ModelBody       string              `json:"modelBody,omitzero"`
	Car             *vehicle.QuoteInput `json:"car,omitzero"`        // that the row describes
	PriceBasis      string              `json:"priceBasis,omitzero"` // of the row: cf, fob, hammer or start
	Columns         map[string]string   `json:"columns,omitzero"`    // the caller's own
	Known           json.RawMessage     `json:"known,omitzero"`
	PriceCandidates bool                `json:"priceCandidates,omitzero"`
	State           string              `json:"state"`           // waiting, running, succeeded, failed, cancelled or rejected
	SameAs          int                 `json:"sameAs,omitzero"` // row with the same listing; its outcome applies
	Job             string              `json:"job,omitzero"`
	Error           *vehicle.Error      `json:"error,omitzero"`
	Estimate        *vehicle.Estimate   `json:"estimate,omitzero"` // once succeeded
}

// BatchItems returns the rows of a batch in their order, without their estimates. With
// a state it returns those in it.
func (c *Client) BatchItems(ctx context.Context, id, state string) iter.Seq2[*BatchItem, error] {
	query := url.Values{}
	setText(query, "state", state)
	return pages(ctx, batchPath(id)+"/items", query, func(ctx context.Context, path string) ([]BatchItem, string, error) {
		page, err := get[struct {
			Items []json.RawMessage `json:"items"`
			Next  string            `json:"next"`
		}](ctx, c, path, nil)
		if err != nil {
			return nil, "", err
		}
		all, err := decodeAll[BatchItem](page.Items)
		return all, page.Next, err
	})
}

func decodeAll[T any](all []json.RawMessage) ([]T, error) {
	result := make([]T, 0, len(all))
	for _, data := range all {
		one, err := decode[T](data)
		if err != nil {
			return nil, err
		}
		result = append(result, *one)
	}
	return result, nil
}

// BatchFile returns the results of a batch as a file: json, ndjson, csv, xlsx or another
// format of the API, with further parameters of the query. The caller closes it.
func (c *Client) BatchFile(ctx context.Context, id, format string, query url.Values) (io.ReadCloser, error) {
	query = cloned(query)
	query.Set("format", format)
	response, err := c.Open(ctx, Request{Path: withQuery(batchPath(id)+"/results", query)})
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}

// BatchResults returns the rows of a batch in their order with their estimates or
// errors, as they arrive. A stream that breaks off is opened again, and what came
// already is not repeated.
func (c *Client) BatchResults(ctx context.Context, id string) iter.Seq2[*BatchItem, error] {
	return func(yield func(*BatchItem, error) bool) {
		sent := 0
		for failures := 0; ; failures++ {
			before := sent
			broken, err := c.readResults(ctx, id, sent, func(item *BatchItem) bool {
				sent++
				return yield(item, nil)
			})
			if err == nil {
				return
			}
			if sent > before {
				failures = 0
			}
			if !broken || failures >= c.options.Retries {
				yield(nil, err)
				return
			}
			if err := retry.Sleep(ctx, retry.Jitter(reconnectDelay)); err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// readResults reads the results after the first ones. It is broken when the stream may
// be opened again.
func (c *Client) readResults(ctx context.Context, id string, skip int, on func(*BatchItem) bool) (broken bool, err error) {
	body, err := c.BatchFile(ctx, id, "ndjson", nil)
	if err != nil {
		return false, err
	}
	defer func() { _ = body.Close() }()
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxEvent)
	for number := 0; lines.Scan(); number++ {
		if number < skip {
			continue
		}
		item, err := decode[BatchItem](append([]byte(nil), lines.Bytes()...))
		if err != nil {
			return true, fmt.Errorf("%w (row %s of the results)", err, strconv.Itoa(number+1))
		}
		if !on(item) {
			return false, nil
		}
	}
	if err := lines.Err(); err != nil {
		return ctx.Err() == nil, fmt.Errorf("client: results: %w", err)
	}
	return false, nil
}
