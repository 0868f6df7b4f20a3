package tasks

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"ushuru/pkg/jobs"
)

// StepError is an error that a step's handler returns with a word for the
// caller. Code and Message reach the caller; the cause only the log. Any
// other error is tried again, and when that is no use the job fails with the
// code "internal".
type StepError struct {
	Code      string
	Message   string
	Details   json.RawMessage // for the caller too, in the shape of its code
	Cause     error
	Permanent bool          // trying again is no use
	After     time.Duration // do not try again sooner
}

func (f *StepError) Error() string {
	if f.Cause == nil {
		return f.Code + ": " + f.Message
	}
	return fmt.Sprintf("%s: %s: %v", f.Code, f.Message, f.Cause)
}

func (f *StepError) Unwrap() error { return f.Cause }

// Permanent is an error that ends the job now.
func Permanent(code, message string, cause error) *StepError {
	return &StepError{Code: code, Message: message, Cause: cause, Permanent: true}
}

// Transient is an error that is tried again, not sooner than after; when
// retries are used up the job ends with it.
func Transient(code, message string, after time.Duration, cause error) *StepError {
	return &StepError{Code: code, Message: message, Cause: cause, After: after}
}

// SnoozeError means that the work could not even be begun (a breaker is open,
// a limit is reached). It is tried again after a while and costs no retry.
type SnoozeError struct {
	After time.Duration
	Cause error
}

func (g *SnoozeError) Error() string {
	return fmt.Sprintf("gate closed for %v: %v", g.After, g.Cause)
}

func (g *SnoozeError) Unwrap() error { return g.Cause }

// Snooze returns a GateError.
func Snooze(after time.Duration, cause error) *SnoozeError {
	return &SnoozeError{After: after, Cause: cause}
}

// IsFailure is what costs a retry: anything but a closed gate.
func IsFailure(err error) bool {
	_, closed := errors.AsType[*SnoozeError](err)
	return err != nil && !closed
}

// JobError is what the record of a job that fails with err will say.
func JobError(err error) *jobs.Error {
	if failure, ok := errors.AsType[*StepError](err); ok { // also as the cause of a closed gate
		return &jobs.Error{Code: failure.Code, Message: failure.Message, Details: failure.Details}
	}
	if _, closed := errors.AsType[*SnoozeError](err); closed {
		return TimedOut() // a gate only ever closes for a while
	}
	return &jobs.Error{Code: "internal", Message: "Something went wrong on our side. Please try again later."}
}

// TimedOut is the error of a job that was not finished by its deadline.
func TimedOut() *jobs.Error {
	return &jobs.Error{
		Code:    "deadline_exceeded",
		Message: "The work could not be finished in time. Please try again later.",
	}
}
