package api

import (
	"fmt"
	"net/http"
	"time"

	"ushuru/pkg/sheet/scan"
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
	errInvalidJSON = &problem{
		status: http.StatusBadRequest, code: "invalid_json",
		message: `The request body must be exactly one JSON value in UTF-8, for example {"url": "https://…"}.`,
	}
	errURLMissing = &problem{
		status: http.StatusBadRequest, code: "url_missing",
		message: `"url" is required, for example {"url": "https://…"}.`,
	}
	errFieldInvalid = &problem{
		status: http.StatusBadRequest, code: "field_invalid",
		message: `"html" and "modelBody" (at most 200 bytes) must be strings,` +
			` and "explain" and "priceCandidates" must be true or false.`,
	}
	errQuoteInvalid = &problem{
		status: http.StatusBadRequest, code: "field_invalid",
		message: `The body must be a JSON object that describes the car, for example ` +
			`{"make": "TOYOTA", "modelCode": "NKE165", "year": 2016}.`,
	}
	errPageEmpty = &problem{
		status: http.StatusBadRequest, code: "page_empty",
		message: `"html" is empty. Send the whole page, or omit "html".`,
	}
	errBodyUnreadable = &problem{
		status: http.StatusBadRequest, code: "body_unreadable",
		message: "The request body ended early or could not be read. Send it again.",
	}
	errInvalidBatch = &problem{
		status: http.StatusBadRequest, code: "invalid_batch",
		message: `The body must be {"urls": […]}, {"items": [{"reference": "…", "url": "…"}]} or a table sent as text/csv.`,
	}
	errOptionInvalid = &problem{
		status: http.StatusBadRequest, code: "option_invalid",
		message: fmt.Sprintf(`"onInvalid" must be "reject" or "skip", and "rate" the number of Tanzanian shillings for one `+
			`US dollar, from %d to %d.`, minRate, maxRate),
	}
	errCSVHeaderMissing = &problem{
		status: http.StatusBadRequest, code: "csv_header_missing",
		message: `The first line must name the columns: "url" is required, "reference" and "modelBody" are optional.`,
	}
	errRowsMissing = &problem{
		status: http.StatusBadRequest, code: "rows_missing",
		message: "The batch contains no listings.",
	}
	errTooManyRows = &problem{
		status: http.StatusBadRequest, code: "too_many_rows",
		message: "A batch can contain at most 10,000 listings. Split it into several batches.",
	}
	errRowsInvalid = &problem{
		status: http.StatusBadRequest, code: "rows_invalid",
		message: `%d of %d rows are invalid. Correct them, or set "onInvalid" to "skip" to process only the valid rows.`,
	}
	errRowInvalid = &problem{
		status: http.StatusBadRequest, code: "row_invalid",
		message: "The row could not be parsed.",
	}
	errRowNotKept = &problem{
		status: http.StatusBadRequest, code: "row_invalid",
		message: fmt.Sprintf("The row is invalid. Only the first %d invalid rows of a batch are kept in full.", maxRejectedKept),
	}
	errRowURLMissing = &problem{
		status: http.StatusBadRequest, code: "url_missing",
		message: "The row has no URL.",
	}
	errRateInvalid = &problem{
		status: http.StatusBadRequest, code: "rate_invalid",
		message: fmt.Sprintf(`"rate" must be a number of Tanzanian shillings for one US dollar, from %d to %d.`,
			minRate, maxRate),
	}
	errReferenceInvalid = &problem{
		status: http.StatusBadRequest, code: "reference_invalid",
		message: "A reference can have at most 200 bytes and no control characters.",
	}
	errRowLabelInvalid = &problem{
		status: http.StatusBadRequest, code: "field_invalid",
		message: `"modelBody" can have at most 200 bytes.`,
	}
	errPageInvalid = &problem{
		status: http.StatusBadRequest, code: "page_invalid",
		message: `"limit" must be a number from 1 to 1000, and "cursor" the value of "next" from the previous page.`,
	}
	errStateUnknown = &problem{
		status: http.StatusBadRequest, code: "state_unknown",
		message: `"state" must be waiting, running, succeeded, failed, cancelled or rejected.`,
	}
	errFormatUnknown = &problem{
		status: http.StatusBadRequest, code: "format_unknown",
		message: `"format" must be json, ndjson, csv or xlsx.`,
	}
	errUnauthorized = &problem{ // no code: the contract gives the whole body
		status: http.StatusUnauthorized, message: "Invalid or missing API key",
	}
	errLoginRequired = &problem{
		status: http.StatusUnauthorized, code: "login_required",
		message: "Log in as an operator.",
	}
	errCrossOrigin = &problem{
		status: http.StatusForbidden, code: "cross_origin",
		message: "The request came from another website and was refused.",
	}
	errNotFound = &problem{
		status: http.StatusNotFound, code: "not_found",
		message: "No such endpoint. GET /openapi.yaml lists all endpoints.",
	}
	errJobNotFound = &problem{
		status: http.StatusNotFound, code: "job_not_found",
		message: "No such job, or it ended more than 24 hours ago.",
	}
	errBatchNotFound = &problem{
		status: http.StatusNotFound, code: "batch_not_found",
		message: "No such batch, or it ended more than 7 days ago.",
	}
	errWebhookNotFound = &problem{
		status: http.StatusNotFound, code: "webhook_not_found",
		message: "Your API key has no webhook or delivery with this id.",
	}
	errWebhookURLMissing = &problem{
		status: http.StatusBadRequest, code: "url_missing",
		message: `"url" is required: it receives the events.`,
	}
	errEventsInvalid = &problem{
		status: http.StatusBadRequest, code: "events_invalid",
		message: `"events" must contain "job.completed", "batch.completed" or both.`,
	}
	errURLInsecure = &problem{
		status: http.StatusBadRequest, code: "url_insecure",
		message: "A webhook URL must begin with https://.",
	}
	errTooManyWebhooks = &problem{
		status: http.StatusConflict, code: "too_many_webhooks",
		message: fmt.Sprintf("An API key can have at most %d webhooks. Delete one first.", webhook.MaxEndpoints),
	}
	errTooManyStreams = &problem{
		status: http.StatusTooManyRequests, code: "too_many_streams", retryAfter: 30 * time.Second,
		message: fmt.Sprintf("An API key can have at most %d open event streams. Close one first.", maxStreams),
	}
	errIdempotencyKeyInvalid = &problem{
		status: http.StatusBadRequest, code: "idempotency_key_invalid",
		message: "Send exactly one Idempotency-Key header of 1 to 255 printable ASCII characters." +
			" Double quotes around it are optional.",
	}
	errIdempotencyKeyReused = &problem{
		status: http.StatusUnprocessableEntity, code: "idempotency_key_reused",
		message: "This Idempotency-Key was already used for a different request. Use a new key for each request.",
	}
	errNotAsked = &problem{
		status: http.StatusForbidden, code: "not_asked",
		message: "Only the API key that requested a job can cancel it." +
			" Your key did not request this job, or has already cancelled it.",
	}
	errJobEnded = &problem{
		status: http.StatusConflict, code: "job_ended",
		message: "The job has already ended and can no longer be cancelled.",
	}
	errJobWanted = &problem{
		status: http.StatusConflict, code: "job_wanted",
		message: "Other requests wait for this job, so it continues. Your own request was cancelled and gets no webhook event.",
	}
	errMethodNotAllowed = &problem{
		status: http.StatusMethodNotAllowed, code: "method_not_allowed",
		message: "This endpoint does not support that method; see Allow.",
	}
	errNoneFailed = &problem{
		status: http.StatusConflict, code: "none_failed",
		message: "No listing of the batch has failed; there is nothing to retry.",
	}
	errSheetURLMissing = &problem{
		status: http.StatusBadRequest, code: "url_missing",
		message: `"url" or a form with "file" is required.`,
	}
	errPairURLMissing = &problem{
		status: http.StatusBadRequest, code: "url_missing",
		message: `"url1" and "url2" are required.`,
	}
	errSameListing = &problem{
		status: http.StatusBadRequest, code: "same_listing",
		message: `"url1" and "url2" must be different listings.`,
	}
	errLangInvalid = &problem{
		status: http.StatusBadRequest, code: "lang_invalid",
		message: `"lang" must be "en" (English) or "sw" (Kiswahili).`,
	}
	errFormInvalid = &problem{
		status: http.StatusBadRequest, code: "form_invalid",
		message: `Send multipart/form-data with one sheet as "file" and optionally "lang".`,
	}
	errFileEmpty = &problem{
		status: http.StatusBadRequest, code: "file_empty",
		message: `"file" is empty. Send JPEG, PNG, WebP, GIF or PDF.`,
	}
	errFileTooLarge = &problem{
		status: http.StatusRequestEntityTooLarge, code: scan.TooLarge,
		message: "The file is larger than 12 MB. Send a smaller image.",
	}
	errReportNotFound = &problem{
		status: http.StatusNotFound, code: "report_not_found",
		message: "No sheet with this id was read in the last 30 days. Use POST /v1/condition-report to read it.",
	}
	errPageTooLarge = &problem{
		status: http.StatusRequestEntityTooLarge, code: "page_too_large",
		message: `"html" is larger than 4 MB.`,
	}
	errUnsupportedMediaType = &problem{
		status: http.StatusUnsupportedMediaType, code: "unsupported_media_type",
		message: "Send uncompressed JSON in UTF-8 with Content-Type: application/json.",
	}
	errBatchUnsupportedMediaType = &problem{
		status: http.StatusUnsupportedMediaType, code: "unsupported_media_type",
		message: "Send uncompressed UTF-8: JSON with Content-Type: application/json, or a table with Content-Type: text/csv.",
	}
	errRateLimited = &problem{
		status: http.StatusTooManyRequests, code: "rate_limited",
		message: "Your API key has exceeded its requests per minute. Wait as long as Retry-After says," +
			" or ask the operator for a higher limit.",
	}
	errTooManyBytes = &problem{
		status: http.StatusTooManyRequests, code: "too_many_bytes",
		message: "What is kept for your API key has reached its limit; see Key-Bytes. It is freed when results expire:" +
			" wait as long as Retry-After says, or ask the operator for a higher limit.",
	}
	errTooLargeForKey = &problem{
		status: http.StatusRequestEntityTooLarge, code: "too_many_bytes",
		message: "This needs more bytes than may be kept for your API key; see Key-Bytes." +
			" Send less at once, or ask the operator for a higher limit.",
	}
	errTooManyUploads = &problem{
		status: http.StatusTooManyRequests, code: "too_many_uploads", retryAfter: pollAfter,
		message: "Too many large requests are being received. Wait as long as Retry-After says, and send fewer at once.",
	}
	errTooManyExports = &problem{
		status: http.StatusTooManyRequests, code: "too_many_exports", retryAfter: pollAfter,
		message: "Too many results are being sent. Wait as long as Retry-After says, and request fewer at once.",
	}
	errBodyTooSlow = &problem{
		status: http.StatusRequestTimeout, code: "body_too_slow",
		message: "The body arrived too slowly. Send it again over a faster line, or send less.",
	}
	errTooManyJobs = &problem{
		status: http.StatusTooManyRequests, code: "too_many_jobs", retryAfter: pollAfter,
		message: "Your API key has reached its limit of running jobs. Wait until one ends, or send a batch.",
	}
	errTooManyBatchItems = &problem{
		status: http.StatusTooManyRequests, code: "too_many_batch_items", retryAfter: time.Minute,
		message: "With this batch your API key would exceed its limit of listings in running batches. Wait, or send fewer.",
	}
	errBatchTooLarge = &problem{
		status: http.StatusRequestEntityTooLarge, code: "batch_too_large",
		message: "The batch exceeds your API key's limit. Send fewer listings, or ask the operator for a higher limit.",
	}
	errClientClosedRequest = &problem{
		status: statusClientClosedRequest, code: "client_closed_request",
		message: "The client disconnected.",
	}
	errInternal = &problem{
		status: http.StatusInternalServerError, code: "internal",
		message: "Something went wrong on our side. Please try again later.",
	}
	errCancelled = &problem{
		status: http.StatusInternalServerError, code: "cancelled",
		message: "The job was cancelled before it finished. Send the request again to start a new one.",
	}
	errUnavailable = &problem{
		status: http.StatusServiceUnavailable, code: "unavailable", retryAfter: 5 * time.Second,
		message: "The service is temporarily unavailable. Please try again soon.",
	}
	errCatalogueMissing = &problem{
		status: http.StatusServiceUnavailable, code: "catalogue_missing", retryAfter: 5 * time.Second,
		message: "The list of vehicles has not been loaded from TRA yet. Loading has started; please try again in a few seconds.",
	}
	errMakeNotFound = &problem{
		status: http.StatusNotFound, code: "make_not_found",
		message: "TRA lists no such make. GET /v1/vehicles lists all makes.",
	}
	errNotFinished = &problem{
		status: http.StatusGatewayTimeout, code: "not_finished", retryAfter: pollAfter,
		message: "The result is not ready yet and the work continues." +
			" Send the request again, or read the job at the URL in Location.",
	}
)
