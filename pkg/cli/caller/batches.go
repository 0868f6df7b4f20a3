package caller

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/client"
)

// batchID names a batch.
type batchID struct {
	ID string `arg:"" help:"Id of the batch, as printed by batches list."`
}

// batchFlags are what most commands about one batch have.
type batchFlags struct {
	clientConfig
	console.Format
	batchID
}

// BatchesList lists the caller's batches.
type BatchesList struct {
	clientConfig
	console.Format
	Limit int `default:"50" help:"Maximum number of batches."`
}

// Run is called by kong.
func (c *BatchesList) Run(r *console.Console) error {
	return c.call(r, func(ctx context.Context, api *client.Client) error {
		all, err := first(api.Batches(ctx), c.Limit)
		if err != nil {
			return err
		}
		return console.List(r.Streams, c.Format, all, "ID\tSTATE\tROWS\tOUTCOMES\tCREATED\tENDED",
			func(b *client.Batch) []string {
				return []string{b.ID, b.State, strconv.Itoa(b.Rows), outcomes(b), console.Time(b.Created), console.Time(b.Ended)}
			})
	})
}

// outcomes returns the counts of a batch that are not zero.
func outcomes(b *client.Batch) string {
	var parts []string
	for _, state := range []string{"waiting", "running", "succeeded", "failed", "rejected", "cancelled"} {
		if n := b.Counts[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	return strings.Join(parts, ", ")
}

// printBatch prints the status of a batch.
func printBatch(r *console.Console, f console.Format, b *client.Batch) error {
	left := ""
	if b.SecondsLeft > 0 {
		left = (time.Duration(b.SecondsLeft) * time.Second).String()
	}
	return console.Show(r.Streams, f, b.JSON, []console.Field{
		{Name: "Batch", Value: b.ID},
		{Name: "State", Value: b.State},
		{Name: "Rows", Value: fmt.Sprintf("%d: %s", b.Rows, outcomes(b))},
		{Name: "Left", Value: left},
		{Name: "Waits for", Value: console.OneLine(b.WaitingFor, b.Message)},
		{Name: "Created", Value: console.Time(b.Created)},
		{Name: "Ended", Value: console.Time(b.Ended)},
		{Name: "Kept until", Value: console.Time(b.Expires)},
	})
}

// one prints what a call says of a batch.
func (c batchFlags) one(r *console.Console, read func(ctx context.Context, api *client.Client) (*client.Batch, error)) error {
	return c.call(r, func(ctx context.Context, api *client.Client) error {
		batch, err := read(ctx, api)
		if err != nil {
			return err
		}
		return printBatch(r, c.Format, batch)
	})
}

// BatchesShow prints the status of a batch.
type BatchesShow struct{ batchFlags }

// Run is called by kong.
func (c *BatchesShow) Run(r *console.Console) error {
	return c.one(r, func(ctx context.Context, api *client.Client) (*client.Batch, error) { return api.Batch(ctx, c.ID) })
}

// BatchesCancel cancels the waiting rows of a batch.
type BatchesCancel struct{ batchFlags }

// Run is called by kong.
func (c *BatchesCancel) Run(r *console.Console) error {
	return c.one(r, func(ctx context.Context, api *client.Client) (*client.Batch, error) {
		return api.CancelBatch(ctx, c.ID)
	})
}

// BatchesRetry retries the failed rows of a batch.
type BatchesRetry struct{ batchFlags }

// Run is called by kong.
func (c *BatchesRetry) Run(r *console.Console) error {
	return c.one(r, func(ctx context.Context, api *client.Client) (*client.Batch, error) { return api.RetryBatch(ctx, c.ID) })
}

// BatchesRows lists the rows of a batch.
type BatchesRows struct {
	batchFlags
	State string `enum:",waiting,running,succeeded,failed,cancelled,rejected" default:"" help:"Only rows in this state."`
}

// Run is called by kong.
func (c *BatchesRows) Run(r *console.Console) error {
	return c.call(r, func(ctx context.Context, api *client.Client) error {
		var all []*client.BatchItem
		for item, err := range api.BatchItems(ctx, c.ID, c.State) {
			if err != nil {
				return err
			}
			all = append(all, item)
		}
		const header = "ROW\tREFERENCE\tSTATE\tLISTING\tERROR"
		return console.List(r.Streams, c.Format, all, header, func(i *client.BatchItem) []string {
			why := ""
			if i.Error != nil {
				why = i.Error.Code + ": " + i.Error.Message
			}
			return []string{strconv.Itoa(i.Row), i.Reference, i.State, i.URL, why}
		})
	})
}

// BatchesResults writes the results of a batch to a file.
type BatchesResults struct {
	clientConfig
	batchID
	Out string `required:"" placeholder:"FILE" type:"path" help:"Output file; its ending selects the format: .xlsx, .csv …"`
}

// Run is called by kong.
func (c *BatchesResults) Run(r *console.Console) error {
	return c.call(r, func(ctx context.Context, api *client.Client) error {
		return saveResults(ctx, r.Streams, api, c.ID, c.Out, nil)
	})
}

// saveResults writes the file of results completely or not at all. A terminal shows that
// it takes a while: the API calculates every row for today.
func saveResults(ctx context.Context, streams console.Streams, api *client.Client, id, out string, view url.Values) error {
	progress := streams.NewProgress(true)
	defer progress.End()
	progress.Show("writing " + out)
	body, err := api.BatchFile(ctx, id, strings.TrimPrefix(filepath.Ext(out), "."), view)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	return console.CopyFile(out, body)
}

// BatchesFollow waits for the end of a batch.
type BatchesFollow struct {
	batchFlags
	AllowFailures bool `help:"Exit with 0 though rows failed or were rejected."`
}

// Run is called by kong.
func (c *BatchesFollow) Run(r *console.Console) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	batch, err := followBatch(r, api, c.ID)
	if err != nil {
		return printError(r, err)
	}
	if err := printBatch(r, c.Format, batch); err != nil {
		return err
	}
	return exitOf(batch, c.AllowFailures)
}

// exitOf returns the exit status for a batch that has ended.
func exitOf(b *client.Batch, allowFailures bool) error {
	if allowFailures || b.Counts["failed"]+b.Counts["rejected"]+b.Counts["cancelled"] == 0 {
		return nil
	}
	return console.ExitError{Status: console.ExitRows}
}

// followBatch waits for the end of a batch and shows its progress.
func followBatch(r *console.Console, api *client.Client, id string) (ended *client.Batch, err error) {
	progress := r.NewProgress(false)
	defer progress.End()
	for batch, err := range api.BatchEvents(r.Ctx, id) {
		if err != nil && r.Ctx.Err() != nil {
			progress.End()
			_, _ = fmt.Fprintf(r.Err, "Stopped. The batch continues on the server. "+
				"Run the same command again, or: ushuru batches follow %s\n", id)
			return nil, console.ExitError{Status: console.ExitFailure}
		}
		if err != nil {
			return nil, err
		}
		ended = batch
		if !batch.HasEnded() {
			progress.Show(batchProgress(batch))
		}
	}
	if ended == nil { // it ended before the stream was opened
		return api.Batch(r.Ctx, id)
	}
	return ended, nil
}

// batchProgress returns how far a batch has come, in one line.
func batchProgress(b *client.Batch) string {
	const width = 30
	done := width * b.Finished() / max(b.Rows, 1)
	text := fmt.Sprintf("batch %s [%s%s] %d of %d, %.1f /s", b.ID, strings.Repeat("#", done), strings.Repeat(".", width-done),
		b.Finished(), b.Rows, b.PerSecond)
	if b.SecondsLeft > 0 {
		text += fmt.Sprintf(", %v left", time.Duration(b.SecondsLeft)*time.Second)
	}
	if b.Message != "" {
		text += "; " + b.Message
	}
	return text
}
