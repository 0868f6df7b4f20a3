package tasks

import (
	"encoding/json"
	"time"

	"ushuru/pkg/jobs"
	"ushuru/pkg/localtime"
	"ushuru/pkg/message"
)

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
