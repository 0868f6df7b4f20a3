package tra

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"
)

// Kind classifies the errors of calls to the authority. The words are stable:
// logs, metrics and the status endpoint use them.
type Kind string

// The kinds of error.
const (
	Unavailable   Kind = "unavailable"     // no answer, a time-out, HTTP 408, 429 or 5xx, or a page instead of data
	Refused       Kind = "refused"         // HTTP 401, 403 or 451: the authority answers addresses in Tanzania only
	NoSuchVehicle Kind = "no_such_vehicle" // the authority knows no tax for this vehicle
	Certificate   Kind = "certificate"     // its TLS certificate cannot be verified
	BadAnswer     Kind = "bad_answer"      // an answer that cannot be understood, or one for another vehicle
)

// Kinds are all the kinds of error.
var Kinds = []Kind{Unavailable, Refused, NoSuchVehicle, Certificate, BadAnswer}

var sentences = map[Kind]string{
	Unavailable:   "TRA's calculator is not available",
	Refused:       "TRA's calculator refuses requests from this server",
	NoSuchVehicle: "TRA's calculator has no tax for this vehicle",
	Certificate:   "the certificate of TRA's calculator cannot be verified",
	BadAnswer:     "TRA's calculator gave an unusable answer",
}

// Error is the failure of one call to the authority. Its text can be shown to
// users. The response and the cause are for logs only: LogValue and Unwrap
// return them.
type Error struct {
	Kind       Kind
	Call       string        // the authority's name of the call: getMakes, getYom …
	Status     int           // of the HTTP answer; 0 when there was none
	RetryAfter time.Duration // as the authority asks, at most a day; 0 when it does not

	cause   error
	excerpt string // the first bytes of the answer
}

// Error returns the sentence of the kind, with the call and the HTTP status.
func (e *Error) Error() string {
	if e.Status == 0 || e.Status == http.StatusOK {
		return fmt.Sprintf("%s (%s)", sentences[e.Kind], e.Call)
	}
	return fmt.Sprintf("%s (%s, HTTP %d)", sentences[e.Kind], e.Call, e.Status)
}

// Unwrap returns the cause, which must not be shown to users.
func (e *Error) Unwrap() error { return e.cause }

// Temporary reports whether the same call may succeed later.
func (e *Error) Temporary() bool { return e.Kind == Unavailable }

// LogValue returns all details, with the first bytes of the response.
func (e *Error) LogValue() slog.Value {
	attrs := []slog.Attr{
		slog.String("kind", string(e.Kind)), slog.String("call", e.Call), slog.Int("status", e.Status),
		slog.Duration("retry_after", e.RetryAfter), slog.String("answer", e.excerpt),
	}
	if e.cause != nil {
		attrs = append(attrs, slog.String("cause", e.cause.Error()))
	}
	return slog.GroupValue(attrs...)
}

// KindOf returns the kind of a failed call, or "" for other errors.
func KindOf(err error) Kind {
	if failure, ok := errors.AsType[*Error](err); ok {
		return failure.Kind
	}
	return ""
}

// statusKind classifies the HTTP statuses other than 200.
func statusKind(status int) Kind {
	switch {
	case status == http.StatusForbidden, status == http.StatusUnauthorized, status == http.StatusUnavailableForLegalReasons:
		return Refused
	case status == http.StatusRequestTimeout, status == http.StatusTooManyRequests, status >= 500:
		return Unavailable
	default:
		return BadAnswer
	}
}

const maxRetryAfter = 24 * time.Hour
