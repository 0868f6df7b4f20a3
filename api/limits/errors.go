package limits

import (
	"net/http"
	"time"

	"ushuru/api/problem"
	"ushuru/api/respond"
)

// Why a request is refused. Each is named by its code.
var (
	errRateLimited       = problem.New(http.StatusTooManyRequests, "rate_limited", nil)
	errTooManyUploads    = problem.New(http.StatusTooManyRequests, "too_many_uploads", nil).After(respond.PollAfter)
	errTooManyExports    = problem.New(http.StatusTooManyRequests, "too_many_exports", nil).After(respond.PollAfter)
	errTooManyBytes      = problem.New(http.StatusTooManyRequests, "too_many_bytes", nil)
	errTooLargeForKey    = problem.New(http.StatusRequestEntityTooLarge, "too_many_bytes.once", nil)
	errTooManyJobs       = problem.New(http.StatusTooManyRequests, "too_many_jobs", nil).After(respond.PollAfter)
	errTooManyBatchItems = problem.New(http.StatusTooManyRequests, "too_many_batch_items", nil).After(time.Minute)
	errBatchTooLarge     = problem.New(http.StatusRequestEntityTooLarge, "batch_too_large", nil)
)
