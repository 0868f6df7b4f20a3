// Package problem has the errors that callers of the API see: a status, a code with its
// text in both languages, and what the caller needs to act on it.
package problem

import (
	"fmt"
	"math"
	"net/http"
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
