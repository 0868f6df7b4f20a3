package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"ushuru/pkg/message"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/vehicle"
)

// problem is an error that a client can see. Only the log shows its cause.
type problem struct {
	message.Notice // what is wrong, and what to do

	status     int
	retryAfter time.Duration
	retryAt    time.Time // when a site may be asked again; zero when it is not paused
	location   string    // URL of a job
	candidates []vehicle.Candidate
	car        *vehicle.Car
	explained  []byte // the source of each value of the car, as a JSON object
	cause      error

	waitingFor string // what the job waits for and cannot have now

	invalid      []invalidRow // the first invalid rows of a batch
	invalidCount int
}

// refuse returns the problem with the text of a code, or of a code and a variant.
func refuse(status int, code string, values message.Values) *problem {
	return &problem{status: status, Notice: message.New("error/"+code, values)}
}

// atMost is the value of a limit.
func atMost(limit int) message.Values { return message.Values{"max": strconv.Itoa(limit)} }

// after returns the problem with the time after which to ask again.
func (p *problem) after(wait time.Duration) *problem {
	p.retryAfter = wait
	return p
}

// fieldProblem says what is wrong with one field of a request: the variant of the
// text, and its least and greatest values.
func fieldProblem(name, variant string, bounds ...int) *problem {
	values := message.Values{"field": name}
	if n := len(bounds); n > 0 {
		values["min"], values["max"] = strconv.Itoa(bounds[0]), strconv.Itoa(bounds[n-1])
	}
	return refuse(http.StatusBadRequest, "field_invalid."+variant, values)
}

// bodyTooLarge rejects a body above a limit of bytes.
func bodyTooLarge(limit int64) *problem {
	size := fmt.Sprintf("%d KB", limit>>10)
	if limit >= 1<<20 {
		size = fmt.Sprintf("%d MB", limit>>20)
	}
	return refuse(http.StatusRequestEntityTooLarge, "body_too_large", message.Values{"size": size})
}

func (p *problem) Error() string {
	if p.cause == nil {
		return p.Code + ": " + p.Message
	}
	return fmt.Sprintf("%s: %v", p.Code, p.cause)
}

func (p *problem) Unwrap() error { return p.cause }

// withCause returns the same problem with a cause.
func (p *problem) withCause(cause error) *problem {
	caused := *p
	caused.cause = cause
	return &caused
}

// withLocation returns the same problem with the URL of the job.
func (p *problem) withLocation(url string) *problem {
	located := *p
	located.location = url
	return &located
}

// waitingForAuthority returns the same problem, with the reason why the job cannot
// end now.
func (p *problem) waitingForAuthority(reason message.Notice) *problem {
	waiting := *p
	waiting.waitingFor, waiting.Notice = waitingForAuthority, reason.Then(" ", p.Notice)
	waiting.Code = p.Code
	return &waiting
}

// Is reports whether a problem is the same but for what it was given later.
func (p *problem) Is(target error) bool {
	other, ok := target.(*problem)
	return ok && p.Code == other.Code && p.status == other.status && other.Code == errNotFinished.Code
}

// body returns the problem as the client sees it.
func (p *problem) body() vehicle.Error {
	return vehicle.Error{
		Message: p.Message, Code: p.Code, Text: p.Text, Values: p.Values, Candidates: p.candidates, Car: p.car,
		RetryAfter: p.secondsPaused(), WaitingFor: p.waitingFor,
	}
}

// secondsPaused returns how long the site still pauses.
func (p *problem) secondsPaused() int {
	if p.retryAt.IsZero() {
		return 0
	}
	return int(wholeSeconds(max(time.Until(p.retryAt), 0)) / time.Second)
}

// write responds with the problem.
func (p *problem) write(w http.ResponseWriter) error {
	if paused := p.secondsPaused(); paused > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(paused))
	}
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
	if p.explained != nil {
		body, err := plainjson.Encode(p.body())
		if err != nil {
			return err
		}
		return writeJSON(w, p.status, json.RawMessage(mergeObjects(body, p.explained)))
	}
	return writeJSON(w, p.status, p.body())
}

// problemHandler is the handler that always responds with a problem.
func problemHandler(p *problem) handler {
	return func(http.ResponseWriter, *http.Request) error { return p }
}
