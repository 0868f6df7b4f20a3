package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"ushuru/api/problem"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// client calls the API inside the process.
type client struct{ api http.Handler }

// response is a response of the API in memory.
type response struct {
	bytes.Buffer

	header http.Header
	status int
}

func (r *response) Header() http.Header { return r.header }

func (r *response) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

// started is what the API answered: a result, or the job that makes it.
type started struct {
	result []byte
	job    string // its address: /v1/jobs/01J…?target=1
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
	got := &response{header: http.Header{}}
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
	refused := &problem.Problem{Status: got.status, Notice: noticeOf(why), Car: why.Car, Candidates: why.Candidates}
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
	switch {
	case err != nil:
		return started{}, err
	case got.status == http.StatusAccepted:
		return started{job: got.header.Get("Location")}, nil
	}
	return started{result: got.Bytes()}, nil
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
