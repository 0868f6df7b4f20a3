package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"unicode/utf8"

	"ushuru/api/problem"
	"ushuru/pkg/jsonobject"
)

// maxBody is the maximum size of a request without a page, in bytes. Real requests
// are far smaller.
const maxBody = 64 << 10

// requestBody is the body of a request. typeProblem returns the problem of a field
// that has the wrong JSON type; an empty field means the whole body.
type requestBody interface {
	typeProblem(field string) *problem.Problem
}

// readJSON reads a request's body, one JSON value of up to limit bytes, into
// req. Unknown fields are ignored, so that a client of a later version of the
// API works with this one; the recorder has their names.
func readJSON(w http.ResponseWriter, r *http.Request, limit int64, req requestBody) error {
	defer recorderOf(r).turn.give()
	if !isPlainJSON(r.Header) {
		return errUnsupportedMediaType
	}
	data, err := readText(w, r, limit, errInvalidJSON)
	if err != nil {
		return err
	}
	if err := recorderOf(r).setBodyLanguage(data); err != nil {
		return err
	}
	err = json.Unmarshal(data, req)
	var wrongType *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrongType):
		return req.typeProblem(wrongType.Field).WithCause(err)
	case err != nil:
		return errInvalidJSON.WithCause(err)
	}
	return recorderOf(r).ignore(r, jsonobject.Unknown("", data, req, "lang")...)
}

// readText reads a body of up to limit bytes. It returns notUTF8 for a body that
// is not UTF-8.
func readText(w http.ResponseWriter, r *http.Request, limit int64, notUTF8 *problem.Problem) ([]byte, error) {
	data, err := readUpTo(http.MaxBytesReader(w, r.Body, limit), limit, r.ContentLength)
	var (
		tooLarge *http.MaxBytesError
		known    *problem.Problem
	)
	switch {
	case errors.As(err, &known):
		return nil, known
	case errors.As(err, &tooLarge):
		return nil, problem.BodyTooLarge(limit)
	case err != nil:
		return nil, unreadable(err, errBodyUnreadable)
	case !utf8.Valid(data):
		return nil, notUTF8
	}
	return data, nil
}

// unreadable returns the problem of a body that cannot be read: that it did not come in
// time, or another.
func unreadable(err error, other *problem.Problem) *problem.Problem {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return errBodyTooSlow.WithCause(err)
	}
	return other.WithCause(err)
}

// readUpTo reads up to limit bytes, and one more of what is larger, without copying
// them while they grow. size is an estimate, -1 when there is none.
func readUpTo(r io.Reader, limit, size int64) ([]byte, error) {
	if size < 0 {
		return io.ReadAll(io.LimitReader(r, limit+1))
	}
	var buffer bytes.Buffer
	buffer.Grow(int(min(size, limit)) + bytes.MinRead)
	_, err := buffer.ReadFrom(io.LimitReader(r, limit+1))
	return buffer.Bytes(), err
}

// isPlainJSON reports whether the headers announce uncompressed JSON in UTF-8.
// A body without Content-Type is assumed to be JSON.
func isPlainJSON(h http.Header) bool {
	if encoding := h.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return false
	}
	contentType := h.Get("Content-Type")
	if contentType == "" {
		return true
	}
	mediaType, params, err := mime.ParseMediaType(contentType)
	charset, given := params["charset"]
	return err == nil && mediaType == "application/json" && (!given || strings.EqualFold(charset, "utf-8"))
}
