package receive

import (
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"ushuru/api/problem"
	"ushuru/api/respond"
	"ushuru/pkg/jsonobject"
)

// MaxBody is the maximum size of a request without a page, in bytes. Real requests
// are far smaller.
const MaxBody = 64 << 10

// Body is the body of a request. TypeProblem returns the problem of a field
// that has the wrong JSON type; an empty field means the whole body.
type Body interface {
	TypeProblem(field string) *problem.Problem
}

// JSON reads a request's body, one JSON value of up to limit bytes, into
// req. Unknown fields are ignored, so that a client of a later version of the
// API works with this one; the recorder has their names.
func JSON(w http.ResponseWriter, r *http.Request, limit int64, req Body) error {
	defer respond.RecorderOf(r).Turn.Give()
	if !isPlainJSON(r.Header) {
		return ErrUnsupportedMediaType
	}
	data, err := text(w, r, limit, ErrInvalidJSON)
	if err != nil {
		return err
	}
	if err := respond.RecorderOf(r).SetBodyLanguage(data); err != nil {
		return err
	}
	err = json.Unmarshal(data, req)
	var wrongType *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrongType):
		return req.TypeProblem(wrongType.Field).WithCause(err)
	case err != nil:
		return ErrInvalidJSON.WithCause(err)
	}
	return respond.RecorderOf(r).Ignore(r, jsonobject.Unknown("", data, req, "lang")...)
}

// text reads a body of up to limit bytes. It returns notUTF8 for a body that
// is not UTF-8.
func text(w http.ResponseWriter, r *http.Request, limit int64, notUTF8 *problem.Problem) ([]byte, error) {
	data, err := UpTo(http.MaxBytesReader(w, r.Body, limit), limit, r.ContentLength)
	switch {
	case err != nil:
		return nil, Problem(err, problem.BodyTooLarge(limit), ErrUnreadable)
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
