package caller

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/client"
)

// jobID names a job.
type jobID struct {
	ID string `arg:"" help:"Id of the job, as printed by jobs list."`
}

// JobsList lists the jobs of the caller.
type JobsList struct {
	clientConfig
	console.Format
	State string `enum:",queued,running,succeeded,failed,cancelled" default:"" help:"Only jobs in this state."`
	Limit int    `default:"50" help:"Maximum number of jobs."`
}

// Run is called by kong.
func (c *JobsList) Run(r *console.Console) error {
	return c.call(r, func(ctx context.Context, api *client.Client) error {
		all, err := first(api.Jobs(ctx, c.State), c.Limit)
		if err != nil {
			return err
		}
		return console.List(r.Streams, c.Format, all, "ID\tKIND\tSTATE\tCREATED\tENDED\tABOUT\tERROR",
			func(j *client.ListedJob) []string {
				code := ""
				if j.Error != nil {
					code = j.Error.Code
				}
				return []string{j.ID, j.Kind, j.State, console.Time(j.Created), console.Time(j.Ended), about(j), code}
			})
	})
}

// first returns the first entries of a list.
func first[T any](list iter.Seq2[T, error], limit int) (all []T, err error) {
	for entry, err := range list {
		if err != nil {
			return nil, err
		}
		if all = append(all, entry); len(all) >= limit {
			break
		}
	}
	return all, nil
}

// about returns what a job is about: its URLs, or the car that the caller described.
func about(j *client.ListedJob) string {
	if car := j.Car; car != nil {
		return strings.Join(strings.Fields(fmt.Sprint(car.Make, " ", car.Model, " ", car.ModelCode, " ", car.Year)), " ")
	}
	return console.OneLine(j.URLs...)
}

// JobsRetry submits the request of a failed job again.
type JobsRetry struct {
	clientConfig
	console.Format
	ID string `arg:"" optional:"" help:"Id of the job, as printed by jobs list; only the operator may leave it out."`
}

// Run is called by kong.
func (c *JobsRetry) Run(r *console.Console) error {
	if c.ID == "" {
		return errors.New("give the id of a job: see ushuru jobs list")
	}
	return c.call(r, func(ctx context.Context, api *client.Client) error {
		job, err := api.RetryJob(ctx, c.ID)
		if err != nil {
			return err
		}
		return printJob(r, c.Format, job)
	})
}

// JobsShow prints a job with its result or error.
type JobsShow struct {
	clientConfig
	termFlags
	console.Format
	jobID
}

// Run is called by kong.
func (c *JobsShow) Run(r *console.Console) error {
	terms, err := c.terms()
	if err != nil {
		return err
	}
	return c.call(r, func(ctx context.Context, api *client.Client) error {
		job, err := api.Job(ctx, c.ID, terms)
		if err != nil {
			return err
		}
		return printJob(r, c.Format, job)
	})
}

// JobsFollow waits for the end of a job.
type JobsFollow struct {
	clientConfig
	termFlags
	console.Format
	jobID
}

// Run is called by kong.
func (c *JobsFollow) Run(r *console.Console) error {
	terms, err := c.terms()
	if err != nil {
		return err
	}
	return c.call(r, func(ctx context.Context, api *client.Client) error {
		w := &awaited{progress: r.NewProgress(c.JSON)}
		defer w.progress.End()
		for job, err := range api.JobEvents(ctx, c.ID, terms) {
			if err != nil {
				return err
			}
			w.show(job)
			if job.HasEnded() {
				w.progress.End()
				return printEnd(r, c.Format, job)
			}
		}
		return nil
	})
}

// printEnd prints the result of a job, or its error and the exit status for it.
func printEnd(r *console.Console, f console.Format, job *client.Job) error {
	switch {
	case f.JSON:
		if err := printJSON(r, job.JSON); err != nil {
			return err
		}
	case job.Result != nil:
		return printJSON(r, job.Result)
	}
	if err := job.Failure(); err != nil {
		return printRefusal(r, err, outputOptions{})
	}
	return nil
}

// JobsCancel withdraws the caller from a job.
type JobsCancel struct {
	clientConfig
	console.Format
	jobID
}

// Run is called by kong.
func (c *JobsCancel) Run(r *console.Console) error {
	return c.call(r, func(ctx context.Context, api *client.Client) error {
		job, err := api.CancelJob(ctx, c.ID)
		if err != nil {
			return err
		}
		return printJob(r, c.Format, job)
	})
}

// printJob prints a job, in JSON with its result.
func printJob(r *console.Console, f console.Format, job *client.Job) error {
	fields := []console.Field{
		{Name: "Job", Value: job.ID},
		{Name: "Kind", Value: job.Kind},
		{Name: "State", Value: job.State},
		{Name: "Progress", Value: fmt.Sprintf("%d of %d", job.Progress.Done, job.Progress.Total)},
		{Name: "Waits for", Value: console.OneLine(job.WaitingFor, job.Message)},
		{Name: "Created", Value: console.Time(job.Created)},
		{Name: "Ended", Value: console.Time(job.Ended)},
	}
	for _, step := range job.Progress.Steps {
		fields = append(fields, console.Field{Name: "  " + step.Name, Value: step.State})
	}
	if job.Error != nil {
		fields = append(fields, console.Field{Name: "Error", Value: console.OneLine(job.Error.Code+":", job.Error.Message)})
	}
	if job.Result != nil {
		fields = append(fields, console.Field{Name: "Result", Value: "there is one: add --json"})
	}
	return console.Show(r.Streams, f, job.JSON, fields)
}
