package await

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/pkg/message"
	"ushuru/pkg/pace"
)

// Why a request is refused. Each is named by its code.
var (
	errRateLimited       = problem.New(http.StatusTooManyRequests, "rate_limited", nil)
	errTooManyUploads    = problem.New(http.StatusTooManyRequests, "too_many_uploads", nil).After(request.PollAfter)
	errTooManyExports    = problem.New(http.StatusTooManyRequests, "too_many_exports", nil).After(request.PollAfter)
	errTooManyBytes      = problem.New(http.StatusTooManyRequests, "too_many_bytes", nil)
	errTooLargeForKey    = problem.New(http.StatusRequestEntityTooLarge, "too_many_bytes.once", nil)
	errTooManyBatchItems = problem.New(http.StatusTooManyRequests, "too_many_batch_items", nil).After(time.Minute)
	errBatchTooLarge     = problem.New(http.StatusRequestEntityTooLarge, "batch_too_large", nil)
	errTooManyJobs       = problem.New(http.StatusTooManyRequests, "too_many_jobs", nil).After(request.PollAfter)
)

// tooManyBytesOfRows says how many of the rows of a batch there is room for, and when there will be more.
func tooManyBytesOfRows(account pace.Account, needed, rows int64) error {
	status, variant, room := http.StatusTooManyRequests, "too_many_bytes.batch", account.Left()
	ever := needed <= account.Limit
	if !ever {
		status, variant, room = http.StatusRequestEntityTooLarge, "too_many_bytes.batch_once", account.Limit
	}
	p := problem.New(status, variant, message.Values{
		"needed": megabytes(needed), "free": megabytes(account.Left()), "limit": megabytes(account.Limit),
		"rows": strconv.FormatInt(room*rows/needed, 10),
	})
	if ever {
		p = p.After(untilFree(account))
	}
	return p
}

// megabytes is a size as people read it, not less than it is.
func megabytes(size int64) string {
	return fmt.Sprintf("%.1f MB", math.Ceil(float64(size)/(1<<20)*10)/10) //nolint:mnd // tenths
}

// tooManyBytes refuses what needs more bytes than there is room for, and says when there will be more.
func tooManyBytes(account pace.Account, needed int64) error {
	if needed > account.Limit {
		return errTooLargeForKey
	}
	return errTooManyBytes.After(untilFree(account))
}

// untilFree returns when a caller should ask for room again.
func untilFree(account pace.Account) time.Duration {
	return max(request.WholeSeconds(time.Until(account.Free)), time.Minute)
}
