package respond

import (
	"net/http"
	"time"

	"ushuru/api/problem"
)

// RedisTimeout bounds every call of Redis, so that no request hangs on a Redis
// that does not answer. The client must obey contexts
// (redis.Options.ContextTimeoutEnabled, which redisx sets).
const RedisTimeout = 3 * time.Second

// PollAfter is the Retry-After of a job that has not ended, and of what cannot be done at
// the moment.
const PollAfter = 2 * time.Second

// statusClientClosedRequest is logged for a client that disconnected before
// the response. nginx logs the same number; no RFC defines it.
const statusClientClosedRequest = 499

// The errors that any request may end with. Each is named by its code.
var (
	ErrNotFound            = problem.NotFound("not_found")
	ErrMethodNotAllowed    = problem.New(http.StatusMethodNotAllowed, "method_not_allowed", nil)
	ErrClientClosedRequest = problem.New(statusClientClosedRequest, "client_closed_request", nil)
	ErrInternal            = problem.New(http.StatusInternalServerError, "internal", nil)
	ErrUnavailable         = problem.New(http.StatusServiceUnavailable, "unavailable", nil).After(PollAfter)
)
