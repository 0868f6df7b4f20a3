package tasks

import (
	"slices"

	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
)

// Progress is how far a job has come, in the parts of its kind. Total is constant
// and Done never decreases.
type Progress struct {
	Done  int    `json:"done"`
	Total int    `json:"total"`
	Steps []Part `json:"steps"` // in the order in which they come
}

// Part is one part of a job: a step, or a child that it waits for.
type Part struct {
	Name  string       `json:"name"`
	State PartState    `json:"state"`
	Text  message.Text `json:"text"` // the name as people read it
}

// PartState is the state of a part of a job.
type PartState string

// The states of a part. A skipped part was not needed: its job had a result that was known.
const (
	PartWaiting PartState = "waiting" // for an earlier part
	PartQueued  PartState = "queued"
	PartRunning PartState = "running"
	PartDone    PartState = "done"
	PartFailed  PartState = "failed"
	PartSkipped PartState = "skipped"
)

// ProgressOf returns how far a job has come. It is a pure function of the record.
func ProgressOf(job *jobs.Job) Progress {
	names := workflows[job.Kind].parts
	progress := Progress{Total: len(names), Steps: make([]Part, 0, len(names))}
	for i, name := range names {
		state := partState(job, name)
		if state == PartWaiting && (job.State == jobs.Succeeded || isOptional(name) && isOpened(job, names[i+1:])) {
			state = PartSkipped
		}
		if state == PartDone || state == PartSkipped {
			progress.Done++
		}
		progress.Steps = append(progress.Steps, Part{name, state, message.Say("step/"+name, nil)})
	}
	return progress
}

// isOptional reports whether a part is skipped when there is nothing for it to do:
// a listing without a sheet has no report.
func isOptional(name string) bool { return name == ChildSheet1 || name == ChildSheet2 }

// isOpened reports whether a step after all children was opened: until then a
// report may still be requested.
func isOpened(job *jobs.Job, after []string) bool {
	return slices.ContainsFunc(after, func(name string) bool { _, opened := job.Steps[name]; return opened })
}

// partState returns the state of a part.
func partState(job *jobs.Job, name string) PartState {
	if child, ok := job.Children[name]; ok {
		switch {
		case child.State == jobs.Succeeded:
			return PartDone
		case child.State.Ended():
			return PartFailed
		case job.State.Ended():
			return PartWaiting // the job ended before the child
		}
		return PartRunning
	}
	_, done := job.Outputs[name]
	step, opened := job.Steps[name]
	switch {
	case done, step.State == jobs.StepDone: // the outputs of the last steps are in the result
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
