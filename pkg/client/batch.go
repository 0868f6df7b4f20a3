package client

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"ushuru/pkg/message"
	"ushuru/pkg/money"
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
	return call[Batch](ctx, c, named(t.request(t.Query), options))
}

func (t BatchTable) request(query url.Values) Request {
	return Request{
		Method: http.MethodPost, Path: withQuery("/v1/batches", query), Body: t.Data,
		Header: http.Header{"Content-Type": {t.Type}},
	}
}

// BatchDryRun is how the API understands a table.
type BatchDryRun struct {
	Raw

	DryRun   bool     `json:"dryRun"` // true
	Rows     int      `json:"rows"`
	Valid    int      `json:"valid"`
	Repeated int      `json:"repeated"` // valid rows that duplicate an earlier one
	Rejected int      `json:"rejected"`
	Missing  []string `json:"missing,omitzero"` // options without which the batch is refused
	// Questions are about the units of prices; without answers the batch is refused.
	Questions []UnitQuestion    `json:"questions,omitzero"`
	Options   json.RawMessage   `json:"options"`
	Table     json.RawMessage   `json:"table,omitzero"`    // what each column means
	First     []BatchItem       `json:"first"`             // the first rows
	Problems  []InvalidRow      `json:"problems,omitzero"` // of the first rows that are rejected
	Warnings  []vehicle.Warning `json:"warnings,omitzero"` // about the request
}

// UnitQuestion asks in which unit the prices of a column are.
type UnitQuestion struct {
	Column   string        `json:"column"`
	Field    string        `json:"field"`
	Values   []string      `json:"values"` // the first prices as they are written
	Readings []UnitReading `json:"readings"`
}

// UnitReading is a unit that the prices of a column may have.
type UnitReading struct {
	Unit     string         `json:"unit"`
	Answer   string         `json:"answer"`   // the value of the parameter column that says so
	FirstUSD []money.Amount `json:"firstUSD"` // the first prices in US dollars
}

// DryRunBatch asks how a table is understood. Nothing is stored.
func (c *Client) DryRunBatch(ctx context.Context, t BatchTable) (*BatchDryRun, error) {
	query := cloned(t.Query)
	query.Set("dryRun", "true")
	return call[BatchDryRun](ctx, c, t.request(query))
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

// resultsPage is how many rows of the results are requested at once.
const resultsPage = 200

// BatchResults returns the rows of a batch in their order with their estimates or
// errors, page by page.
func (c *Client) BatchResults(ctx context.Context, id string) iter.Seq2[*BatchItem, error] {
	query := url.Values{"format": {"json"}, "limit": {strconv.Itoa(resultsPage)}}
	return pages(ctx, batchPath(id)+"/results", query, func(ctx context.Context, path string) ([]BatchItem, string, error) {
		page, err := get[struct {
			Results []json.RawMessage `json:"results"`
			Next    string            `json:"next"`
		}](ctx, c, path, nil)
		if err != nil {
			return nil, "", err
		}
		all, err := decodeAll[BatchItem](page.Results)
		return all, page.Next, err
	})
}
