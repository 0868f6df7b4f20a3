package caller

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/client"
)

// Batch estimates every listing of a table. It saves the id of the batch
// beside the file of results, so that a stopped command can resume.
type Batch struct {
	clientConfig
	Out  string `required:"" placeholder:"FILE" type:"path" help:"Output file; its ending selects the format: .xlsx, .csv, .json, .ndjson."`
	Skip bool   `help:"Process the valid rows even if others are invalid."`
	Rate string `placeholder:"TZS" help:"Exchange rate (TZS per USD) for costs other than tax."`
	File string `arg:"" type:"existingfile" help:"CSV file with the column url and optionally reference and modelBody."`
}

// savedBatch is a submitted batch as the command saves it.
type savedBatch struct {
	URL   string `json:"url"`   // of the API
	Table string `json:"table"` // hash of the table and the options
	Key   string `json:"ask"`   // Idempotency-Key of the request, in case its response is lost
	ID    string `json:"id"`    // of the batch; "" until the API answered
}

// Run is called by kong.
func (c *Batch) Run(r *console.Console) error {
	format := strings.TrimPrefix(filepath.Ext(c.Out), ".")
	if !slices.Contains([]string{"xlsx", "csv", "json", "ndjson"}, format) {
		return errors.New("--out must end in .xlsx, .csv, .json or .ndjson")
	}
	api, err := c.client()
	if err != nil {
		return err
	}
	table, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	status, err := c.submit(r.Ctx, api, table)
	if err != nil {
		return err
	}
	for !status.HasEnded() {
		printProgress(r.Err, status)
		select {
		case <-r.Ctx.Done():
			_, _ = fmt.Fprintln(r.Err, "\nStopped. The batch continues on the server; run the same command to resume.")
			return console.ExitError{Status: console.ExitFailure}
		case <-time.After(time.Second):
		}
		next, err := api.Batch(r.Ctx, status.ID)
		if err != nil && r.Ctx.Err() == nil {
			return err
		}
		if err == nil {
			status = next
		}
	}
	printProgress(r.Err, status)
	_, _ = fmt.Fprintln(r.Err)
	if err := c.save(r.Ctx, api, status.ID, format); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(r.Out, "%d succeeded, %d failed, %d rejected, %d cancelled: %s\n",
		status.Counts["succeeded"], status.Counts["failed"], status.Counts["rejected"], status.Counts["cancelled"], c.Out)
	return os.Remove(c.savedFile())
}

func (c *Batch) savedFile() string { return c.Out + ".batch" }

// submit submits the table, or finds the batch that was submitted with it.
func (c *Batch) submit(ctx context.Context, api *client.Client, table []byte) (*client.Batch, error) {
	query := url.Values{"onInvalid": {"reject"}}
	if c.Skip {
		query.Set("onInvalid", "skip")
	}
	if c.Rate != "" {
		query.Set("rate", c.Rate)
	}
	sum := sha256.Sum256(append([]byte(query.Encode()+"\n"), table...))
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
	response, err := api.Do(ctx, client.Request{
		Path: "/v1/batches?" + query.Encode(), Body: table,
		Header: http.Header{"Content-Type": {"text/csv; charset=utf-8"}, "Idempotency-Key": {batch.Key}},
	})
	if err != nil {
		return nil, err
	}
	status := new(client.Batch)
	if err := json.Unmarshal(response.Body, status); err != nil {
		return nil, fmt.Errorf("the API's response: %w", err)
	}
	batch.ID = status.ID
	return status, c.write(batch)
}

func (c *Batch) write(batch savedBatch) error {
	data, err := json.Marshal(batch)
	if err != nil {
		return err
	}
	return os.WriteFile(c.savedFile(), data, 0o600)
}

// save writes the file of results completely or not at all.
func (c *Batch) save(ctx context.Context, api *client.Client, id, format string) error {
	response, err := api.Open(ctx, client.Request{Path: "/v1/batches/" + url.PathEscape(id) + "/results?format=" + format})
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	part, err := os.CreateTemp(filepath.Dir(c.Out), filepath.Base(c.Out)+".part")
	if err != nil {
		return err
	}
	_, err = io.Copy(part, response.Body)
	if err = errors.Join(err, part.Close()); err == nil {
		err = os.Rename(part.Name(), c.Out)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part.Name()))
	}
	return nil
}

// printProgress overwrites the line that shows the progress of a batch.
func printProgress(w io.Writer, status *client.Batch) {
	const width = 30
	left := status.Counts["waiting"] + status.Counts["running"]
	done := status.Rows - left
	bar := bytes.Repeat([]byte("."), width)
	for i := range width * done / max(status.Rows, 1) {
		bar[i] = '#'
	}
	_, _ = fmt.Fprintf(w, "\r[%s] %d of %d, %.1f /s", bar, done, status.Rows, status.PerSecond)
	if status.SecondsLeft > 0 {
		_, _ = fmt.Fprintf(w, ", %v left", time.Duration(status.SecondsLeft)*time.Second)
	}
	_, _ = fmt.Fprint(w, "   ")
}
