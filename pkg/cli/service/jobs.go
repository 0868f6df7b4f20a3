package service

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"net/url"
	"slices"
	"strings"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/client"
	"ushuru/pkg/jobs"
	"ushuru/pkg/operate"
)

// Jobs is about jobs: those of the caller over the API, or of all keys.
type Jobs struct {
	List   jobsList   `cmd:"" help:"List the jobs of your API key, newest first; as the operator, those of all keys."`
	Show   jobsShow   `cmd:"" help:"Print a job with its result or error."`
	Follow jobsFollow `cmd:"" help:"Wait for the end of a job, and print its result or error."`
	Cancel ofBoth     `cmd:"" help:"Cancel a job that no one else waits for; as the operator, for everyone."`
	Retry  jobsRetry  `cmd:"" help:"Submit the request of a failed job again; as the operator, also those of all failed jobs with an error."`
}

func errorText(failure *jobs.Error) string {
	if failure == nil {
		return ""
	}
	return console.OneLine(failure.Code+":", failure.Message)
}

// callersJob prints a job of the caller, in JSON with its result.
func callersJob(job *client.Job) console.Printed {
	pairs := []any{
		"Job", job.ID, "Kind", job.Kind, "State", job.State,
		"Progress", fmt.Sprintf("%d of %d", job.Progress.Done, job.Progress.Total),
		"Waits for", console.OneLine(job.WaitingFor, job.Message), "Created", job.Created, "Ended", job.Ended,
	}
	for _, step := range job.Progress.Steps {
		pairs = append(pairs, "  "+step.Name, step.State)
	}
	if job.Error != nil {
		pairs = append(pairs, "Error", console.OneLine(job.Error.Code+":", job.Error.Message))
	}
	if job.Result != nil {
		pairs = append(pairs, "Result", "there is one: add --json")
	}
	return console.Record(job, pairs...)
}

// anyJob prints a job of any API key.
func anyJob(job *jobs.Job) console.Printed {
	pairs := []any{
		"Job", job.ID, "Kind", console.OneLine(job.Kind, string(job.Class)), "Key", job.Owner, "State", job.State,
	}
	for _, name := range slices.Sorted(maps.Keys(job.Steps)) {
		step := job.Steps[name]
		state := fmt.Sprintf("%s since %s, attempt %d, %d retries",
			step.State, console.Time(step.Since), step.Attempt, step.Retries)
		if step.Worker != "" {
			state += ", worker " + step.Worker
		}
		pairs = append(pairs, "  "+name, state)
	}
	for _, name := range slices.Sorted(maps.Keys(job.Children)) {
		child := job.Children[name]
		pairs = append(pairs, "  "+name, console.OneLine(child.Job, string(child.State)))
	}
	return console.Record(job, append(pairs, "Error", errorText(job.Error), "Input", string(job.Input),
		"Created", job.Created, "Ended", job.Ended, "Deadline", job.Deadline)...)
}

type jobsList struct {
	target
	State string `enum:",queued,running,succeeded,failed,cancelled" default:"" help:"Only jobs in this state."`
	Limit int    `default:"50" help:"Maximum number of jobs."`

	Owner string `help:"As the operator: only jobs of the API key with this id." placeholder:"ID"`
	Kind  string `help:"As the operator: only jobs of this kind: estimate, quote, report, compare." placeholder:"KIND"`
	Step  string `help:"As the operator: only jobs that are at this step or have failed there." placeholder:"STEP"`
	Code  string `help:"As the operator: only jobs with this error." placeholder:"CODE"`
}

// Run is called by kong. As the operator without a state it lists those that have not ended.
func (c *jobsList) Run(s *Session) error {
	return c.run(s, func(ctx context.Context, api *client.Client) (console.Printed, error) {
		query := url.Values{}
		if c.State != "" {
			query.Set("state", c.State)
		}
		return console.As(console.Listed("ID\tKIND\tSTATE\tCREATED\tENDED\tABOUT\tERROR", func(j *client.ListedJob) []any {
			code := ""
			if j.Error != nil {
				code = j.Error.Code
			}
			return []any{j.ID, j.Kind, j.State, j.Created, j.Ended, about(j), code}
		}))(first(client.List[client.ListedJob](ctx, api, "/v1/jobs", "jobs", query), c.Limit))
	}, func(ctx context.Context, o *operate.Operator) (console.Printed, error) {
		return console.As(anyJobs)(o.Jobs(ctx, operate.JobFilter{
			State: jobs.State(c.State), Key: c.Owner, Kind: c.Kind, Step: c.Step, Code: c.Code, Limit: c.Limit,
		}))
	})
}

// anyJobs prints jobs of all API keys without their results, which jobs show has.
func anyJobs(all []*jobs.Job) console.Printed {
	for _, job := range all {
		job.Result = nil
	}
	return console.Listed("ID\tKIND\tCLASS\tSTATE\tSTEPS\tKEY\tCREATED\tERROR", func(job *jobs.Job) []any {
		return []any{
			job.ID, job.Kind, job.Class, job.State, strings.Join(operate.OpenSteps(job), ", "), job.Owner,
			job.Created, errorText(job.Error),
		}
	})(all)
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
		return console.OneLine(fmt.Sprint(car.Make, " ", car.Model, " ", car.ModelCode, " ", car.Year))
	}
	return console.OneLine(j.URLs...)
}

// pathOf returns where a job is with its cost on the terms of the flags.
func (f Terms) pathOf(id string, more ...string) (string, error) {
	terms, err := f.Requested()
	if err != nil {
		return "", err
	}
	return client.JobPath(id, terms, more...)
}

type jobsShow struct {
	target
	Terms
	ID string `arg:"" help:"Id of the ${noun}, as printed by ${nouns} list."`
}

// Run is called by kong.
func (c *jobsShow) Run(s *Session) error {
	path, err := c.pathOf(c.ID, "fields", "all")
	if err != nil {
		return err
	}
	return c.run(s, func(ctx context.Context, api *client.Client) (console.Printed, error) {
		return console.As(callersJob)(client.Send[client.Job](ctx, api, "GET "+path, nil))
	}, func(ctx context.Context, o *operate.Operator) (console.Printed, error) {
		return console.As(anyJob)(o.Job(ctx, c.ID))
	})
}

type jobsRetry struct {
	target
	ID string `arg:"" optional:"" help:"Id of the job, as printed by jobs list; only the operator may leave it out."`

	Code  string `help:"As the operator, without an id: the failed jobs with this error, and without --step and --kind the rows of batches." placeholder:"CODE"`
	Step  string `help:"With --code: only those that failed at this step." placeholder:"STEP"`
	Kind  string `help:"With --code: only those of this kind." placeholder:"KIND"`
	Limit int    `default:"20000" help:"With --code: maximum number of jobs, the newest."`
}

// Run is called by kong.
func (c *jobsRetry) Run(s *Session) error {
	return c.run(s, func(ctx context.Context, api *client.Client) (console.Printed, error) {
		if c.ID == "" {
			return nil, console.Usage("give the id of a job: see ushuru jobs list")
		}
		return ask("POST /v1/jobs/{id}/retry", callersJob)(ctx, api, c.ID)
	}, func(ctx context.Context, o *operate.Operator) (console.Printed, error) {
		if (c.ID == "") == (c.Code == "") {
			return nil, console.Usage("give the id of a job, or --code for all failed jobs with an error")
		}
		if c.ID != "" {
			return console.As(anyJob)(o.RetryJob(ctx, c.ID))
		}
		r, err := o.RetryFailed(ctx, operate.JobFilter{Kind: c.Kind, Step: c.Step, Code: c.Code, Limit: c.Limit})
		pairs := []any{"Retried", r.Jobs + r.Rows}
		if r.Rows > 0 {
			pairs = append(pairs, "Of batches", r.Rows)
		}
		if r.LeftOut > 0 {
			pairs = append(pairs, "Left out", fmt.Sprintf("%d, which only the caller can send again", r.LeftOut))
		}
		value := map[string]int{"retried": r.Jobs + r.Rows, "jobs": r.Jobs, "rows": r.Rows, "leftOut": r.LeftOut}
		return console.Record(value, pairs...), err
	})
}

type jobsFollow struct {
	request
	Terms
	ID string `arg:"" help:"Id of the ${noun}, as printed by ${nouns} list."`
}

// Run is called by kong. It waits for the end of a job.
func (c *jobsFollow) Run(s *Session) error {
	path, err := c.pathOf(c.ID)
	if err != nil {
		return err
	}
	return c.Call(s, func(ctx context.Context, api *client.Client) error {
		w := &awaited{progress: s.NewProgress(c.JSON())}
		defer w.progress.End()
		job, err := client.Follow(ctx, api, path, w.show)
		if err != nil {
			return err
		}
		w.progress.End()
		return c.printEnd(s, job)
	})
}

// printEnd prints the result of a job, or its error and the exit status for it.
func (c *jobsFollow) printEnd(s *Session, job *client.Job) error {
	switch {
	case c.JSON():
		if err := console.WriteJSON(s.Out, job.JSON); err != nil {
			return err
		}
	case job.Result != nil && c.CSV():
		return console.Answer{Output: "csv"}.Print(s.Streams, job.Result)
	case job.Result != nil:
		return console.WriteJSON(s.Out, job.Result)
	}
	if err := job.Failure(); err != nil {
		return s.PrintError(err)
	}
	return nil
}
