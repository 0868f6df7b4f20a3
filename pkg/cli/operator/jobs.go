package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"ushuru/pkg/cli/caller"
	"ushuru/pkg/cli/console"
	"ushuru/pkg/jobs"
	"ushuru/pkg/operate"
)

// Jobs is about jobs: those of the caller over the API, or of all keys.
type Jobs struct {
	List   jobsList          `cmd:"" help:"List the jobs of your API key, newest first; as the operator, those of all keys."`
	Show   jobsShow          `cmd:"" help:"Print a job with its result or error."`
	Follow caller.JobsFollow `cmd:"" help:"Wait for the end of a job, and print its result or error."`
	Cancel jobsCancel        `cmd:"" help:"Cancel a job that no one else waits for; as the operator, for everyone."`
	Retry  jobsRetry         `cmd:"" help:"Submit the request of a failed job again; as the operator, also those of all failed jobs with an error."`
}

// jobView is a job as the operator sees it.
type jobView struct {
	ID       string               `json:"id"`
	Kind     string               `json:"kind"`
	Class    jobs.Class           `json:"class"`
	Key      string               `json:"key"` // id of the API key
	State    jobs.State           `json:"state"`
	Steps    map[string]jobs.Step `json:"steps"`
	Children map[string]jobChild  `json:"children,omitempty"`
	Input    json.RawMessage      `json:"input"`
	Error    *jobs.Error          `json:"error,omitempty"`
	Result   json.RawMessage      `json:"result,omitempty"`
	Created  time.Time            `json:"created"`
	Ended    time.Time            `json:"ended,omitzero"`
	Deadline time.Time            `json:"deadline"`
}

// jobChild is a job that another waits for.
type jobChild struct {
	Job   string     `json:"job"`
	State jobs.State `json:"state"`
}

func newJobView(job *jobs.Job) jobView {
	v := jobView{
		ID: job.ID, Kind: job.Kind, Class: job.Class, Key: job.Owner, State: job.State, Steps: job.Steps,
		Children: map[string]jobChild{}, Input: job.Input, Error: job.Error, Result: job.Result, Created: job.Created,
		Ended: job.Ended, Deadline: job.Deadline,
	}
	for name, child := range job.Children {
		v.Children[name] = jobChild{child.Job, child.State}
	}
	return v
}

func errorText(failure *jobs.Error) string {
	if failure == nil {
		return ""
	}
	return console.OneLine(failure.Code+":", failure.Message)
}

// printJob prints a job.
func printJob(s *Session, f console.Format, job *jobs.Job) error {
	fields := []console.Field{
		{Name: "Job", Value: job.ID},
		{Name: "Kind", Value: console.OneLine(job.Kind, string(job.Class))},
		{Name: "Key", Value: job.Owner},
		{Name: "State", Value: string(job.State)},
	}
	for name, step := range job.Steps {
		state := fmt.Sprintf("%s since %s, attempt %d, %d retries",
			step.State, console.Time(step.Since), step.Attempt, step.Retries)
		if step.Worker != "" {
			state += ", worker " + step.Worker
		}
		fields = append(fields, console.Field{Name: "  " + name, Value: state})
	}
	for name, child := range job.Children {
		fields = append(fields, console.Field{Name: "  " + name, Value: console.OneLine(child.Job, string(child.State))})
	}
	return console.Show(s.Streams, f, newJobView(job), append(fields,
		console.Field{Name: "Error", Value: errorText(job.Error)},
		console.Field{Name: "Input", Value: string(job.Input)},
		console.Field{Name: "Created", Value: console.Time(job.Created)},
		console.Field{Name: "Ended", Value: console.Time(job.Ended)},
		console.Field{Name: "Deadline", Value: console.Time(job.Deadline)}))
}

type jobsList struct {
	caller.JobsList
	asOperator

	Owner string `help:"As the operator: only jobs of the API key with this id." placeholder:"ID"`
	Kind  string `help:"As the operator: only jobs of this kind: estimate, quote, report, compare." placeholder:"KIND"`
	Step  string `help:"As the operator: only jobs that are at this step or have failed there." placeholder:"STEP"`
	Code  string `help:"As the operator: only jobs with this error." placeholder:"CODE"`
}

// Run is called by kong.
// As the operator without a state it lists those that have not ended.
func (c *jobsList) Run(s *Session) error {
	return c.either(s, c.Key, c.JobsList.Run, func(ctx context.Context, o *operate.Operator) error {
		all, err := o.Jobs(ctx, operate.JobFilter{
			State: jobs.State(c.State), Key: c.Owner, Kind: c.Kind, Step: c.Step, Code: c.Code, Limit: c.Limit,
		})
		if err != nil {
			return err
		}
		views := make([]jobView, len(all))
		for i, job := range all {
			views[i] = newJobView(job)
			views[i].Result = nil // jobs show has it
		}
		const header = "ID\tKIND\tCLASS\tSTATE\tSTEPS\tKEY\tCREATED\tERROR"
		i := -1
		return console.List(s.Streams, c.Format, views, header, func(v jobView) []string {
			i++
			return []string{
				v.ID, v.Kind, string(v.Class), string(v.State), strings.Join(operate.OpenSteps(all[i]), ", "), v.Key,
				console.Time(v.Created), errorText(v.Error),
			}
		})
	})
}

type jobsShow struct {
	caller.JobsShow
	asOperator
}

// Run is called by kong.
func (c *jobsShow) Run(s *Session) error {
	return c.either(s, c.Key, c.JobsShow.Run, func(ctx context.Context, o *operate.Operator) error {
		job, err := o.Job(ctx, c.ID)
		if err != nil {
			return err
		}
		return printJob(s, c.Format, job)
	})
}

type jobsCancel struct {
	caller.JobsCancel
	asOperator
}

// Run is called by kong.
func (c *jobsCancel) Run(s *Session) error {
	return c.either(s, c.Key, c.JobsCancel.Run, func(ctx context.Context, o *operate.Operator) error {
		job, err := o.CancelJob(ctx, c.ID)
		if errors.Is(err, operate.ErrEnded) {
			return fmt.Errorf("the job had ended before: %s", job.State)
		}
		if err != nil {
			return err
		}
		return printJob(s, c.Format, job)
	})
}

type jobsRetry struct {
	caller.JobsRetry
	asOperator

	Code  string `help:"As the operator, without an id: the failed jobs with this error." placeholder:"CODE"`
	Step  string `help:"With --code: only those that failed at this step." placeholder:"STEP"`
	Kind  string `help:"With --code: only those of this kind." placeholder:"KIND"`
	Limit int    `default:"1000" help:"With --code: maximum number of jobs, the newest."`
}

// Run is called by kong.
func (c *jobsRetry) Run(s *Session) error {
	return c.either(s, c.Key, c.JobsRetry.Run, func(ctx context.Context, o *operate.Operator) error {
		if (c.ID == "") == (c.Code == "") {
			return errors.New("give the id of a job, or --code for all failed jobs with an error")
		}
		if c.ID != "" {
			job, err := o.RetryJob(ctx, c.ID)
			if err != nil {
				return err
			}
			return printJob(s, c.Format, job)
		}
		n, err := o.RetryFailed(ctx, operate.JobFilter{Kind: c.Kind, Step: c.Step, Code: c.Code, Limit: c.Limit})
		return errors.Join(err, printRetried(s, c.Format, n))
	})
}

// printRetried prints how many jobs or deliveries are tried again.
func printRetried(s *Session, f console.Format, n int) error {
	return console.Show(s.Streams, f, map[string]int{"retried": n}, []console.Field{{Name: "Retried", Value: strconv.Itoa(n)}})
}
