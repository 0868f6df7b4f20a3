// Package caller is the commands that call the API, as any caller does: with a URL and
// an API key.
package caller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/client"
)

// clientConfig says how the API is called.
type clientConfig struct {
	APIURL  string         `name:"url" env:"USHURU_URL" default:"http://127.0.0.1:8080" help:"Base URL of the API."`
	Key     console.Secret `env:"USHURU_KEY" help:"API key; ushuru keys create issues one."`
	Timeout time.Duration  `default:"10m" help:"Maximum time to wait for the result."`

	language string // of the answers; "" is English
}

// in returns the configuration for answers in a language.
func (c clientConfig) in(lang string) clientConfig {
	c.language = lang
	return c
}

// client returns a client of the API.
func (c clientConfig) client() (*client.Client, error) {
	if c.Key == "" {
		return nil, errors.New("set USHURU_KEY to an API key")
	}
	return client.New(client.Options{URL: c.APIURL, Key: string(c.Key), Language: c.language})
}

// call calls the API within the time that the caller gives it. An error of the API is
// printed.
func (c clientConfig) call(r *console.Console, do func(ctx context.Context, api *client.Client) error) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Ctx, c.Timeout)
	defer cancel()
	return printError(r, do(ctx, api))
}

// awaited is what a command waits for: a job whose progress is shown.
type awaited struct {
	progress *console.Progress
	job      string // its id, once it is known
}

// await returns the result of a job and shows its progress; a silent one only on a
// terminal. When the command ends before the job does, the error says how to go on.
func await[T any](
	r *console.Console, c clientConfig, silent bool,
	request func(ctx context.Context, api *client.Client, progress func(*client.Job)) (*T, error),
) (*T, error) {
	api, err := c.client()
	if err != nil {
		return nil, err
	}
	w := &awaited{progress: r.NewProgress(silent)}
	defer w.progress.End()
	ctx, cancel := context.WithTimeout(r.Ctx, c.Timeout)
	defer cancel()
	result, err := request(ctx, api, w.show)
	if err == nil || ctx.Err() == nil || w.job == "" {
		return result, err
	}
	why := fmt.Sprintf("there is no result after %v", c.Timeout)
	if r.Ctx.Err() != nil {
		why = "stopped"
	}
	return nil, fmt.Errorf("%s; the job continues on the server: ushuru jobs follow %s", why, w.job)
}

// show shows the steps of a job.
func (w *awaited) show(job *client.Job) {
	w.job = job.ID
	if !job.HasEnded() {
		w.progress.Show(progressText(job))
	}
}

// progressText returns the steps of a job in one line.
func progressText(job *client.Job) string {
	steps := make([]string, 0, len(job.Progress.Steps))
	for _, step := range job.Progress.Steps {
		switch step.State {
		case "done":
			steps = append(steps, step.Name+" ✓")
		case "running", "failed":
			steps = append(steps, step.Name+" "+step.State)
		case "queued":
			steps = append(steps, step.Name+" …")
		case "skipped":
		default:
			steps = append(steps, step.Name)
		}
	}
	text := job.Kind + ": " + strings.Join(steps, ", ")
	if job.Attempt > 1 {
		text += fmt.Sprintf(" (attempt %d)", job.Attempt)
	}
	if job.Message != "" {
		text += "; " + job.Message
	}
	return text
}

// printJSON prints an answer as the API wrote it.
func printJSON(r *console.Console, answer json.RawMessage) error {
	return console.WriteJSON(r.Out, answer)
}
