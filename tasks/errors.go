package tasks

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
)

// StepError is an error of a step whose notice reaches the caller; the
// cause is only logged. Any other error is retried, and when the retries are used
// up the job fails with the code "internal".
type StepError struct {
	message.Notice

	Details   json.RawMessage // for the caller, in the shape of its code
	Cause     error
	Permanent bool          // a retry is useless
	Final     bool          // the job ends with it now, although another job may succeed soon
	After     time.Duration // minimum delay before a retry
}

func (f *StepError) Error() string {
	if f.Cause == nil {
		return f.Code + ": " + f.Message
	}
	return fmt.Sprintf("%s: %s: %v", f.Code, f.Message, f.Cause)
}

func (f *StepError) Unwrap() error { return f.Cause }

// Permanent returns an error that ends the job now.
func Permanent(said message.Notice, cause error) *StepError {
	return &StepError{Notice: said, Cause: cause, Permanent: true}
}

// Transient returns an error that is retried, not sooner than after. When the
// retries are used up the job fails with it.
func Transient(said message.Notice, after time.Duration, cause error) *StepError {
	return &StepError{Notice: said, Cause: cause, After: after}
}

// SnoozeError means that the work could not even start: a circuit breaker is open,
// or a limit is reached. The step is attempted again later, and that is not a
// retry.
type SnoozeError struct {
	After time.Duration
	Cause error
}

func (s *SnoozeError) Error() string {
	return fmt.Sprintf("snoozed for %v: %v", s.After, s.Cause)
}

func (s *SnoozeError) Unwrap() error { return s.Cause }

// Snooze returns a SnoozeError.
func Snooze(after time.Duration, cause error) *SnoozeError {
	return &SnoozeError{After: after, Cause: cause}
}

// IsFailure reports whether an error counts as a retry: every error but a snooze.
func IsFailure(err error) bool {
	_, snoozed := errors.AsType[*SnoozeError](err)
	return err != nil && !snoozed
}

// JobError returns the error of a job that fails with err.
func JobError(err error) *jobs.Error {
	if failure, ok := errors.AsType[*StepError](err); ok { // also as the cause of a snooze
		return &jobs.Error{Notice: failure.Notice, Details: failure.Details, Permanent: failure.Permanent}
	}
	if _, snoozed := errors.AsType[*SnoozeError](err); snoozed {
		return TimedOut()
	}
	return &jobs.Error{Notice: message.New("error/internal", nil)}
}

// TimedOut returns the error of a job that did not finish before its deadline.
func TimedOut() *jobs.Error {
	return &jobs.Error{Notice: message.New("error/deadline_exceeded", nil)}
}

// timedOutAt returns the error of a job whose step no worker did before its
// deadline.
func timedOutAt(step string) *jobs.Error {
	if step != StepCalculate {
		return TimedOut()
	}
	return &jobs.Error{Notice: message.New("error/authority_unavailable.no_worker", nil)}
}
