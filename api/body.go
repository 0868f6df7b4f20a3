package api

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxBody is far above any request of this API that holds no page.
const maxBody = 64 << 10

// typeChecker is a body that says itself what is wrong with the type of a field;
// "" is the whole.
type typeChecker interface{ typeProblem(field string) *problem }

// readJSON reads a request's body, one JSON value of up to limit bytes, into a
// struct. Fields that the struct does not have are ignored, so that a client
// written for a later version of the API still works with this one.
func readJSON(w http.ResponseWriter, r *http.Request, limit int64, into any) error {
	if !plainJSON(r.Header) {
		return errUnsupportedMediaType
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return bodyTooLarge(limit)
	case err != nil:
		return errBodyUnreadable.withCause(err)
	case !utf8.Valid(data):
		return errInvalidJSON
	}
	err = json.Unmarshal(data, into)
	var wrongType *json.UnmarshalTypeError
	reader, named := into.(typeChecker)
	switch {
	case errors.As(err, &wrongType) && named:
		return reader.typeProblem(wrongType.Field).withCause(err)
	case errors.As(err, &wrongType) && slices.Contains([]string{"html", "explain", "modelBody"}, wrongType.Field):
		return errFieldInvalid.withCause(err)
	case errors.As(err, &wrongType):
		return errURLMissing.withCause(err)
	case err != nil:
		return errInvalidJSON.withCause(err)
	}
	return nil
}

// plainJSON reports whether the headers announce what readJSON can read. No
// Content-Type at all is taken for JSON.
func plainJSON(h http.Header) bool {
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
