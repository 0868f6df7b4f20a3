package api

import (
	"net/http"

	"ushuru/api/problem"
	"ushuru/pkg/message"
)

// Every error that a client can see. Each is named by its code. Errors of a URL
// (urlProblem), of a field (fieldProblem) and of a failed job (jobProblem) have
// their own code and message.
var (
	errFieldInvalid   = problem.BadRequest("field_invalid.estimate")
	errPageEmpty      = problem.BadRequest("page_empty").Of("html")
	errYenRateMissing = problem.BadRequest("jpy_rate_missing.quote").Of("jpyPerUSD")
	errStateUnknown   = problem.BadRequest("state_unknown").Of("state")
	errSinceInvalid   = problem.BadRequest("since_invalid").Of("since")
	errFormatUnknown  = problem.BadRequest("format_unknown").Of("format")
	errSortUnknown    = problem.BadRequest("sort_unknown")
	errUnauthorized   = &problem.Problem{ // no code: the contract gives the whole body
		Status: http.StatusUnauthorized, Notice: message.Notice{Message: "Invalid or missing API key"},
	}
	errAmbiguousLength   = problem.BadRequest("length_ambiguous")
	errAttachmentNotKept = problem.Conflict("attachment_not_kept")
	errJobNotFailed      = problem.Conflict("job_not_failed")
	errJobStateUnknown   = problem.BadRequest("state_unknown.job").Of("state")
	errNotRequested      = problem.New(http.StatusForbidden, "not_asked.retry", nil)
	errBatchNotFound     = problem.NotFound("batch_not_found")
	errNotAsked          = problem.New(http.StatusForbidden, "not_asked", nil)
	errJobEnded          = problem.Conflict("job_ended")
	errJobWanted         = problem.Conflict("job_wanted")
	errNoneFailed        = problem.Conflict("none_failed")
	errSheetURLMissing   = problem.BadRequest("url_missing.sheet").Of("url")
	errPairURLMissing    = problem.BadRequest("url_missing.pair")
	errSameListing       = problem.BadRequest("same_listing").Of("url2")
	errFormInvalid       = problem.BadRequest("form_invalid").Of("file")
	errFileEmpty         = problem.BadRequest("file_empty").Of("file")
	errFileTooLarge      = problem.New(http.StatusRequestEntityTooLarge, "sheet_too_large", nil).Of("file")
	errReportNotFound    = problem.NotFound("report_not_found")
	errPageTooLarge      = problem.New(http.StatusRequestEntityTooLarge, "page_too_large", nil).Of("html")
)
