// Package receive reads requests: bodies within their bounds, URLs and parts of lists. It
// says why one cannot be read.
package receive

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"

	"ushuru/api/problem"
	"ushuru/api/respond"
)

// Why a request cannot be read.
var (
	ErrUnreadable           = problem.BadRequest("body_unreadable")
	ErrInvalidJSON          = problem.BadRequest("invalid_json")
	ErrURLMissing           = problem.BadRequest("url_missing").Of("url")
	ErrPageInvalid          = problem.BadRequest("page_invalid")
	ErrUnsupportedMediaType = problem.New(http.StatusUnsupportedMediaType, "unsupported_media_type", nil)
)

// MaxParts is the maximum number of parts of a form that are read.
const MaxParts = 16

// UpTo reads up to limit bytes, and one more of what is larger, without copying
// them while they grow. Size is an estimate, -1 when there is none.
func UpTo(r io.Reader, limit, size int64) ([]byte, error) {
	if size < 0 {
		return io.ReadAll(io.LimitReader(r, limit+1))
	}
	var buffer bytes.Buffer
	buffer.Grow(int(min(size, limit)) + bytes.MinRead)
	_, err := buffer.ReadFrom(io.LimitReader(r, limit+1))
	return buffer.Bytes(), err
}

// Problem returns the problem of a body that cannot be read: the one that its reader met,
// that it is too large, that it did not come in time, or another.
func Problem(err error, tooLarge, other *problem.Problem) *problem.Problem {
	var (
		known *problem.Problem
		limit *http.MaxBytesError
	)
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &limit):
		return tooLarge.WithCause(err)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return respond.ErrTooSlow.WithCause(err)
	}
	return other.WithCause(err)
}
