package frame

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"strconv"
	"time"

	"ushuru/api/problem"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// Client calls the API inside the process, as a handler and not over a connection.
type Client struct {
	API    http.Handler
	Header http.Header // of every request; nil for none
}

// Response is a response of the API in memory.
type Response struct {
	bytes.Buffer

	Head    http.Header
	Status  int
	Control *http.ResponseController // of the connection that a body arrives on; nil for none
}

// Header is as that of [http.ResponseWriter].
func (r *Response) Header() http.Header { return r.Head }

// SetReadDeadline and SetWriteDeadline let the API give a body as long as it needs.
func (r *Response) SetReadDeadline(at time.Time) error {
	if r.Control == nil {
		return http.ErrNotSupported
	}
	return r.Control.SetReadDeadline(at)
}

// SetWriteDeadline is as SetReadDeadline.
func (r *Response) SetWriteDeadline(at time.Time) error {
	if r.Control == nil {
		return http.ErrNotSupported
	}
	return r.Control.SetWriteDeadline(at)
}

// WriteHeader is as that of [http.ResponseWriter].
func (r *Response) WriteHeader(status int) {
	if r.Status == 0 {
		r.Status = status
	}
}

// Do sends a request, and returns the response or the problem that it is.
func (c Client) Do(ctx context.Context, method, path string, body []byte, header http.Header) (*Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("frame: request: %w", err)
	}
	maps.Copy(r.Header, c.Header)
	maps.Copy(r.Header, header)
	return c.Send(r, &Response{Head: http.Header{}})
}

// Send sends a request, and returns the response or the problem that it is.
//
// Pages are in both languages and show all of an answer.
func (c Client) Send(r *http.Request, got *Response) (*Response, error) {
	query := r.URL.Query()
	for _, name := range []string{"lang", "fields"} {
		query.Set(name, message.All)
	}
	r.URL.RawQuery = query.Encode()
	c.API.ServeHTTP(got, r)
	if got.Status == 0 {
		got.Status = http.StatusOK
	}
	if got.Status < http.StatusBadRequest {
		return got, nil
	}
	var why vehicle.Error
	if err := json.Unmarshal(got.Bytes(), &why); err != nil {
		return nil, fmt.Errorf("frame: the API answered %d: %w", got.Status, err)
	}
	refused := &problem.Problem{
		Status: got.Status, Notice: NoticeOf(why), Car: why.Car, Candidates: why.Candidates, Param: why.Param,
	}
	if wait, err := strconv.Atoi(got.Head.Get("Retry-After")); err == nil {
		refused.RetryAfter = time.Duration(min(wait, math.MaxInt32)) * time.Second
	}
	return nil, refused
}

// NoticeOf returns what an error of the API says.
func NoticeOf(e vehicle.Error) message.Notice {
	return message.Notice{Code: e.Code, Message: e.Message, Text: e.Text, Values: e.Values}
}

// Get decodes what an address of the API has.
func (c Client) Get(ctx context.Context, path string, into any) error {
	got, err := c.Do(ctx, http.MethodGet, path, nil, nil)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(got.Bytes(), into); err != nil {
		return fmt.Errorf("frame: %s: %w", path, err)
	}
	return nil
}
