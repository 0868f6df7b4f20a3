package api

import (
	"net/http"
	"time"

	"ushuru/api/problem"
	"ushuru/pkg/message"
	"ushuru/pkg/webhook"
)

// statusClientClosedRequest is logged for a client that disconnected before
// the response. nginx logs the same number; no RFC defines it.
const statusClientClosedRequest = 499

// pollAfter is the Retry-After of a job that has not ended.
const pollAfter = 2 * time.Second

// Every error that a client can see. Each is named by its code. Errors of a URL
// (urlProblem), of a field (fieldProblem) and of a failed job (jobProblem) have
// their own code and message.
var (
	errInvalidJSON    = problem.New(http.StatusBadRequest, "invalid_json", nil)
	errURLMissing     = problem.New(http.StatusBadRequest, "url_missing", nil).Of("url")
	errFieldInvalid   = problem.New(http.StatusBadRequest, "field_invalid.estimate", nil)
	errPageEmpty      = problem.New(http.StatusBadRequest, "page_empty", nil).Of("html")
	errYenRateMissing = problem.New(http.StatusBadRequest, "jpy_rate_missing.quote", nil).Of("jpyPerUSD")
	errPageInvalid    = problem.New(http.StatusBadRequest, "page_invalid", nil)
	errStateUnknown   = problem.New(http.StatusBadRequest, "state_unknown", nil).Of("state")
	errSinceInvalid   = problem.New(http.StatusBadRequest, "since_invalid", nil).Of("since")
	errFormatUnknown  = problem.New(http.StatusBadRequest, "format_unknown", nil).Of("format")
	errSortUnknown    = problem.New(http.StatusBadRequest, "sort_unknown", nil)
	errUnauthorized   = &problem.Problem{ // no code: the contract gives the whole body
		Status: http.StatusUnauthorized, Notice: message.Notice{Message: "Invalid or missing API key"},
	}
	errLoginRequired     = problem.New(http.StatusUnauthorized, "login_required", nil)
	errLoginSlowed       = problem.New(http.StatusTooManyRequests, "login_slowed", nil)
	errAmbiguousLength   = problem.New(http.StatusBadRequest, "length_ambiguous", nil)
	errCrossOrigin       = problem.New(http.StatusForbidden, "cross_origin", nil)
	errNotFound          = problem.New(http.StatusNotFound, "not_found", nil)
	errAttachmentNotKept = problem.New(http.StatusConflict, "attachment_not_kept", nil)
	errJobNotFailed      = problem.New(http.StatusConflict, "job_not_failed", nil)
	errJobStateUnknown   = problem.New(http.StatusBadRequest, "state_unknown.job", nil).Of("state")
	errNotRequested      = problem.New(http.StatusForbidden, "not_asked.retry", nil)
	errJobNotFound       = problem.New(http.StatusNotFound, "job_not_found", nil)
	errBatchNotFound     = problem.New(http.StatusNotFound, "batch_not_found", nil)
	errWebhookNotFound   = problem.New(http.StatusNotFound, "webhook_not_found", nil)
	errWebhookURLMissing = problem.New(http.StatusBadRequest, "url_missing.webhook", nil).Of("url")
	errEventsInvalid     = problem.New(http.StatusBadRequest, "events_invalid", nil).Of("events")
	errURLInsecure       = problem.New(http.StatusBadRequest, "url_insecure", nil).Of("url")
	errTooManyWebhooks   = problem.New(http.StatusConflict, "too_many_webhooks", problem.AtMost(webhook.MaxEndpoints))
	errTooManyStreams    = problem.New(http.StatusTooManyRequests, "too_many_streams", problem.AtMost(maxStreams)).
				After(30 * time.Second)
	errIdempotencyKeyInvalid = problem.New(http.StatusBadRequest, "idempotency_key_invalid", nil).Of("Idempotency-Key")
	errIdempotencyKeyReused  = problem.New(http.StatusUnprocessableEntity, "idempotency_key_reused", nil)
	errNotAsked              = problem.New(http.StatusForbidden, "not_asked", nil)
	errJobEnded              = problem.New(http.StatusConflict, "job_ended", nil)
	errJobWanted             = problem.New(http.StatusConflict, "job_wanted", nil)
	errMethodNotAllowed      = problem.New(http.StatusMethodNotAllowed, "method_not_allowed", nil)
	errNoneFailed            = problem.New(http.StatusConflict, "none_failed", nil)
	errSheetURLMissing       = problem.New(http.StatusBadRequest, "url_missing.sheet", nil).Of("url")
	errPairURLMissing        = problem.New(http.StatusBadRequest, "url_missing.pair", nil)
	errSameListing           = problem.New(http.StatusBadRequest, "same_listing", nil).Of("url2")
	errLangInvalid           = problem.New(http.StatusBadRequest, "lang_invalid", nil).Of("lang")
	errFormInvalid           = problem.New(http.StatusBadRequest, "form_invalid", nil).Of("file")
	errFileEmpty             = problem.New(http.StatusBadRequest, "file_empty", nil).Of("file")
	errFileTooLarge          = problem.New(http.StatusRequestEntityTooLarge, "sheet_too_large", nil).Of("file")
	errReportNotFound        = problem.New(http.StatusNotFound, "report_not_found", nil)
	errPageTooLarge          = problem.New(http.StatusRequestEntityTooLarge, "page_too_large", nil).Of("html")
	errUnsupportedMediaType  = problem.New(http.StatusUnsupportedMediaType, "unsupported_media_type", nil)
	errRateLimited           = problem.New(http.StatusTooManyRequests, "rate_limited", nil)
	errTooManyUploads        = problem.New(http.StatusTooManyRequests, "too_many_uploads", nil).After(pollAfter)
	errTooManyExports        = problem.New(http.StatusTooManyRequests, "too_many_exports", nil).After(pollAfter)
	errTooManyBytes          = problem.New(http.StatusTooManyRequests, "too_many_bytes", nil)
	errTooLargeForKey        = problem.New(http.StatusRequestEntityTooLarge, "too_many_bytes.once", nil)
	errTooManyJobs           = problem.New(http.StatusTooManyRequests, "too_many_jobs", nil).After(pollAfter)
	errTooManyBatchItems     = problem.New(http.StatusTooManyRequests, "too_many_batch_items", nil).After(time.Minute)
	errBatchTooLarge         = problem.New(http.StatusRequestEntityTooLarge, "batch_too_large", nil)
	errClientClosedRequest   = problem.New(statusClientClosedRequest, "client_closed_request", nil)
	errInternal              = problem.New(http.StatusInternalServerError, "internal", nil)
	errCancelled             = problem.New(http.StatusConflict, "cancelled", nil)
	errUnavailable           = problem.New(http.StatusServiceUnavailable, "unavailable", nil).After(5 * time.Second)
	errCatalogueMissing      = problem.New(http.StatusServiceUnavailable, "catalogue_missing", nil).After(5 * time.Second)
	errMakeNotFound          = problem.New(http.StatusNotFound, "make_not_found", nil).Of("make")
	errLabelNotFound         = problem.New(http.StatusNotFound, "label_not_found", nil).Of("modelBody")
	errNotFinished           = problem.New(http.StatusGatewayTimeout, "not_finished", nil).After(pollAfter)
)
