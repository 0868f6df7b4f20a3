// Package console is what the commands share: the streams of the process, the exit
// statuses, and how answers, errors and progress are written.
package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

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

// Size is a number of bytes, with a unit or without.
type Size int64

// UnmarshalText is called by kong.
func (s *Size) UnmarshalText(text []byte) error {
	number, shift := strings.ToUpper(string(text)), 0
	for unit, bits := range map[string]int{"KB": 10, "MB": 20, "GB": 30} { //nolint:mnd // powers of two
		if before, ok := strings.CutSuffix(number, unit); ok {
			number, shift = before, bits
			break
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64>>shift {
		return fmt.Errorf("%q is not a number of bytes; examples: 288MB, 1GB, 200000000", text)
	}
	*s = Size(n << shift)
	return nil
}

func (s Size) String() string {
	if s < 1<<20 { //nolint:mnd // a megabyte
		return fmt.Sprintf("%d KB", (s+1<<10-1)>>10) //nolint:mnd // kilobytes
	}
	return fmt.Sprintf("%d MB", s>>20) //nolint:mnd // megabytes
}

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

// IsURL reports whether an argument is a URL and not the name of a file.
func IsURL(argument string) bool {
	scheme, _, found := strings.Cut(argument, "://")
	return found && !strings.ContainsAny(scheme, `/\.`)
}

// Open opens a file, or standard input for the name "-".
func (s Streams) Open(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(s.In), nil
	}
	return os.Open(name) //nolint:gosec // the operator names the file
}

// ReadFile reads at most limit + 1 bytes of a file: the caller recognises a file
// that is too large by its length.
func (s Streams) ReadFile(name string, limit int64) ([]byte, error) {
	file, err := s.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return io.ReadAll(io.LimitReader(file, limit+1))
}

// WriteFile writes a file completely or not at all.
func WriteFile(name string, data []byte) error { return CopyFile(name, bytes.NewReader(data)) }

// CopyFile writes what it reads to a file, completely or not at all.
func CopyFile(name string, data io.Reader) error {
	part, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".part")
	if err != nil {
		return err
	}
	_, err = io.Copy(part, data)
	if err = errors.Join(err, part.Close()); err == nil {
		err = os.Rename(part.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part.Name()))
	}
	return nil
}

// IsTerminal reports whether what is written to w is shown on a terminal.
func IsTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// OneLine joins the parts that are not empty.
func OneLine(parts ...string) string {
	return strings.Join(strings.Fields(strings.Join(parts, " ")), " ")
}

// Printable returns a text in one line and without the characters that direct a
// terminal: a page may contain any.
func Printable(text string) string {
	return OneLine(strings.Map(func(c rune) rune {
		if strconv.IsPrint(c) {
			return c
		}
		return ' '
	}, text))
}

// ShellQuote quotes a text as one word for a shell.
func ShellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
