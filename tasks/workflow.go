package tasks

import (
	"encoding/json"
	"fmt"
	"time"

	"ushuru/pkg/jobs"
	"ushuru/pkg/vehicle"
)

// KindEstimate is the kind of a job that estimates one listing.
const KindEstimate = "estimate"

// The steps of an estimate.
const (
	StepScrape    = "scrape"
	StepMatch     = "match"
	StepCalculate = "calculate"
)

// deadlineBulk is the deadline of any job of a batch.
const deadlineBulk = 24 * time.Hour

// EstimateInput is the input of an estimate job. URL is canonical. Page is the
// hash of the page that the caller sent (package paste), "" when it is to be
// fetched; equal pages of one URL are one question. ModelBody is the
// authority's label that the caller chose, "" when it is to be found.
type EstimateInput struct {
	URL       string `json:"url"`
	Page      string `json:"page,omitempty"`
	ModelBody string `json:"modelBody,omitempty"`
}

// Scraped is the output of the step scrape.
type Scraped struct {
	Car      vehicle.Car       `json:"car"`
	Warnings []vehicle.Warning `json:"warnings,omitempty"`
}

// Next is what follows from a job's record: steps to take and children to
// wait for, or the end.
type Next struct {
	Steps    []string
	Children []Child
	Result   json.RawMessage
	Failed   *jobs.Error
}

// Child is a job that a job needs the end of. Its kind and input say which:
// one in flight is joined, and an answer that is kept is taken.
type Child struct {
	Name  string // under which the parent finds it in its record
	Kind  string
	Input any
}

// workflow is what the engine knows of a kind of job.
type workflow struct {
	// advance is a pure function from the record so far to what comes next.
	// Asking twice gives the same answer.
	advance func(*jobs.Job) (Next, error)
	// deadline of a job that a person waits for: past it no step is tried again.
	deadline time.Duration
}

// workflows by kind of job.
var workflows = map[string]workflow{
	KindEstimate: {advanceEstimate, 10 * time.Minute},
	KindQuote:    {advanceQuote, 10 * time.Minute},
	KindReport:   {advanceReport, 10 * time.Minute},
	KindCompare:  {advanceCompare, 30 * time.Minute},
}

// advance is the workflow of any job.
func advance(job *jobs.Job) (Next, error) {
	flow, ok := workflows[job.Kind]
	if !ok {
		return Next{}, fmt.Errorf("tasks: no such kind of job %q", job.Kind)
	}
	return flow.advance(job)
}

// advanceEstimate: the output of the last step, which knows those before it,
// is the result. That of the step match is a match.Choice.
func advanceEstimate(job *jobs.Job) (Next, error) {
	return sequence(job, StepScrape, StepMatch, StepCalculate)
}

// sequence takes one step after the other, to the last, whose output is the result.
func sequence(job *jobs.Job, steps ...string) (next Next, err error) {
	for _, step := range steps {
		output, done := job.Outputs[step]
		if !done {
			return Next{Steps: []string{step}}, nil
		}
		next.Result = output
	}
	return next, nil
}
