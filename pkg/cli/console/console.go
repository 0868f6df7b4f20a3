// Package console is what the commands share: the streams of the process, the exit
// statuses, and how answers, errors and progress are written.
package console

import (
	"context"
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
	ExitRows    = 4 // rows of a batch failed, were rejected or cancelled
)

// ExitError ends the program with a status, its message printed already.
type ExitError struct{ Status int }

func (e ExitError) Error() string { return fmt.Sprintf("exit status %d", e.Status) }

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
