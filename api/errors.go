package api

import (
	"net/http"
	"time"

	"ushuru/api/problem"
	"ushuru/pkg/message"
	"ushuru/pkg/webhook"
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
	errLoginRequired     = problem.New(http.StatusUnauthorized, "login_required", nil)
	errLoginSlowed       = problem.New(http.StatusTooManyRequests, "login_slowed", nil)
	errAmbiguousLength   = problem.BadRequest("length_ambiguous")
	errCrossOrigin       = problem.New(http.StatusForbidden, "cross_origin", nil)
	errAttachmentNotKept = problem.Conflict("attachment_not_kept")
	errJobNotFailed      = problem.Conflict("job_not_failed")
	errJobStateUnknown   = problem.BadRequest("state_unknown.job").Of("state")
	errNotRequested      = problem.New(http.StatusForbidden, "not_asked.retry", nil)
	errBatchNotFound     = problem.NotFound("batch_not_found")
	errWebhookNotFound   = problem.NotFound("webhook_not_found")
	errWebhookURLMissing = problem.BadRequest("url_missing.webhook").Of("url")
	errEventsInvalid     = problem.BadRequest("events_invalid").Of("events")
	errURLInsecure       = problem.BadRequest("url_insecure").Of("url")
	errTooManyWebhooks   = problem.New(http.StatusConflict, "too_many_webhooks", problem.AtMost(webhook.MaxEndpoints))
	errTooManyStreams    = problem.New(http.StatusTooManyRequests, "too_many_streams", problem.AtMost(maxStreams)).
				After(30 * time.Second)
	errNotAsked         = problem.New(http.StatusForbidden, "not_asked", nil)
	errJobEnded         = problem.Conflict("job_ended")
	errJobWanted        = problem.Conflict("job_wanted")
	errNoneFailed       = problem.Conflict("none_failed")
	errSheetURLMissing  = problem.BadRequest("url_missing.sheet").Of("url")
	errPairURLMissing   = problem.BadRequest("url_missing.pair")
	errSameListing      = problem.BadRequest("same_listing").Of("url2")
	errFormInvalid      = problem.BadRequest("form_invalid").Of("file")
	errFileEmpty        = problem.BadRequest("file_empty").Of("file")
	errFileTooLarge     = problem.New(http.StatusRequestEntityTooLarge, "sheet_too_large", nil).Of("file")
	errReportNotFound   = problem.NotFound("report_not_found")
	errPageTooLarge     = problem.New(http.StatusRequestEntityTooLarge, "page_too_large", nil).Of("html")
	errCatalogueMissing = problem.New(http.StatusServiceUnavailable, "catalogue_missing", nil).After(5 * time.Second)
	errMakeNotFound     = problem.NotFound("make_not_found").Of("make")
	errLabelNotFound    = problem.NotFound("label_not_found").Of("modelBody")
)
