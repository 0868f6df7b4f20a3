package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"ushuru/api/problem"
	"ushuru/pkg/message"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// client calls the API inside the process.
type client struct{ api http.Handler }

// response is a response of the API in memory.
type response struct {
	bytes.Buffer

	header  http.Header
	status  int
	control *http.ResponseController // of the connection that a body arrives on; nil for none
}

func (r *response) Header() http.Header { return r.header }

// SetReadDeadline and SetWriteDeadline let the API give a body as long as it needs.
func (r *response) SetReadDeadline(at time.Time) error {
	if r.control == nil {
		return http.ErrNotSupported
	}
	return r.control.SetReadDeadline(at)
}

// SetWriteDeadline is as SetReadDeadline.
func (r *response) SetWriteDeadline(at time.Time) error {
	if r.control == nil {
		return http.ErrNotSupported
	}
	return r.control.SetWriteDeadline(at)
}

func (r *response) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

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
	Created    time.Time       `json:"created"`
	WaitingFor string          `json:"waitingFor"`
	Text       *message.Text   `json:"text"` // why it waits
	Progress   tasks.Progress  `json:"progress"`
	Result     json.RawMessage `json:"result"`
	Error      *vehicle.Error  `json:"error"`
}

// hasEnded reports whether the job has a result or an error.
func (j *job) hasEnded() bool { return j.Result != nil || j.Error != nil }

// call sends a request, and returns the response or the problem that it is.
func (c client) call(ctx context.Context, method, path string, body []byte, header http.Header) (*response, error) {
	r, err := http.NewRequestWithContext(ctx, method, path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("web: request: %w", err)
	}
	if header != nil {
		r.Header = header
	}
	return c.send(r, &response{header: http.Header{}})
}

// send sends a request, and returns the response or the problem that it is.
func (c client) send(r *http.Request, got *response) (*response, error) {
	c.api.ServeHTTP(got, r)
	if got.status == 0 {
		got.status = http.StatusOK
	}
	if got.status < http.StatusBadRequest {
		return got, nil
	}
	var why vehicle.Error
	if err := json.Unmarshal(got.Bytes(), &why); err != nil {
		return nil, fmt.Errorf("web: the API answered %d: %w", got.status, err)
	}
	refused := &problem.Problem{
		Status: got.status, Notice: noticeOf(why), Car: why.Car, Candidates: why.Candidates, Param: why.Param,
	}
	if wait, err := strconv.Atoi(got.header.Get("Retry-After")); err == nil {
		refused.RetryAfter = time.Duration(min(wait, math.MaxInt32)) * time.Second
	}
	return nil, refused
}

// noticeOf returns what an error of the API says.
func noticeOf(e vehicle.Error) message.Notice {
	return message.Notice{Code: e.Code, Message: e.Message, Text: e.Text, Values: e.Values}
}

// start posts a request that needs work. It does not wait for the result.
func (c client) start(ctx context.Context, path string, body []byte) (started, error) {
	header := http.Header{"Content-Type": {"application/json"}, "Prefer": {"respond-async"}}
	got, err := c.call(ctx, http.MethodPost, path, body, header)
	if err != nil {
		return endedWith(err)
	}
	return got.started(), nil
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
	got, err := c.send(sent, &response{header: http.Header{}, control: http.NewResponseController(w)})
	if err != nil {
		return started{}, err
	}
	return got.started(), nil
}

// started returns the result or the job of a response.
func (r *response) started() started {
	if r.status == http.StatusAccepted {
		return started{job: r.header.Get("Location")}
	}
	return started{result: r.Bytes()}
}

// get decodes what an address of the API has.
func (c client) get(ctx context.Context, path string, into any) error {
	got, err := c.call(ctx, http.MethodGet, path, nil, nil)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(got.Bytes(), into); err != nil {
		return fmt.Errorf("web: %s: %w", path, err)
	}
	return nil
}
