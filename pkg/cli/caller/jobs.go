package caller

import (
	"context"
	"fmt"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/client"
)

// Jobs is about jobs of the API. Their ids are in its answers.
type Jobs struct {
	Show   jobsShow   `cmd:"" help:"Print a job with its result or error."`
	Follow jobsFollow `cmd:"" help:"Wait for the end of a job, and print its result or error."`
	Cancel jobsCancel `cmd:"" help:"Cancel a job that no one else waits for."`
}

// jobID names a job.
type jobID struct {
	ID string `arg:"" help:"Id of the job."`
}

type jobsShow struct {
	clientConfig
	termFlags
	console.Format
	jobID
}

// Run is called by kong.
func (c *jobsShow) Run(r *console.Console) error {
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

type jobsFollow struct {
	clientConfig
	termFlags
	console.Format
	jobID
}

// Run is called by kong.
func (c *jobsFollow) Run(r *console.Console) error {
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

type jobsCancel struct {
	clientConfig
	console.Format
	jobID
}

// Run is called by kong.
func (c *jobsCancel) Run(r *console.Console) error {
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
