package worker

import (
	"encoding/json"
	"errors"
	"time"

	"ushuru/pkg/fetch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/stat"
	"ushuru/tasks"
)

// countEnd counts the end of a step.
func countEnd(recorder *stat.Recorder, job *jobs.Job, step, code string, took time.Duration) {
	recorder.Step(stat.Step{
		Site: pageHostOf(job), Type: job.Kind + ":" + step, Code: code, Took: took, Job: job.ID,
	})
}

// countCompleted counts a step that has an output, and those that were made early after
// it, whose time is not known.
func (s *stepHandler) countCompleted(run stepRun, early []tasks.StepOutput, took time.Duration) {
	countEnd(s.stat, run.job, run.step, stat.OK, took)
	for _, output := range early {
		countEnd(s.stat, run.job, output.Step, stat.OK, 0)
	}
}

// countRetried counts an attempt that is made again. One that waited for the pace of its
// site, and one that found nothing to do yet, were not made.
func (s *stepHandler) countRetried(run stepRun, err error) {
	failure, named := errors.AsType[*tasks.StepError](err)
	if named && failure.Code == fetch.HostBusy || !named && !tasks.IsFailure(err) {
		return
	}
	s.stat.Step(stat.Step{
		Site: pageHostOf(run.job), Type: run.taskType, Code: tasks.JobError(err).Code, Retried: true, Job: run.job.ID,
	})
}

// pageHostOf returns the host of the page that a job is about; "" when it is about none, or the
// caller has sent the page.
func pageHostOf(job *jobs.Job) string {
	var input struct {
		URL    string `json:"url"`
		Page   string `json:"page"`
		Upload string `json:"upload"`
	}
	if json.Unmarshal(job.Input, &input) != nil || input.Page != "" || input.Upload != "" {
		return ""
	}
	return siteOf(input.URL)
}
