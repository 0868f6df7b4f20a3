package service

import (
	"context"
	"fmt"
	"iter"
	"math"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"ushuru/pkg/batch"
	"ushuru/pkg/cli/console"
	"ushuru/pkg/client"
	"ushuru/pkg/operate"
)

// Batches is about batches that were submitted: those of the caller over the API, or of
// all keys. The command batch submits one.
type Batches struct {
	List    batchesList    `cmd:"" help:"List your batches, newest first; as the operator, those of all API keys."`
	Show    ofBoth         `cmd:"" help:"Print the status of a batch."`
	Rows    batchesRows    `cmd:"" help:"List the rows of a batch with their state."`
	Results batchesResults `cmd:"" help:"Write the results of a batch to a file, also while it runs."`
	Follow  batchesFollow  `cmd:"" help:"Wait for the end of a batch."`
	Cancel  ofBoth         `cmd:"" help:"Cancel the rows of a batch that wait; as the operator, those that run too."`
	Retry   ofBoth         `cmd:"" help:"Retry the failed and the cancelled rows of a batch."`
}

// anyBatchView is a batch of any API key as the operator sees it.
type anyBatchView struct {
	ID          string              `json:"id"`
	Key         string              `json:"key"` // id of the API key
	Rows        int                 `json:"rows"`
	Counts      map[batch.State]int `json:"counts"`
	PerSecond   float64             `json:"perSecond,omitempty"`
	SecondsLeft int                 `json:"secondsLeft,omitempty"`
	Created     time.Time           `json:"created"`
	Cancelled   time.Time           `json:"cancelled,omitzero"`
	Ended       time.Time           `json:"ended,omitzero"`
}

func viewOf(b *batch.Batch) anyBatchView {
	return anyBatchView{
		b.ID, b.Owner, b.Rows, b.Counts, b.PerSecond, int(b.Remaining.Seconds()), b.Created, b.Cancelled, b.Ended,
	}
}

// outcomes returns the counts of a batch that are not zero.
func outcomes[S ~string](counts map[S]int) string {
	var parts []string
	for _, state := range batch.States() {
		if n := counts[S(state)]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	return strings.Join(parts, ", ")
}

func leftText(seconds int) string {
	if seconds == 0 {
		return ""
	}
	return (time.Duration(seconds) * time.Second).String()
}

func showCallersBatch(b *client.Batch) console.Printed {
	return console.Record(b, "Batch", b.ID, "State", b.State, "Rows", fmt.Sprintf("%d: %s", b.Rows, outcomes(b.Counts)),
		"Left", leftText(b.SecondsLeft), "Waits for", console.OneLine(b.WaitingFor, b.Message),
		"Created", b.Created, "Ended", b.Ended, "Kept until", b.Expires)
}

func showAnyBatch(b *batch.Batch) console.Printed {
	v := viewOf(b)
	return console.Record(v, "Batch", v.ID, "Key", v.Key, "Rows", fmt.Sprintf("%d: %s", v.Rows, outcomes(v.Counts)),
		"Left", leftText(v.SecondsLeft), "Created", v.Created, "Cancelled", v.Cancelled, "Ended", v.Ended)
}

type batchesList struct {
	target
	Limit int `default:"50" help:"Maximum number of batches."`

	Owner   string `help:"As the operator: only batches of the API key with this id." placeholder:"ID"`
	Running bool   `help:"As the operator: only batches that have not ended."`
}

// Run is called by kong.
func (c *batchesList) Run(s *Session) error {
	return c.run(s, func(ctx context.Context, api *client.Client) (console.Printed, error) {
		return console.As(console.Listed("ID\tSTATE\tROWS\tOUTCOMES\tCREATED\tENDED", func(b *client.Batch) []any {
			return []any{b.ID, b.State, b.Rows, outcomes(b.Counts), b.Created, b.Ended}
		}))(first(client.List[client.Batch](ctx, api, "/v1/batches", "batches", nil), c.Limit))
	}, func(ctx context.Context, o *operate.Operator) (console.Printed, error) {
		all, err := o.Batches(ctx, operate.BatchFilter{Key: c.Owner, Running: c.Running, Limit: c.Limit})
		views := make([]anyBatchView, len(all))
		for i, b := range all {
			views[i] = viewOf(b)
		}
		return console.As(console.Listed("ID\tKEY\tROWS\tOUTCOMES\tA SECOND\tLEFT\tCREATED\tENDED", func(v anyBatchView) []any {
			return []any{
				v.ID, v.Key, v.Rows, outcomes(v.Counts), fmt.Sprintf("%.1f", v.PerSecond), leftText(v.SecondsLeft),
				v.Created, v.Ended,
			}
		}))(views, err)
	})
}

type batchesRows struct {
	request
	ID    string `arg:"" help:"Id of the ${noun}, as printed by ${nouns} list."`
	State string `enum:",waiting,running,succeeded,failed,cancelled,rejected" default:"" help:"Only rows in this state."`
}

// Run is called by kong.
func (c *batchesRows) Run(s *Session) error {
	return c.run(s, func(ctx context.Context, api *client.Client) (console.Printed, error) {
		return console.As(console.Listed("ROW\tSHEET\tREFERENCE\tSTATE\tLISTING\tERROR", func(i *client.BatchItem) []any {
			why := ""
			if i.Error != nil {
				why = i.Error.Code + ": " + i.Error.Message
			}
			return []any{i.Row, i.Sheet, i.Reference, i.State, i.URL, why}
		}))(first(items(ctx, api, c.ID, c.State), math.MaxInt))
	})
}

// items returns the rows of a batch in their order, without their estimates; with a state those
// in it.
func items(ctx context.Context, api *client.Client, id, state string) iter.Seq2[*client.BatchItem, error] {
	query := url.Values{}
	if state != "" {
		query.Set("state", state)
	}
	return client.List[client.BatchItem](ctx, api, client.BatchPath(id)+"/items", "items", query)
}

type batchesResults struct {
	API
	ID  string `arg:"" help:"Id of the ${noun}, as printed by ${nouns} list."`
	Out string `required:"" placeholder:"FILE" type:"path" help:"Output file; its ending selects the format: .xlsx, .csv …"`
}

// Run is called by kong.
func (c *batchesResults) Run(s *Session) error {
	return c.Call(s, func(ctx context.Context, api *client.Client) error {
		return saveResults(ctx, s.Streams, api, c.ID, c.Out, nil)
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

type batchesFollow struct {
	request
	ID            string `arg:"" help:"Id of the ${noun}, as printed by ${nouns} list."`
	AllowFailures bool   `help:"Exit with 0 though rows failed or were rejected."`
}

// Run is called by kong.
func (c *batchesFollow) Run(s *Session) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	ctx, cancel := c.forBatch(s.Ctx)
	defer cancel()
	b, err := followBatch(ctx, s, api, c.ID)
	if err != nil {
		return s.PrintError(err)
	}
	if err := showCallersBatch(b)(s.Streams, c.Format); err != nil {
		return err
	}
	if failures, err := failuresOf(s.Ctx, api, b); err != nil {
		return s.PrintError(err)
	} else if !c.JSON() && !c.CSV() {
		printFailures(s, failures)
	}
	return exitOf(b, c.AllowFailures)
}

// exitOf returns the exit status for a batch that has ended.
func exitOf(b *client.Batch, allowFailures bool) error {
	if allowFailures || b.Counts["failed"]+b.Counts["rejected"]+b.Counts["cancelled"] == 0 {
		return nil
	}
	return console.ExitError{Status: console.ExitRows}
}

// followBatch waits for the end of a batch and shows its progress.
func followBatch(ctx context.Context, s *Session, api *client.Client, id string) (*client.Batch, error) {
	progress := s.NewProgress(false)
	defer progress.End()
	b, err := client.Follow(ctx, api, client.BatchPath(id), func(b *client.Batch) {
		if !b.HasEnded() {
			progress.Show(batchProgress(b))
		}
	})
	if err != nil && ctx.Err() != nil {
		progress.End()
		why, status := "Stopped", console.ExitFailure
		if s.Ctx.Err() == nil {
			why, status = "The time of --timeout is over", console.ExitRows
		}
		_, _ = fmt.Fprintf(s.Err, "%s. The batch continues on the server. "+
			"Run the same command again, or: ushuru batches follow %s\n", why, id)
		return nil, console.ExitError{Status: status}
	}
	return b, err
}

// batchProgress returns how far a batch has come, in one line.
func batchProgress(b *client.Batch) string {
	const width = 30
	done := width * b.Finished() / max(b.Rows, 1)
	text := fmt.Sprintf("batch %s [%s%s] %d of %d, %.1f /s", b.ID, strings.Repeat("#", done), strings.Repeat(".", width-done),
		b.Finished(), b.Rows, b.PerSecond)
	if left := leftText(b.SecondsLeft); left != "" {
		text += ", " + left + " left"
	}
	if b.Message != "" {
		text += "; " + b.Message
	}
	return text
}
