package tasks

import (
	"encoding/json"
	"slices"
	"time"

	"ushuru/pkg/jobs"
	"ushuru/pkg/localtime"
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

// Step is where a job is: at the step that changed last of those that are not done.
type Step struct {
	jobs.Step

	Name  string // "" when none is open
	Queue string // of its task
}

// CurrentStep returns the step at which a job is that has not ended.
func CurrentStep(job *jobs.Job) (current Step) {
	if job.State.Ended() {
		return current
	}
	for name, step := range job.Steps {
		if step.State == jobs.StepDone || step.Since.Before(current.Since) {
			continue
		}
		if step.Since.Equal(current.Since) && name > current.Name && current.Name != "" {
			continue // of steps opened at the same time always the same one
		}
		current = Step{step, name, queueOf(policies[job.Kind+":"+name], job.Class)}
	}
	return current
}

// queueOf returns the queue of a step of a job.
func queueOf(policy Policy, class jobs.Class) string {
	if class == jobs.Bulk {
		return policy.Queue + BulkSuffix
	}
	return policy.Queue
}

// maxPause is the longest pause of a site that a job for a person waits for. A
// person learns of a longer one at once.
const maxPause = 15 * time.Second

// What a person can send while a site pauses.
const (
	OfferPage  = "page"
	OfferSheet = "sheet"
)

// The codes of jobs that ended because of what a person does not wait for.
const (
	hostBusy             = "host_busy"             // the site had asked for a pause
	fetchTimeout         = "fetch_timeout"         // the site did not answer in time
	authorityUnavailable = "authority_unavailable" // TRA's calculator did not answer before the deadline
	deadlineExceeded     = "deadline_exceeded"
	aiUnavailable        = "ai_unavailable" // no AI answered
)

// PauseDetails are the details of the error of SitePaused.
type PauseDetails struct {
	RetryAt time.Time `json:"retryAt"`
}

// SitePaused returns the error of a job for a person whose site has asked for a
// pause; nil when the pause is so short that the job waits. offer says what the
// person can send meanwhile.
func SitePaused(pause time.Duration, offer string, cause error) *StepError {
	if pause <= maxPause {
		return nil
	}
	until := localtime.Of(time.Now().Add(pause))
	at := message.Values{"time": until.Format("15:04:05 (MST)")}
	failure := Permanent(message.New("error/"+hostBusy+"."+offer, at), cause)
	failure.Details, _ = json.Marshal(PauseDetails{until}) //nolint:errchkjson // a time of this century can be encoded
	return failure
}

// IsPatient reports whether a job has the time to wait for a site that pauses: it
// was made for a batch.
func IsPatient(job *jobs.Job) bool { return job.Deadline.Sub(job.Created) >= deadlineBulk }

// EndedForPerson reports whether a job that was made for a person ended because
// that person should not wait longer for a site, the authority or the AI. A batch row that
// had joined it waits.
func EndedForPerson(job *jobs.Job) bool {
	if job.Error == nil {
		return false
	}
	switch job.Error.Code {
	case hostBusy, fetchTimeout, authorityUnavailable, deadlineExceeded:
		return !IsPatient(job)
	case aiUnavailable:
		return job.Class == jobs.Interactive
	}
	return false
}
