package service

import (
	"context"
	"fmt"
	"strings"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/client"
)

// awaited is what a command waits for: a job whose progress is shown.
type awaited struct {
	progress *console.Progress
	job      string // its id, once it is known
}

// Await calls an operation of the API and returns the result of its job, whose progress it shows;
// a silent one only on a terminal. When the command ends before the job does, the error says how to
// go on.
func Await[R, T any](
	s *Session, c API, silent bool,
	call func(*client.Client, context.Context, R, ...func(*client.Job)) (*T, error), request R,
) (*T, error) {
	api, err := c.client()
	if err != nil {
		return nil, err
	}
	w := &awaited{progress: s.NewProgress(silent)}
	defer w.progress.End()
	ctx, cancel := context.WithTimeout(s.Ctx, c.jobTimeout())
	defer cancel()
	result, err := call(api, ctx, request, w.show)
	if err == nil || ctx.Err() == nil || w.job == "" {
		return result, err
	}
	why, status := fmt.Sprintf("there is no result after %v", c.jobTimeout()), console.ExitRows
	if s.Ctx.Err() != nil {
		why, status = "stopped", console.ExitFailure
	}
	return nil, console.WithStatus(status,
		fmt.Errorf("%s; the job continues on the server: ushuru jobs follow %s", why, w.job))
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
