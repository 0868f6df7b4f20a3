package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"ushuru/api/problem"
	"ushuru/api/web/frame"
	"ushuru/pkg/message"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// client calls the API as a visitor without a key.
type client struct{ frame.Client }

// started is what the API answered: a result, or the job that makes it.
type started struct {
	result []byte
	job    string // its address: /v1/jobs/01J…?target=1
	failed []byte // the error of a job that has ended already
}

// job is a job as the API shows it.
type job struct {
	ID         string          `json:"id"`
	State      string          `json:"state"`
	Step       string          `json:"step"`
	StepSince  time.Time       `json:"stepSince"`
	Car        *vehicle.Car    `json:"car"` // as its page was read
	Created    time.Time       `json:"created"`
	Ended      time.Time       `json:"ended"`
	WaitingFor string          `json:"waitingFor"`
	Text       *message.Text   `json:"text"` // why it waits
	Progress   tasks.Progress  `json:"progress"`
	Result     json.RawMessage `json:"result"`
	Error      *vehicle.Error  `json:"error"`
}

// hasEnded reports whether the job has a result or an error.
func (j *job) hasEnded() bool { return j.Result != nil || j.Error != nil }

// soon waits for a result that comes within a second: its page is then the first that the visitor
// sees. Later does not wait.
const (
	soon  = "respond-async, wait=1"
	later = "respond-async"
)

// start posts a request that needs work.
func (c client) start(ctx context.Context, path string, body []byte, prefer string) (started, error) {
	header := http.Header{"Content-Type": {"application/json"}, "Prefer": {prefer}}
	got, err := c.Do(ctx, http.MethodPost, path, body, header)
	if err != nil {
		return endedWith(err)
	}
	return startedBy(got), nil
}

// endedWith returns the error of a job that was over before the API responded: it has a
// page, as that of a slower one has. An error of the request itself is returned.
func endedWith(err error) (started, error) {
	why, ok := errors.AsType[*problem.Problem](err)
	if !ok || why.Status < http.StatusUnprocessableEntity || why.Status == http.StatusTooManyRequests {
		return started{}, err
	}
	if _, known := states[why.Code]; !known {
		return started{}, err
	}
	failed, encodeErr := plainjson.Encode(why.Body())
	if encodeErr != nil {
		return started{}, encodeErr
	}
	return started{failed: failed}, nil
}

// upload posts the form of a request as it arrives, and waits for no result.
func (c client) upload(ctx context.Context, w http.ResponseWriter, r *http.Request, path string) (started, error) {
	sent, err := http.NewRequestWithContext(ctx, http.MethodPost, path, r.Body)
	if err != nil {
		return started{}, fmt.Errorf("web: request: %w", err)
	}
	sent.ContentLength = r.ContentLength
	sent.Header = http.Header{"Content-Type": {r.Header.Get("Content-Type")}, "Prefer": {"respond-async"}}
	got, err := c.Send(sent, &frame.Response{Head: http.Header{}, Control: http.NewResponseController(w)})
	if err != nil {
		return started{}, err
	}
	return startedBy(got), nil
}

// startedBy returns the result or the job of a response.
func startedBy(r *frame.Response) started {
	if r.Status == http.StatusAccepted {
		return started{job: r.Head.Get("Location")}
	}
	return started{result: r.Bytes()}
}
