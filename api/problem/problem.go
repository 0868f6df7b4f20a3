// Package problem has the errors that callers of the API see: a status, a code with its
// text in both languages, and what the caller needs to act on it.
package problem

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"ushuru/pkg/message"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/vehicle"
)

// Problem is an error that a client can see. Only the log shows its cause.
type Problem struct { //nolint:errname // its package says that it is an error
	message.Notice // what is wrong, and what to do

	Status     int
	Param      string // the field of the request that is to blame
	RetryAfter time.Duration
	RetryAt    time.Time // when a site may be asked again; zero when it is not paused
	Location   string    // URL of a job
	Candidates []vehicle.Candidate
	Cars       []vehicle.ListedCar // of a page that lists several
	Car        *vehicle.Car
	Explained  []byte // the source of each value of the car, as a JSON object
	WaitingFor string // what the job waits for
	Job        string // its id, when it continues
	Permanent  bool   // of a job: a retry is useless
	Request    string // id of the request that is answered

	Rows     []Row // the first invalid rows of a batch
	RowCount int   // of all invalid rows

	cause error
}

// Row is a row of a batch that was rejected, and its problem.
type Row struct {
	Row       int    `json:"row"`
	Sheet     string `json:"sheet,omitempty"`
	Reference string `json:"reference,omitempty"`
	URL       string `json:"url,omitempty"`
	Code      string `json:"code"`
	Error     string `json:"error"`

	Text *message.Text `json:"text,omitempty"` // Error in both languages
}

// New returns the problem with the text of a code, or of a code and a variant.
func New(status int, code string, values message.Values) *Problem {
	return &Problem{Status: status, Notice: message.New("error/"+code, values)}
}

// BadRequest returns the problem of a request that is wrong, with the text of a code.
func BadRequest(code string) *Problem { return New(http.StatusBadRequest, code, nil) }

// NotFound returns the problem of what does not exist, with the text of a code.
func NotFound(code string) *Problem { return New(http.StatusNotFound, code, nil) }

// Conflict returns the problem of a state that does not allow the request, with the text of a
// code.
func Conflict(code string) *Problem { return New(http.StatusConflict, code, nil) }

// AtMost is the value of a limit.
func AtMost(limit int) message.Values { return message.Values{"max": strconv.Itoa(limit)} }

// After returns the same problem with the time after which to ask again.
func (p *Problem) After(wait time.Duration) *Problem {
	later := *p
	later.RetryAfter = wait
	return &later
}

// Of returns the same problem with the field of the request that is to blame.
func (p *Problem) Of(param string) *Problem {
	named := *p
	named.Param = param
	return &named
}

// Field says what is wrong with one field of a request: the variant of the
// text, and its least and greatest values.
func Field(name, variant string, bounds ...int) *Problem {
	values := message.Values{"field": name}
	if n := len(bounds); n > 0 {
		values["min"], values["max"] = strconv.Itoa(bounds[0]), strconv.Itoa(bounds[n-1])
	}
	return New(http.StatusBadRequest, "field_invalid."+variant, values).Of(name)
}

// BodyTooLarge rejects a body above a limit of bytes.
func BodyTooLarge(limit int64) *Problem {
	size := fmt.Sprintf("%d KB", limit>>10)
	if limit >= 1<<20 {
		size = fmt.Sprintf("%d MB", limit>>20)
	}
	return New(http.StatusRequestEntityTooLarge, "body_too_large", message.Values{"size": size})
}

func (p *Problem) Error() string {
	said := p.Message
	if p.cause != nil {
		said = p.cause.Error()
	}
	return p.Code + ": " + said
}

func (p *Problem) Unwrap() error { return p.cause }

// Because returns the problem of a status with the text of another error.
func Because(status int, said message.Notice, cause error) *Problem {
	return &Problem{Status: status, Notice: said, cause: cause}
}

// WithCause returns the same problem with a cause.
func (p *Problem) WithCause(cause error) *Problem {
	caused := *p
	caused.cause = cause
	return &caused
}

// At returns the same problem with the URL of the job.
func (p *Problem) At(url string) *Problem {
	located := *p
	located.Location = url
	return &located
}

// Waiting returns the same problem, with what the job waits for and why, as a sentence
// before its own.
func (p *Problem) Waiting(what string, why message.Notice) *Problem {
	waiting := *p
	waiting.WaitingFor, waiting.Notice = what, why.Then(" ", p.Notice)
	waiting.Code = p.Code
	return &waiting
}

// Is reports whether a problem is another one but for what it was given later.
func (p *Problem) Is(target error) bool {
	other, ok := target.(*Problem)
	return ok && p.Code == other.Code && p.Status == other.Status
}

// Body returns the problem as the client sees it.
func (p *Problem) Body() vehicle.Error {
	return vehicle.Error{
		Message: p.Message, Code: p.Code, Text: p.Text, Values: p.Values, Candidates: p.Candidates, Car: p.Car, Cars: p.Cars,
		RetryAfter: p.SecondsPaused(), WaitingFor: p.WaitingFor, Job: p.Job,
		Retryable: new(p.Retryable()), Param: p.Param, Request: p.Request,
	}
}

// SecondsPaused returns how long the site still pauses.
func (p *Problem) SecondsPaused() int {
	if p.RetryAt.IsZero() {
		return 0
	}
	return int(math.Ceil(max(time.Until(p.RetryAt), 0).Seconds()))
}

// SetHeader sets the headers of a response with the problem.
func (p *Problem) SetHeader(h http.Header) {
	if paused := p.SecondsPaused(); paused > 0 {
		h.Set("Retry-After", strconv.Itoa(paused))
	}
	if p.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(p.RetryAfter.Seconds())))
	}
	if p.Location != "" {
		h.Set("Location", p.Location)
	}
}

// Encode returns the body of a response with the problem, as JSON.
func (p *Problem) Encode() ([]byte, error) {
	if p.Rows != nil {
		return plainjson.Encode(struct {
			vehicle.Error
			Rows []Row `json:"rows"`
			More int   `json:"more,omitempty"`
		}{p.Body(), p.Rows, p.RowCount - len(p.Rows)})
	}
	body, err := plainjson.Encode(p.Body())
	if err == nil && p.Explained != nil {
		body = plainjson.Merge(body, p.Explained)
	}
	return body, err
}

// MarshalJSON is Encode, for a problem inside another body.
func (p *Problem) MarshalJSON() ([]byte, error) { return p.Encode() }

// statuses has the HTTP status of the errors of jobs that the caller can correct, although
// only the job found them, or that say what the server lacks. That of definite refusals is
// 422, that of all others 500.
var statuses = map[string]int{
	"url_invalid": http.StatusBadRequest, "url_forbidden": http.StatusBadRequest, "url_unsupported": http.StatusBadRequest,

	"sheet_host_unsupported": http.StatusBadRequest, "sheet_type_unsupported": http.StatusBadRequest,
	"sheet_damaged": http.StatusBadRequest, "sheet_encrypted": http.StatusBadRequest,
	"sheet_too_many_pages": http.StatusBadRequest, "sheet_too_many_pixels": http.StatusBadRequest,
	"sheet_too_small": http.StatusBadRequest, "sheet_blank": http.StatusBadRequest,
	"not_a_sheet": http.StatusBadRequest, "sheet_unreadable": http.StatusBadRequest,
	"upload_expired": http.StatusBadRequest, "page_expired": http.StatusBadRequest, "request_incomplete": http.StatusBadRequest,
	"sheet_too_large": http.StatusRequestEntityTooLarge,

	"no_ai": http.StatusServiceUnavailable, "ai_budget_used_up": http.StatusServiceUnavailable,
	"ai_unavailable": http.StatusServiceUnavailable,
}

// retryAfter has the Retry-After of errors of the AI. The operator must correct those of
// an hour.
var retryAfter = map[string]time.Duration{
	"no_ai": time.Hour, "ai_budget_used_up": time.Hour, "ai_unavailable": time.Minute,
}

// OfJob returns the problem of a job that ended with an error. A permanent one is not
// worth sending the same request again.
func OfJob(said message.Notice, permanent bool) *Problem {
	p := &Problem{Status: http.StatusInternalServerError, Notice: said, Permanent: permanent}
	if status, ok := statuses[said.Code]; ok {
		p.Status, p.RetryAfter = status, retryAfter[said.Code]
	} else if message.IsDefinite(said.Code) {
		p.Status = http.StatusUnprocessableEntity
	}
	return p
}

// Retryable reports whether the same request can succeed later.
func (p *Problem) Retryable() bool {
	switch p.Status {
	case http.StatusBadRequest:
		return p.Code == "not_a_sheet" // a model says so, which may err
	case http.StatusServiceUnavailable:
		return p.Code != "no_ai" // the operator must configure one
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusGatewayTimeout:
		return true
	case http.StatusInternalServerError:
		return slices.Contains(passing, p.Code) || !p.Permanent && !message.IsDefinite(p.Code)
	}
	return false
}

// passing are the codes of a site that asked us to pause, and of an authority that gave
// figures that cannot be right. The job has ended, and a later one can succeed.
var passing = []string{"host_busy", "authority_implausible"}

// ours are the codes of errors that the operator must look at.
var ours = []string{"internal", "unavailable", "worker_lost", "deadline_exceeded"}

// Level returns the level at which a response with the problem is logged: Info for a mistake of
// the caller, Error for a fault of the service, Warn for one of a site, the authority or the AI.
func (p *Problem) Level() slog.Level {
	switch {
	case p.Status < http.StatusInternalServerError, p.Code == "not_finished",
		message.IsDefinite(p.Code), statuses[p.Code]/100 == 4: //nolint:mnd // 4xx
		return slog.LevelInfo
	case slices.Contains(ours, p.Code):
		return slog.LevelError
	}
	return slog.LevelWarn
}

// plainHeaders are all headers of such an error. No handler of ours responds with
// these alone.
const plainHeaders = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"

// versions are those of responses: one to a request of HTTP/1.0 is of it too.
var versions = []string{"HTTP/1.1", "HTTP/1.0"}

// problems has what net/http answers by itself, by the status.
var problems = map[int]*Problem{
	http.StatusBadRequest:                  BadRequest("malformed_request"),
	http.StatusExpectationFailed:           New(http.StatusExpectationFailed, "expectation_unsupported", nil),
	http.StatusRequestHeaderFieldsTooLarge: New(http.StatusRequestHeaderFieldsTooLarge, "header_too_large", nil),
	http.StatusNotImplemented:              New(http.StatusNotImplemented, "transfer_encoding_unsupported", nil),
	http.StatusHTTPVersionNotSupported:     New(http.StatusHTTPVersionNotSupported, "http_version_unsupported", nil),
}

// Translate returns the problem that replaces a plain-text error of net/http; nil for any other
// response. Before net/http calls a handler, it answers in plain text to a malformed request line,
// to a head that is too large, and to a version of HTTP that it does not speak.
func Translate(p []byte) []byte {
	version, rest, _ := bytes.Cut(p, []byte(" "))
	if !slices.Contains(versions, string(version)) {
		return nil
	}
	line, _, _ := bytes.Cut(rest, []byte("\r\n"))
	number, _, _ := bytes.Cut(line, []byte(" "))
	status, err := strconv.Atoi(string(number))
	plain := bytes.HasPrefix(rest[len(line):], []byte(plainHeaders))
	// It answers an Expect that it does not know without a body.
	if err != nil || !plain && status != http.StatusExpectationFailed {
		return nil
	}
	said, known := problems[status]
	if !known {
		said = problems[http.StatusBadRequest]
	}
	answered := *said
	answered.Status, answered.Request = status, rand.Text()
	body, err := answered.Encode()
	if err != nil {
		return nil
	}
	return fmt.Appendf(nil, "%s %d %s\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n"+
		"X-Request-ID: %s\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n\r\n%s",
		version, status, http.StatusText(status), len(body), answered.Request, body)
}
