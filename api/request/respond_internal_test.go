package request

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/batch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/webhook"
)

// TestErrorOfADisconnectedCaller: every error of a request whose client has
// disconnected is logged as 499.
func TestErrorOfADisconnectedCaller(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	leave()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", http.NoBody)
	ProblemHandler(ErrUnavailable).ServeHTTP(w, r)
	if w.Code != statusClientClosedRequest {
		t.Errorf("status %d, want %d", w.Code, statusClientClosedRequest)
	}
}

// reply is the refusal of a server.
type reply string

func (r reply) Error() string { return string(r) }
func (reply) RedisError()     {}

// TestErrorsOfTheStoresHaveOneAnswer: what a handler returns as a store gave it.
func TestErrorsOfTheStoresHaveOneAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		code string
	}{
		{fmt.Errorf("jobs: %w", jobs.ErrNotFound), "job_not_found"},
		{batch.ErrNotFound, "batch_not_found"},
		{webhook.ErrDisabled, "webhook_disabled"},
		{batch.ErrBadCursor, ErrPageInvalid.Code},
		{context.DeadlineExceeded, ErrUnavailable.Code}, // of a command that Redis did not answer
		{&net.OpError{Op: "dial", Err: errors.New("refused")}, ErrUnavailable.Code},
		{fmt.Errorf("jobs: %w", reply("WRONGTYPE")), ErrUnavailable.Code},
		{errors.Join(errors.New("a"), ErrTooSlow), ErrTooSlow.Code},
		{redis.Nil, ErrInternal.Code}, // nobody has looked at it
		{errors.New("a mistake"), ErrInternal.Code},
	} {
		if got := ProblemOf(c.err); got.Code != c.code || !errors.Is(got, c.err) && got.Code != ErrTooSlow.Code {
			t.Errorf("%v: got %s, caused by it: %v; want %s", c.err, got.Code, errors.Is(got, c.err), c.code)
		}
	}
}

func TestUnknownErrorIsInternal(t *testing.T) {
	w := httptest.NewRecorder()
	rec := &Recorder{ResponseWriter: w, Request: &Request{}}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	Handler(func(http.ResponseWriter, *http.Request) error { return errors.New("secret cause") }).ServeHTTP(rec, r)
	const want = `{"error":"Something went wrong on our side. Please try again later.","code":"internal",`
	if w.Code != http.StatusInternalServerError || !strings.HasPrefix(w.Body.String(), want) ||
		strings.Contains(w.Body.String(), "secret") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if rec.Err == nil || rec.Err.Error() != "secret cause" {
		t.Errorf("the log would say %v", rec.Err)
	}
}
