package tasks

import (
	"slices"

	"ushuru/pkg/jobs"
)

// Progress is how far a job is, in the parts that its kind has. Total does not
// change while the job goes on, and Done does not fall.
type Progress struct {
	Done  int    `json:"done"`
	Total int    `json:"total"`
	Steps []Part `json:"steps"` // in the order in which they come
}

// Part is one part of a job: a step, or another job that it waits for.
type Part struct {
	Name  string    `json:"name"`
	State PartState `json:"state"`
}

// PartState is where a part of a job stands.
type PartState string

// The states of a part. Skipped is one that turned out not to be needed.
const (
	PartWaiting PartState = "waiting" // its turn has not come
	PartQueued  PartState = "queued"
	PartRunning PartState = "running"
	PartDone    PartState = "done"
	PartFailed  PartState = "failed"
	PartSkipped PartState = "skipped"
)

// parts are the steps and children of each kind of job, in order.
var parts = map[string][]string{
	KindEstimate: {StepScrape, StepMatch, StepCalculate},
	KindQuote:    {StepMatch, StepCalculate},
	KindReport:   {StepSummarize},
	KindCompare:  {ChildCar1, ChildCar2, ChildSheet1, ChildSheet2, StepRecommend},
}

// ProgressOf says how far a job is. It is a pure function of the record.
func ProgressOf(job *jobs.Job) Progress {
	names := parts[job.Kind]
	progress := Progress{Total: len(names), Steps: make([]Part, 0, len(names))}
	for i, name := range names {
		state := partState(job, name)
		if state == PartWaiting && (job.State == jobs.Succeeded || isOpened(job, names[i+1:])) && isOptional(name) {
			state = PartSkipped
		}
		if state == PartDone || state == PartSkipped {
			progress.Done++
		}
		progress.Steps = append(progress.Steps, Part{name, state})
	}
	return progress
}

// isOptional parts are skipped when there is nothing for them to do: a listing
// without a sheet has no report.
func isOptional(name string) bool { return name == ChildSheet1 || name == ChildSheet2 }

// isOpened reports whether a step that comes after all children was opened: until
// then a report may still be asked for.
func isOpened(job *jobs.Job, after []string) bool {
	return slices.ContainsFunc(after, func(name string) bool { _, opened := job.Steps[name]; return opened })
}

func partState(job *jobs.Job, name string) PartState {
	if child, ok := job.Children[name]; ok {
		switch {
		case child.State == jobs.Succeeded:
			return PartDone
		case child.State.Ended():
			return PartFailed
		case job.State.Ended():
			return PartWaiting // it was not needed any more
		}
		return PartRunning
	}
	_, done := job.Outputs[name]
	step, opened := job.Steps[name]
	switch {
	case done:
		return PartDone
	case !opened:
		return PartWaiting
	case job.State == jobs.Failed:
		return PartFailed
	case job.State.Ended():
		return PartWaiting
	case step.State == jobs.StepClaimed:
		return PartRunning
	}
	return PartQueued
}
