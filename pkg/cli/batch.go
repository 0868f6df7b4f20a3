package cli

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

	"ushuru/pkg/client"
)

// batchCommand has a table of listings estimated. Beside the file of results
// it notes which batch it is, so that it can be stopped and go on.
type batchCommand struct {
	clientConfig
	Out  string `required:"" placeholder:"FILE" type:"path" help:"Where the results go: a file that ends in .xlsx, .csv, .json or .ndjson."`
	Skip bool   `help:"Take the good rows when others are bad; those stand in the results with what is wrong."`
	Rate string `placeholder:"TZS" help:"Shillings for a dollar in the drive-away cost."`
	File string `arg:"" type:"existingfile" help:"CSV file with a column url and perhaps reference and modelBody."`
}

// begun is what is noted of a batch that was begun.
type begun struct {
	URL   string `json:"url"`   // of the API
	Table string `json:"table"` // hash of the table and the options
	Ask   string `json:"ask"`   // names the request, should its answer be lost
	ID    string `json:"id"`    // of the batch; "" until it was answered
}

// standing is what is needed of a batch's state.
type standing struct {
	ID          string         `json:"id"`
	State       string         `json:"state"`
	Rows        int            `json:"rows"`
	Counts      map[string]int `json:"counts"`
	PerSecond   float64        `json:"perSecond"`
	SecondsLeft int            `json:"secondsLeft"`
}

func (s standing) ended() bool { return s.State == "completed" || s.State == "cancelled" }

// Run is called by kong.
func (c *batchCommand) Run(r *run) error {
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
	now, err := c.begin(r.ctx, api, table)
	if err != nil {
		return err
	}
	for !now.ended() {
		printProgress(r.Err, now)
		select {
		case <-r.ctx.Done():
			_, _ = fmt.Fprintln(r.Err, "\nStopped. The batch goes on without you; the same command picks it up again.")
			return exitError{exitFailure}
		case <-time.After(time.Second):
		}
		next, err := look(r.ctx, api, now.ID)
		if err != nil && r.ctx.Err() == nil {
			return err
		}
		if err == nil {
			now = next
		}
	}
	printProgress(r.Err, now)
	_, _ = fmt.Fprintln(r.Err)
	if err := c.save(r.ctx, api, now.ID, format); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(r.Out, "%d succeeded, %d failed, %d rejected, %d cancelled: %s\n",
		now.Counts["succeeded"], now.Counts["failed"], now.Counts["rejected"], now.Counts["cancelled"], c.Out)
	return os.Remove(c.noteFile())
}

func (c *batchCommand) noteFile() string { return c.Out + ".batch" }

// begin hands the table in, or finds the batch that was begun with it.
func (c *batchCommand) begin(ctx context.Context, api *client.Client, table []byte) (standing, error) {
	query := url.Values{"onInvalid": {"reject"}}
	if c.Skip {
		query.Set("onInvalid", "skip")
	}
	if c.Rate != "" {
		query.Set("rate", c.Rate)
	}
	sum := sha256.Sum256(append([]byte(query.Encode()+"\n"), table...))
	note := begun{URL: c.APIURL, Table: hex.EncodeToString(sum[:]), Ask: rand.Text()}
	var known begun
	if data, err := os.ReadFile(c.noteFile()); err == nil && json.Unmarshal(data, &known) == nil &&
		known.URL == note.URL && known.Table == note.Table {
		if known.ID != "" {
			now, err := look(ctx, api, known.ID)
			if failure, ok := errors.AsType[*client.Error](err); !ok || failure.Status != http.StatusNotFound {
				return now, err
			}
		} else {
			note.Ask = known.Ask // it may have been handed in
		}
	}
	if err := c.write(note); err != nil {
		return standing{}, err
	}
	answer, err := api.Do(ctx, client.Request{
		Path: "/v1/batches?" + query.Encode(), Body: table,
		Header: http.Header{"Content-Type": {"text/csv; charset=utf-8"}, "Idempotency-Key": {note.Ask}},
	})
	if err != nil {
		return standing{}, err
	}
	var now standing
	if err := json.Unmarshal(answer.Body, &now); err != nil {
		return now, fmt.Errorf("the API's answer: %w", err)
	}
	note.ID = now.ID
	return now, c.write(note)
}

func (c *batchCommand) write(note begun) error {
	data, err := json.Marshal(note)
	if err != nil {
		return err
	}
	return os.WriteFile(c.noteFile(), data, 0o600)
}

func look(ctx context.Context, api *client.Client, id string) (now standing, err error) {
	answer, err := api.Do(ctx, client.Request{Path: "/v1/batches/" + url.PathEscape(id)})
	if err != nil {
		return now, err
	}
	return now, json.Unmarshal(answer.Body, &now)
}

// save writes the results, whole or not at all.
func (c *batchCommand) save(ctx context.Context, api *client.Client, id, format string) error {
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

// printProgress shows how far a batch is, in the same line again and again.
func printProgress(w io.Writer, now standing) {
	const width = 30
	left := now.Counts["waiting"] + now.Counts["running"]
	done := now.Rows - left
	bar := bytes.Repeat([]byte("."), width)
	for i := range width * done / max(now.Rows, 1) {
		bar[i] = '#'
	}
	_, _ = fmt.Fprintf(w, "\r[%s] %d of %d, %.1f /s", bar, done, now.Rows, now.PerSecond)
	if now.SecondsLeft > 0 {
		_, _ = fmt.Fprintf(w, ", %v left", time.Duration(now.SecondsLeft)*time.Second)
	}
	_, _ = fmt.Fprint(w, "   ")
}
