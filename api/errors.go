package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"ushuru/pkg/jobs"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/sheet"

	"ushuru/pkg/vehicle"
	"ushuru/pkg/webhook"
	"ushuru/tasks"

	"ushuru/pkg/sheet/scan"
)

// problem is an error that a client can see. The cause is for the log alone.
type problem struct {
	status     int
	code       string
	message    string // a sentence that tells a person what to do
	retryAfter time.Duration
	location   string
	candidates []vehicle.Candidate
	cause      error

	invalid      []invalidRow // of a batch, the first of them
	invalidCount int
}

// statusClientGone is what the log says of a caller who left before the
// answer; nginx's number, known to no RFC.
const statusClientGone = 499

// Every error a client can see, except those of a URL (listing.Canonical) and
// of a failed job, which bring their own code and message.
var (
	errInvalidJSON = &problem{
		status: http.StatusBadRequest, code: "invalid_json",
		message: `The body is not one JSON value in UTF-8. Send {"url": "https://…"} and nothing after it.`,
	}
	errURLMissing = &problem{
		status: http.StatusBadRequest, code: "url_missing",
		message: `Send a JSON object whose "url" is the address of a listing: {"url": "https://…"}.`,
	}
	errFieldInvalid = &problem{
		status: http.StatusBadRequest, code: "field_invalid",
		message: `Send "html" and "modelBody" (at most 200 bytes) as text and "explain" as true or false, or leave them out.`,
	}
	errQuoteInvalid = &problem{
		status: http.StatusBadRequest, code: "field_invalid",
		message: `Send a JSON object that describes the car: {"make": "TOYOTA", "modelCode": "NKE165", "year": 2016, …}.`,
	}
	errPageEmpty = &problem{
		status: http.StatusBadRequest, code: "page_empty",
		message: `There is nothing in "html". Send the whole page, or leave it out to have it fetched.`,
	}
	errBodyUnreadable = &problem{
		status: http.StatusBadRequest, code: "body_unreadable",
		message: "The body ended early or could not be read. Send it again.",
	}
	errInvalidBatch = &problem{
		status: http.StatusBadRequest, code: "invalid_batch",
		message: `Send {"urls": ["https://…"]} or {"items": [{"reference": "…", "url": "https://…"}]}, or a table as text/csv.`,
	}
	errOptionInvalid = &problem{
		status: http.StatusBadRequest, code: "option_invalid",
		message: fmt.Sprintf(`The option "onInvalid" is "reject" or "skip", and "rate" a number of Tanzanian shillings for one `+
			`US dollar, from %d to %d.`, minRate, maxRate),
	}
	errCSVHeaderMissing = &problem{
		status: http.StatusBadRequest, code: "csv_header_missing",
		message: `The first line of the table must name its columns: "url", and perhaps "reference" and "modelBody".`,
	}
	errRowsMissing = &problem{
		status: http.StatusBadRequest, code: "rows_missing",
		message: "There is no listing in the batch.",
	}
	errTooManyRows = &problem{
		status: http.StatusBadRequest, code: "too_many_rows",
		message: "A batch holds at most 10,000 listings. Send several.",
	}
	errRowsInvalid = &problem{
		status: http.StatusBadRequest, code: "rows_invalid",
		message: `%d of %d rows cannot be taken. Mend them, or send the option "onInvalid" as "skip" to have the others taken.`,
	}
	errRowInvalid = &problem{
		status: http.StatusBadRequest, code: "row_invalid",
		message: "The row cannot be read.",
	}
	errRowURLMissing = &problem{
		status: http.StatusBadRequest, code: "url_missing",
		message: "The row has no address of a listing.",
	}
	errRateInvalid = &problem{
		status: http.StatusBadRequest, code: "rate_invalid",
		message: fmt.Sprintf(`"rate" must be a number of Tanzanian shillings for one US dollar, from %d to %d.`, minRate, maxRate),
	}
	errReferenceInvalid = &problem{
		status: http.StatusBadRequest, code: "reference_invalid",
		message: "A reference has at most 200 bytes and no control characters.",
	}
	errRowLabelInvalid = &problem{
		status: http.StatusBadRequest, code: "field_invalid",
		message: "A modelBody has at most 200 bytes.",
	}
	errPageInvalid = &problem{
		status: http.StatusBadRequest, code: "page_invalid",
		message: `"limit" is a number from 1 to 1000, and "cursor" what "next" said on the page before.`,
	}
	errStateUnknown = &problem{
		status: http.StatusBadRequest, code: "state_unknown",
		message: `"state" is waiting, running, succeeded, failed, cancelled or rejected.`,
	}
	errFormatUnknown = &problem{
		status: http.StatusBadRequest, code: "format_unknown",
		message: `"format" is json, ndjson, csv or xlsx.`,
	}
	errUnauthorized = &problem{ // no code: the specification gives the whole body
		status: http.StatusUnauthorized, message: "Invalid or missing API key",
	}
	errLoginRequired = &problem{
		status: http.StatusUnauthorized, code: "login_required",
		message: "Log in as an operator.",
	}
	errCrossOrigin = &problem{
		status: http.StatusForbidden, code: "cross_origin",
		message: "Another site may not do this in your name.",
	}
	errNotFound = &problem{
		status: http.StatusNotFound, code: "not_found",
		message: "There is nothing at this address. GET /openapi.yaml lists what there is.",
	}
	errJobNotFound = &problem{
		status: http.StatusNotFound, code: "job_not_found",
		message: "There is no such job, or it ended more than a day ago.",
	}
	errBatchNotFound = &problem{
		status: http.StatusNotFound, code: "batch_not_found",
		message: "There is no such batch, or it ended more than a week ago.",
	}
	errWebhookNotFound = &problem{
		status: http.StatusNotFound, code: "webhook_not_found",
		message: "Your key has no such webhook or delivery.",
	}
	errWebhookURLMissing = &problem{
		status: http.StatusBadRequest, code: "url_missing",
		message: `Send a JSON object with the address that is to be told: {"url": "https://…", "events": ["job.completed"]}.`,
	}
	errEventsInvalid = &problem{
		status: http.StatusBadRequest, code: "events_invalid",
		message: `"events" must list one or both of "job.completed" and "batch.completed".`,
	}
	errURLInsecure = &problem{
		status: http.StatusBadRequest, code: "url_insecure",
		message: "The address of a webhook must begin with https://.",
	}
	errTooManyWebhooks = &problem{
		status: http.StatusConflict, code: "too_many_webhooks",
		message: fmt.Sprintf("A key may have %d webhooks. Delete one first.", webhook.MaxEndpoints),
	}
	errTooManyStreams = &problem{
		status: http.StatusTooManyRequests, code: "too_many_streams", retryAfter: 30 * time.Second,
		message: fmt.Sprintf("Your key has %d event streams open. Close one first.", maxStreams),
	}
	errIdempotencyKeyInvalid = &problem{
		status: http.StatusBadRequest, code: "idempotency_key_invalid",
		message: "Send one Idempotency-Key of 1 to 255 printable ASCII characters, in double quotes or without.",
	}
	errIdempotencyKeyReused = &problem{
		status: http.StatusUnprocessableEntity, code: "idempotency_key_reused",
		message: "This Idempotency-Key was used for another request. Use a new key for each request.",
	}
	errNotAsked = &problem{
		status: http.StatusForbidden, code: "not_asked",
		message: "Only who asked for a job may cancel it, and your key did not, or has taken that back.",
	}
	errJobEnded = &problem{
		status: http.StatusConflict, code: "job_ended",
		message: "The job has ended and cannot be cancelled any more.",
	}
	errJobWanted = &problem{
		status: http.StatusConflict, code: "job_wanted",
		message: "Others wait for this job too, so it goes on. You will not be told of its end.",
	}
	errMethodNotAllowed = &problem{
		status: http.StatusMethodNotAllowed, code: "method_not_allowed",
		message: "This address does not take that method. The Allow header lists those it takes.",
	}
	errNoneFailed = &problem{
		status: http.StatusConflict, code: "none_failed",
		message: "No listing of the batch has failed, so there is nothing to try again.",
	}
	errSheetURLMissing = &problem{
		status: http.StatusBadRequest, code: "url_missing",
		message: `Send a JSON object whose "url" is the address of an inspection sheet, or a form with the sheet as "file".`,
	}
	errPairURLMissing = &problem{
		status: http.StatusBadRequest, code: "url_missing",
		message: `Send the addresses of two listings: {"url1": "https://…", "url2": "https://…"}.`,
	}
	errSameListing = &problem{
		status: http.StatusBadRequest, code: "same_listing",
		message: `"url1" and "url2" are the same listing. Send two different ones.`,
	}
	errLangInvalid = &problem{
		status: http.StatusBadRequest, code: "lang_invalid",
		message: `"lang" is "en" for English or "sw" for Kiswahili.`,
	}
	errFormInvalid = &problem{
		status: http.StatusBadRequest, code: "form_invalid",
		message: `Send a form (multipart/form-data) with the inspection sheet as "file", once, and perhaps "lang".`,
	}
	errFileEmpty = &problem{
		status: http.StatusBadRequest, code: "file_empty",
		message: `The "file" is empty. Send the inspection sheet as JPEG, PNG, WebP, GIF or PDF.`,
	}
	errFileTooLarge = &problem{
		status: http.StatusRequestEntityTooLarge, code: scan.TooLarge,
		message: "The file is larger than 12 MB. Send a smaller picture of the sheet.",
	}
	errReportNotFound = &problem{
		status: http.StatusNotFound, code: "report_not_found",
		message: "No inspection sheet of this id has been read, or that was more than 30 days ago." +
			" POST /v1/condition-report reads it.",
	}
	errPageTooLarge = &problem{
		status: http.StatusRequestEntityTooLarge, code: "page_too_large",
		message: `The page in "html" is larger than 4 MB. No listing is.`,
	}
	errUnsupportedMediaType = &problem{
		status: http.StatusUnsupportedMediaType, code: "unsupported_media_type",
		message: "Send plain, uncompressed JSON in UTF-8 with Content-Type: application/json.",
	}
	errBatchUnsupportedMediaType = &problem{
		status: http.StatusUnsupportedMediaType, code: "unsupported_media_type",
		message: "Send uncompressed UTF-8: JSON with Content-Type: application/json, or a table with Content-Type: text/csv.",
	}
	errRateLimited = &problem{
		status: http.StatusTooManyRequests, code: "rate_limited",
		message: "This key has asked for more in a minute than it may. Wait as long as Retry-After says," +
			" or ask the operator for more.",
	}
	errTooManyJobs = &problem{
		status: http.StatusTooManyRequests, code: "too_many_jobs", retryAfter: pollAfter,
		message: "This key has as many jobs at work as it may have at once. Wait for one to end, or send a batch.",
	}
	errTooManyBatchItems = &problem{
		status: http.StatusTooManyRequests, code: "too_many_batch_items", retryAfter: time.Minute,
		message: "With this batch the key would have more listings at work than it may." +
			" Wait until others have ended, or send fewer.",
	}
	errBatchTooLarge = &problem{
		status: http.StatusRequestEntityTooLarge, code: "batch_too_large",
		message: "The batch has more listings than this key may ever have at work. Send fewer, or ask the operator for more.",
	}
	errClientClosedRequest = &problem{
		status: statusClientGone, code: "client_closed_request",
		message: "The request was given up before there was an answer.",
	}
	errInternal = &problem{
		status: http.StatusInternalServerError, code: "internal",
		message: "Something went wrong on our side. Please try again later.",
	}
	errCancelled = &problem{
		status: http.StatusInternalServerError, code: "cancelled",
		message: "The work was cancelled before it was done. Ask again to begin anew.",
	}
	errUnavailable = &problem{
		status: http.StatusServiceUnavailable, code: "unavailable", retryAfter: 5 * time.Second,
		message: "The service cannot work at the moment. Please try again in a few seconds.",
	}
	errCatalogueMissing = &problem{
		status: http.StatusServiceUnavailable, code: "catalogue_missing", retryAfter: 5 * time.Second,
		message: "The authority's list of vehicles has not been fetched yet. It is being asked for; please try again soon.",
	}
	errMakeNotFound = &problem{
		status: http.StatusNotFound, code: "make_not_found",
		message: "The authority lists no such make. GET /v1/vehicles without a make lists those there are.",
	}
	errNotFinished = &problem{
		status: http.StatusGatewayTimeout, code: "not_finished", retryAfter: pollAfter,
		message: "The work is not finished yet and goes on. Ask again, or read the job in the Location header.",
	}
)

// fieldProblem says what is wrong with one field of a request.
func fieldProblem(name, what string) *problem {
	return &problem{status: http.StatusBadRequest, code: "field_invalid", message: fmt.Sprintf("%q %s.", name, what)}
}

// bodyTooLarge refuses a body above a limit.
func bodyTooLarge(limit int64) *problem {
	size := fmt.Sprintf("%d KB", limit>>10)
	if limit >= 1<<20 {
		size = fmt.Sprintf("%d MB", limit>>20)
	}
	return &problem{
		status: http.StatusRequestEntityTooLarge, code: "body_too_large",
		message: "The body is larger than " + size + ".",
	}
}

// pollAfter is when it pays to look at an unfinished job again.
const pollAfter = 2 * time.Second

func (p *problem) Error() string {
	if p.cause == nil {
		return p.code + ": " + p.message
	}
	return fmt.Sprintf("%s: %v", p.code, p.cause)
}

func (p *problem) Unwrap() error { return p.cause }

// withCause returns the same problem with a cause.
func (p *problem) withCause(cause error) *problem {
	caused := *p
	caused.cause = cause
	return &caused
}

// withLocation returns the same problem with the URL of the job.
func (p *problem) withLocation(location string) *problem {
	placed := *p
	placed.location = location
	return &placed
}

// body is the problem as the client sees it.
func (p *problem) body() vehicle.Error {
	return vehicle.Error{Message: p.message, Code: p.code, Candidates: p.candidates}
}

// write answers a request with the problem.
func (p *problem) write(w http.ResponseWriter) error {
	if p.retryAfter > 0 {
		w.Header().Set("Retry-After", seconds(p.retryAfter))
	}
	if p.location != "" {
		w.Header().Set("Location", p.location)
	}
	if p.invalid != nil {
		return writeJSON(w, p.status, struct {
			vehicle.Error
			Rows []invalidRow `json:"rows"`
			More int          `json:"more,omitempty"`
		}{p.body(), p.invalid, p.invalidCount - len(p.invalid)})
	}
	return writeJSON(w, p.status, p.body())
}

// jobStatus has the codes of failed jobs that are no 500: what is the caller's
// to mend, although only the work showed it, and what is missing here.
var jobStatus = map[string]int{
	"url_invalid": http.StatusBadRequest, "url_forbidden": http.StatusBadRequest, "url_unsupported": http.StatusBadRequest,

	scan.HostUnsupported: http.StatusBadRequest, scan.TypeUnsupported: http.StatusBadRequest,
	scan.Damaged: http.StatusBadRequest, scan.Encrypted: http.StatusBadRequest, scan.TooManyPages: http.StatusBadRequest,
	scan.TooManyPixels: http.StatusBadRequest, scan.TooSmall: http.StatusBadRequest, scan.Blank: http.StatusBadRequest,
	sheet.NotASheet: http.StatusBadRequest, sheet.SheetUnreadable: http.StatusBadRequest, "upload_expired": http.StatusBadRequest,
	scan.TooLarge: http.StatusRequestEntityTooLarge,

	"no_ai": http.StatusServiceUnavailable, "ai_budget_used_up": http.StatusServiceUnavailable,
	"ai_unavailable": http.StatusServiceUnavailable,
}

// retryAI is when it pays to ask again what only an AI can answer. One that is
// not there at all takes an operator.
var retryAI = map[string]time.Duration{
	"no_ai": time.Hour, "ai_budget_used_up": time.Hour, "ai_unavailable": time.Minute,
}

// jobProblem is what a job that ended without a result tells its callers.
func jobProblem(job *jobs.Job) *problem {
	if job.Error == nil {
		return errCancelled
	}
	p := problemOf(job.Error)
	if p.code == "listing_incomplete" && job.Kind == tasks.KindQuote {
		p.status, p.code = http.StatusBadRequest, "request_incomplete"
	}
	return p
}

// problemOf is what the error of a job tells its callers.
func problemOf(why *jobs.Error) *problem {
	p := &problem{status: http.StatusInternalServerError, code: why.Code, message: why.Message}
	if status, ok := jobStatus[why.Code]; ok {
		p.status, p.retryAfter = status, retryAI[why.Code]
	}
	// Details have the shape that their code gives them; only a list of
	// candidates is for the caller.
	_ = json.Unmarshal(why.Details, &p.candidates)
	return p
}

// writeJSON answers with a value as JSON.
func writeJSON(w http.ResponseWriter, status int, body any) error {
	data, err := plainjson.Encode(body)
	if err != nil {
		return err
	}
	return writeBytes(w, status, data)
}

// writeBytes answers with JSON that is ready to send.
func writeBytes(w http.ResponseWriter, status int, data []byte) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(data) // it fails only when the caller is gone
	return nil
}

// writeResult sends the result of a job as it is.
func writeResult(w http.ResponseWriter, result []byte) error {
	return writeBytes(w, http.StatusOK, result)
}

func seconds(d time.Duration) string { return strconv.Itoa(int(d.Seconds())) }
