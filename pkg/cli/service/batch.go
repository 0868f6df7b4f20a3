package service

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"ushuru/pkg/batch"
	"ushuru/pkg/cli/console"
	"ushuru/pkg/client"
	"ushuru/pkg/operate"
)

// maxTable is more than the API reads, which says so itself.
const maxTable = 64 << 20

// Batch estimates every listing of a table. It saves the id of the batch
// beside the file of results, so that a stopped command can resume.
type Batch struct {
	request
	Out           string   `required:"" placeholder:"FILE" type:"path" help:"Output file; its ending selects the format: .xlsx, .csv, .json, .ndjson."`
	Skip          bool     `help:"Process the valid rows even if others are invalid."`
	Rate          string   `placeholder:"TZS" help:"Exchange rate (TZS per USD) for costs other than tax."`
	Yen           string   `name:"jpy-per-usd" placeholder:"JPY" help:"Yen for a dollar, if prices are in yen."`
	Target        string   `placeholder:"TZS" help:"Cost on the road that you can pay: fills maxPriceUSD, and sorts by margin."`
	Sort          string   `enum:"onTheRoad,maxPrice,margin,none," default:"" help:"Order of the results: onTheRoad, maxPrice, margin or none."`
	Column        []string `sep:"none" placeholder:"NAME=FIELD" help:"Take a column for a field, for example \"Preis=startPrice (JPY)\"."`
	BOM           bool     `name:"bom" help:"Begin CSV with a byte order mark, for Excel."`
	DryRun        bool     `help:"Only print how the columns and the first rows are understood."`
	AllowFailures bool     `help:"Exit with 0 though rows failed or were rejected."`
	File          string   `arg:"" help:"Table of listings or of described cars: .csv, .tsv or .xlsx; or .json, .ndjson; - for any of them on standard input."`
}

// savedBatch is a submitted batch as the command saves it.
type savedBatch struct {
	URL   string `json:"url"`   // of the API
	Table string `json:"table"` // hash of the table and the options
	Key   string `json:"ask"`   // Idempotency-Key of the request, in case its response is lost
	ID    string `json:"id"`    // of the batch; "" until the API answered
}

// Run is called by kong.
func (c *Batch) Run(s *Session) error {
	format := strings.TrimPrefix(filepath.Ext(c.Out), ".")
	if !slices.Contains([]string{"xlsx", "csv", "json", "ndjson"}, format) {
		return console.Usage("--out must end in .xlsx, .csv, .json or .ndjson")
	}
	api, err := c.client()
	if err != nil {
		return err
	}
	data, err := s.ReadFile(c.File, maxTable)
	if err != nil {
		return console.Usage("the table: %w", err)
	}
	table := client.BatchTable{Type: typeOf(c.File, data), Data: data, Query: c.query()}
	if c.DryRun {
		return c.dryRun(s, api, table)
	}
	ctx, cancel := c.forBatch(s.Ctx)
	defer cancel()
	status, err := c.submit(ctx, api, table)
	if err != nil {
		return c.printRefused(s, err)
	}
	if !status.HasEnded() {
		if status, err = followBatch(ctx, s, api, status.ID); err != nil {
			return s.PrintError(err)
		}
	}
	if err := saveResults(s.Ctx, s.Streams, api, status.ID, c.Out, c.view()); err != nil {
		return s.PrintError(err)
	}
	if err := c.printEnd(s, api, status); err != nil {
		return err
	}
	if err := os.Remove(c.savedFile()); err != nil {
		return err
	}
	return exitOf(status, c.AllowFailures)
}

// printEnd prints the outcomes of a batch, and of the rows without an estimate how many have
// each reason.
func (c *Batch) printEnd(s *Session, api *client.Client, status *client.Batch) error {
	failures, err := failuresOf(s.Ctx, api, status)
	if err != nil {
		return s.PrintError(err)
	}
	record := struct {
		ID       string         `json:"id"`
		State    string         `json:"state"`
		Counts   map[string]int `json:"counts"`
		File     string         `json:"file"`
		Failures []failure      `json:"failures"`
	}{status.ID, status.State, status.Counts, c.Out, failures}
	said := console.Said(record, "%d succeeded, %d failed, %d rejected, %d cancelled: %s",
		status.Counts["succeeded"], status.Counts["failed"], status.Counts["rejected"], status.Counts["cancelled"], c.Out)
	err = said(s.Streams, c.Format)
	if err == nil && !c.JSON() && !c.CSV() {
		printFailures(s, failures)
	}
	return err
}

// failure is a reason why rows of a batch have no estimate.
type failure struct {
	Code    string   `json:"code"`
	Rows    int      `json:"rows"`    // that have it
	Message string   `json:"message"` // of the first of them
	First   []string `json:"first"`   // their numbers, with their sheets if there are several
}

// failuresOf returns the reasons why rows of a batch failed or were rejected, the most frequent
// first.
func failuresOf(ctx context.Context, api *client.Client, status *client.Batch) ([]failure, error) {
	const shown = 5
	found := []failure{}
	for _, state := range []string{"failed", "rejected"} {
		if status.Counts[state] == 0 {
			continue
		}
		for item, err := range items(ctx, api, status.ID, state) {
			if err != nil {
				return nil, err
			}
			if item.Error == nil {
				continue
			}
			at := slices.IndexFunc(found, func(f failure) bool { return f.Code == item.Error.Code })
			if at < 0 {
				at = len(found)
				found = append(found, failure{Code: item.Error.Code, Message: item.Error.Message})
			}
			if found[at].Rows++; len(found[at].First) < shown {
				found[at].First = append(found[at].First, strings.TrimPrefix(item.Sheet+":", ":")+strconv.Itoa(item.Row))
			}
		}
	}
	slices.SortStableFunc(found, func(a, b failure) int { return b.Rows - a.Rows })
	return found, nil
}

// printFailures prints reasons, one a line.
func printFailures(s *Session, failures []failure) {
	for _, f := range failures {
		more := ""
		if f.Rows > len(f.First) {
			more = ", …"
		}
		_, _ = fmt.Fprintf(s.Err, "  %d %s: %s (rows %s%s)\n", f.Rows, f.Code, console.Printable(f.Message),
			console.Printable(strings.Join(f.First, ", ")), more)
	}
}

// printRefused prints why a table was refused, and which of its rows.
func (c *Batch) printRefused(s *Session, err error) error {
	refused, ok := errors.AsType[*client.Error](err)
	if !ok || len(refused.Rows) == 0 {
		return s.PrintError(err)
	}
	_, _ = fmt.Fprintln(s.Err, "ushuru:", console.Printable(refused.Message))
	for _, row := range refused.Rows {
		said := slices.DeleteFunc([]string{row.Reference, row.URL, row.Error}, func(text string) bool { return text == "" })
		_, _ = fmt.Fprintf(s.Err, "  row %s%d: %s\n", strings.TrimPrefix(row.Sheet+":", ":"), row.Row,
			console.Printable(strings.Join(said, ": ")))
	}
	if refused.MoreRows > 0 {
		_, _ = fmt.Fprintf(s.Err, "  and %d more\n", refused.MoreRows)
	}
	if refused.Code == "rows_invalid" {
		_, _ = fmt.Fprintln(s.Err, "With --skip only the valid rows are processed.")
	}
	return console.ExitError{Status: console.ExitRefused}
}

// typeOf returns the media type of a file with rows, of standard input by what it holds. The API
// recognises what a table is.
func typeOf(file string, data []byte) string {
	ending := strings.ToLower(filepath.Ext(file))
	if begin := bytes.TrimSpace(data); file == "-" && len(begin) > 0 && (begin[0] == '{' || begin[0] == '"') {
		line, _, _ := bytes.Cut(begin, []byte("\n"))
		isList := bytes.Contains(begin, []byte(`"items"`)) || bytes.Contains(begin, []byte(`"urls"`))
		switch {
		case begin[0] == '{' && isList && json.Valid(begin):
			ending = ".json"
		case json.Valid(line):
			ending = ".ndjson"
		}
	}
	switch ending {
	case ".json":
		return "application/json"
	case ".ndjson", ".jsonl":
		return "application/x-ndjson"
	case ".xlsx":
		return "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	case ".tsv", ".tab":
		return "text/tab-separated-values"
	}
	return "text/csv"
}

func (c *Batch) savedFile() string { return c.Out + ".batch" }

// query are the options of the batch.
func (c *Batch) query() url.Values {
	query := url.Values{"onInvalid": {"reject"}}
	if c.Skip {
		query.Set("onInvalid", "skip")
	}
	if c.Rate != "" {
		query.Set("rate", c.Rate)
	}
	for name, value := range map[string]string{"jpyPerUSD": c.Yen, "target": c.Target} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if len(c.Column) > 0 {
		query["column"] = c.Column
	}
	return query
}

// view are the parameters of the results.
func (c *Batch) view() url.Values {
	view := url.Values{}
	switch {
	case c.Sort == "" && c.Target != "":
		view.Set("sort", "margin")
	case c.Sort != "" && c.Sort != "none":
		view.Set("sort", c.Sort)
	}
	if c.BOM {
		view.Set("bom", "true")
	}
	return view
}

// dryRun prints how the API understands the table.
func (c *Batch) dryRun(s *Session, api *client.Client, table client.BatchTable) error {
	understood, err := api.DryRunBatch(s.Ctx, table)
	if err != nil {
		return c.printRefused(s, err)
	}
	if c.CSV() {
		return console.Answer{Output: "csv"}.Print(s.Streams, understood)
	}
	return console.WriteJSON(s.Out, understood)
}

// submit submits the table, or finds the batch that was submitted with it.
func (c *Batch) submit(ctx context.Context, api *client.Client, table client.BatchTable) (*client.Batch, error) {
	sum := sha256.Sum256(append([]byte(table.Query.Encode()+"\n"), table.Data...))
	batch := savedBatch{URL: c.APIURL, Table: hex.EncodeToString(sum[:]), Key: rand.Text()}
	var saved savedBatch
	if data, err := os.ReadFile(c.savedFile()); err == nil && json.Unmarshal(data, &saved) == nil &&
		saved.URL == batch.URL && saved.Table == batch.Table {
		if saved.ID != "" {
			status, err := api.Batch(ctx, saved.ID)
			if failure, ok := errors.AsType[*client.Error](err); !ok || failure.Status != http.StatusNotFound {
				return status, err
			}
		} else {
			batch.Key = saved.Key // the API may have accepted the request
		}
	}
	if err := c.write(batch); err != nil {
		return nil, err
	}
	status, err := api.CreateBatchFromTable(ctx, table, batch.Key)
	if err != nil {
		return nil, c.forget(err)
	}
	batch.ID = status.ID
	return status, c.write(batch)
}

// forget removes the file of a batch that the API has not accepted. Without an answer,
// or when the API failed, it may have.
func (c *Batch) forget(err error) error {
	refused, ok := errors.AsType[*client.Error](err)
	if ok && refused.Status < http.StatusInternalServerError || errors.Is(err, client.ErrUnreachable) {
		return errors.Join(err, os.Remove(c.savedFile()))
	}
	return err
}

func (c *Batch) write(batch savedBatch) error {
	data, err := json.Marshal(batch)
	if err != nil {
		return err
	}
	return os.WriteFile(c.savedFile(), data, 0o600)
}

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
