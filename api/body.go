package api

import (
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"ushuru/api/problem"
	"ushuru/api/receive"
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
	data, err := receive.UpTo(http.MaxBytesReader(w, r.Body, limit), limit, r.ContentLength)
	switch {
	case err != nil:
		return nil, receive.Problem(err, problem.BodyTooLarge(limit), receive.ErrUnreadable)
	case !utf8.Valid(data):
		return nil, notUTF8
	}
	return data, nil
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
