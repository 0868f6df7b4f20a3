// Package console is what the commands share: the streams of the process, the exit
// statuses, and how answers, errors and progress are written.
package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"ushuru/pkg/plainjson"
)

// Streams are the standard streams of the process.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Console is one run of a command.
type Console struct {
	Streams

	Ctx context.Context //nolint:containedctx // the life of the process, not of a call
}

// Exit statuses.
const (
	ExitOK      = 0
	ExitFailure = 1
	ExitUsage   = 2
	ExitRefused = 3 // the page is not a readable listing (read), or the API answers with an error
	ExitRows    = 4 // rows of a batch failed, were rejected or cancelled; or what was waited for has not ended
)

// ExitError ends the program with a status, its message printed already.
type ExitError struct{ Status int }

func (e ExitError) Error() string { return fmt.Sprintf("exit status %d", e.Status) }

// statusError is an error with an exit status of its own.
type statusError struct {
	error

	status int
}

func (e statusError) Unwrap() error { return e.error }

// WithStatus returns an error that ends the program with a status other than ExitFailure.
func WithStatus(status int, err error) error { return statusError{err, status} }

// Usage returns the error of a command line that is wrong in a way that only the command knows.
func Usage(format string, values ...any) error {
	return WithStatus(ExitUsage, fmt.Errorf(format, values...))
}

// StatusOf returns the exit status for an error.
func StatusOf(err error) int {
	if e, ok := errors.AsType[statusError](err); ok {
		return e.status
	}
	return ExitFailure
}

// Secret is a setting that is never printed.
type Secret string

func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "[redacted]"
}

// LogValue keeps a secret out of the log.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// WriteJSON writes a value as indented JSON.
func WriteJSON(w io.Writer, value any) error {
	encoder := plainjson.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// Refuse writes the body of an error as JSON, and returns the exit status for it.
func (s Streams) Refuse(body any) error {
	if err := WriteJSON(s.Err, body); err != nil {
		return err
	}
	return ExitError{ExitRefused}
}
