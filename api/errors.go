package api

import (
	"net/http"
	"time"

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
	errInvalidJSON            = refuse(http.StatusBadRequest, "invalid_json", nil)
	errURLMissing             = refuse(http.StatusBadRequest, "url_missing", nil)
	errFieldInvalid           = refuse(http.StatusBadRequest, "field_invalid.estimate", nil)
	errQuoteInvalid           = refuse(http.StatusBadRequest, "field_invalid.quote", nil)
	errPageEmpty              = refuse(http.StatusBadRequest, "page_empty", nil)
	errBodyUnreadable         = refuse(http.StatusBadRequest, "body_unreadable", nil)
	errInvalidBatch           = refuse(http.StatusBadRequest, "invalid_batch", nil)
	errOptionInvalid          = refuse(http.StatusBadRequest, "option_invalid", nil)
	errCSVHeaderMissing       = refuse(http.StatusBadRequest, "csv_header_missing", nil)
	errRowsMissing            = refuse(http.StatusBadRequest, "rows_missing", nil)
	errTooManyRows            = refuse(http.StatusBadRequest, "too_many_rows", nil)
	errRowsInvalid            = refuse(http.StatusBadRequest, "rows_invalid", nil)
	errRowInvalid             = refuse(http.StatusBadRequest, "row_invalid", nil)
	errRowURLMissing          = refuse(http.StatusBadRequest, "url_missing.row", nil)
	errRateInvalid            = refuse(http.StatusBadRequest, "rate_invalid", nil)
	errDestinationUnsupported = refuse(http.StatusBadRequest, "destination_unsupported", nil)
	errReferenceInvalid       = refuse(http.StatusBadRequest, "reference_invalid", nil)
	errRowLabelInvalid        = refuse(http.StatusBadRequest, "field_invalid.row_label", nil)
	errPageInvalid            = refuse(http.StatusBadRequest, "page_invalid", nil)
	errStateUnknown           = refuse(http.StatusBadRequest, "state_unknown", nil)
	errFormatUnknown          = refuse(http.StatusBadRequest, "format_unknown", nil)
	errUnauthorized           = &problem{ // no code: the contract gives the whole body
		status: http.StatusUnauthorized, Notice: message.Notice{Message: "Invalid or missing API key"},
	}
	errLoginRequired     = refuse(http.StatusUnauthorized, "login_required", nil)
	errLoginSlowed       = refuse(http.StatusTooManyRequests, "login_slowed", nil)
	errAmbiguousLength   = refuse(http.StatusBadRequest, "length_ambiguous", nil)
	errCrossOrigin       = refuse(http.StatusForbidden, "cross_origin", nil)
	errNotFound          = refuse(http.StatusNotFound, "not_found", nil)
	errJobNotFound       = refuse(http.StatusNotFound, "job_not_found", nil)
	errBatchNotFound     = refuse(http.StatusNotFound, "batch_not_found", nil)
	errWebhookNotFound   = refuse(http.StatusNotFound, "webhook_not_found", nil)
	errWebhookURLMissing = refuse(http.StatusBadRequest, "url_missing.webhook", nil)
	errEventsInvalid     = refuse(http.StatusBadRequest, "events_invalid", nil)
	errURLInsecure       = refuse(http.StatusBadRequest, "url_insecure", nil)
	errTooManyWebhooks   = refuse(http.StatusConflict, "too_many_webhooks", atMost(webhook.MaxEndpoints))
	errTooManyStreams    = refuse(http.StatusTooManyRequests, "too_many_streams", atMost(maxStreams)).
				after(30 * time.Second)
	errIdempotencyKeyInvalid     = refuse(http.StatusBadRequest, "idempotency_key_invalid", nil)
	errIdempotencyKeyReused      = refuse(http.StatusUnprocessableEntity, "idempotency_key_reused", nil)
	errNotAsked                  = refuse(http.StatusForbidden, "not_asked", nil)
	errJobEnded                  = refuse(http.StatusConflict, "job_ended", nil)
	errJobWanted                 = refuse(http.StatusConflict, "job_wanted", nil)
	errMethodNotAllowed          = refuse(http.StatusMethodNotAllowed, "method_not_allowed", nil)
	errNoneFailed                = refuse(http.StatusConflict, "none_failed", nil)
	errSheetURLMissing           = refuse(http.StatusBadRequest, "url_missing.sheet", nil)
	errPairURLMissing            = refuse(http.StatusBadRequest, "url_missing.pair", nil)
	errSameListing               = refuse(http.StatusBadRequest, "same_listing", nil)
	errLangInvalid               = refuse(http.StatusBadRequest, "lang_invalid", nil)
	errFormInvalid               = refuse(http.StatusBadRequest, "form_invalid", nil)
	errFileEmpty                 = refuse(http.StatusBadRequest, "file_empty", nil)
	errFileTooLarge              = refuse(http.StatusRequestEntityTooLarge, "sheet_too_large", nil)
	errReportNotFound            = refuse(http.StatusNotFound, "report_not_found", nil)
	errPageTooLarge              = refuse(http.StatusRequestEntityTooLarge, "page_too_large", nil)
	errUnsupportedMediaType      = refuse(http.StatusUnsupportedMediaType, "unsupported_media_type", nil)
	errBatchUnsupportedMediaType = refuse(http.StatusUnsupportedMediaType, "unsupported_media_type.batch", nil)
	errRateLimited               = refuse(http.StatusTooManyRequests, "rate_limited", nil)
	errRowNotKept                = refuse(http.StatusBadRequest, "row_invalid.not_kept", atMost(maxRejectedKept))
	errTooManyUploads            = refuse(http.StatusTooManyRequests, "too_many_uploads", nil).after(pollAfter)
	errTooManyExports            = refuse(http.StatusTooManyRequests, "too_many_exports", nil).after(pollAfter)
	errBodyTooSlow               = refuse(http.StatusRequestTimeout, "body_too_slow", nil)
	errTooManyBytes              = refuse(http.StatusTooManyRequests, "too_many_bytes", nil)
	errTooLargeForKey            = refuse(http.StatusRequestEntityTooLarge, "too_many_bytes.once", nil)
	errTooManyJobs               = refuse(http.StatusTooManyRequests, "too_many_jobs", nil).after(pollAfter)
	errTooManyBatchItems         = refuse(http.StatusTooManyRequests, "too_many_batch_items", nil).after(time.Minute)
	errBatchTooLarge             = refuse(http.StatusRequestEntityTooLarge, "batch_too_large", nil)
	errClientClosedRequest       = refuse(statusClientClosedRequest, "client_closed_request", nil)
	errInternal                  = refuse(http.StatusInternalServerError, "internal", nil)
	errCancelled                 = refuse(http.StatusInternalServerError, "cancelled", nil)
	errUnavailable               = refuse(http.StatusServiceUnavailable, "unavailable", nil).after(5 * time.Second)
	errCatalogueMissing          = refuse(http.StatusServiceUnavailable, "catalogue_missing", nil).after(5 * time.Second)
	errMakeNotFound              = refuse(http.StatusNotFound, "make_not_found", nil)
	errLabelNotFound             = refuse(http.StatusNotFound, "label_not_found", nil)
	errNotFinished               = refuse(http.StatusGatewayTimeout, "not_finished", nil).after(pollAfter)
)
