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
// hash of the page that the caller sent, "" when the page must be fetched; equal
// pages of one URL are equal inputs. ModelBody is the authority's label that the
// caller chose, "" when it must be found.
type EstimateInput struct {
	URL       string `json:"url"`
	Page      string `json:"page,omitempty"`
	ModelBody string `json:"modelBody,omitempty"`
	// Owner is the API key that alone may get the result, see For; "" lets all keys
	// share it.
	Owner string `json:"owner,omitempty"`
	// Known overrides values of the listing; nil overrides none.
	Known *vehicle.Known `json:"known,omitempty"`
	// PriceCandidates adds the taxes of all candidates to the error of a car that is
	// not matched. Without it only known answers are used.
	PriceCandidates bool `json:"priceCandidates,omitempty"`
}

// Scraped is the output of the step scrape.
type Scraped struct {
	Car      vehicle.Car       `json:"car"`
	Warnings []vehicle.Warning `json:"warnings,omitempty"`
}

// Next is what follows from a job's record: steps to run and children to wait for,
// or the end.
type Next struct {
	Steps    []string
	Children []Child
	Result   json.RawMessage
	Failed   *jobs.Error
}

// Child is a job whose end another job needs. Its kind and input identify it: a
// running job is joined, and a cached result is used.
type Child struct {
	Name  string // in the parent's record
	Kind  string
	Input any
}

// workflow is what the engine knows of a kind of job.
type workflow struct {
	// parts are its steps and children, in the order in which they come.
	parts []string
	// deadline of an interactive job: past it no step is retried.
	deadline time.Duration
	// advance is a pure function from the record so far to what comes next. Nil runs one step
	// after the other; the output of the last one, which knows those before it, is the result.
	advance func(*jobs.Job) (Next, error)
}

// workflows holds the workflow of each kind of job. The output of the step match is a
// match.Choice.
var workflows = map[string]workflow{
	KindEstimate: {[]string{StepScrape, StepMatch, StepCalculate}, 10 * time.Minute, nil},
	KindQuote:    {[]string{StepMatch, StepCalculate}, 10 * time.Minute, nil},
	KindReport:   {[]string{stepSummarize}, 10 * time.Minute, nil},
	KindCompare: {
		[]string{ChildCar1, ChildCar2, ChildSheet1, ChildSheet2, StepRecommend}, 30 * time.Minute, advanceCompare,
	},
}

// advance returns what follows from the record of a job of any kind.
func advance(job *jobs.Job) (next Next, err error) {
	flow, ok := workflows[job.Kind]
	switch {
	case !ok:
		return next, fmt.Errorf("tasks: no such kind of job %q", job.Kind)
	case flow.advance != nil:
		return flow.advance(job)
	}
	for _, step := range flow.parts {
		output, done := job.Outputs[step]
		if !done {
			return Next{Steps: []string{step}}, nil
		}
		next.Result = output
	}
	return next, nil
}
