package api

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"

	"ushuru/pkg/upload"
)

const (
	// formAllowance is for the envelope of a form around its file.
	formAllowance = 64 << 10
	// maxFormParts bounds the parts of a form that are looked at.
	maxFormParts = 16
	// maxConcurrentForms bounds the memory that files take while they come in: each
	// up to upload.MaxFile. The others wait.
	maxConcurrentForms = 16
)

// isForm reports whether a request carries a form with a file.
func isForm(h http.Header) bool {
	mediaType, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && mediaType == "multipart/form-data"
}

// readForm reads a file and a language from a form, part by part, and nothing
// of it past what is allowed.
func (s *Server) readForm(w http.ResponseWriter, r *http.Request) (asked reportRequest, err error) {
	select {
	case s.forms <- struct{}{}:
		defer func() { <-s.forms }()
	case <-r.Context().Done():
		return asked, errClientClosedRequest.withCause(r.Context().Err())
	}
	s.allowUpload(w, r)
	r.Body = http.MaxBytesReader(w, r.Body, upload.MaxFile+formAllowance)
	parts, err := r.MultipartReader()
	if err != nil {
		return asked, errFormInvalid.withCause(err)
	}
	for range maxFormParts {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return asked, formProblem(err)
		}
		if err := asked.take(part); err != nil {
			return asked, formProblem(err)
		}
	}
	switch {
	case asked.file == nil:
		return asked, errFormInvalid
	case len(asked.file) == 0:
		return asked, errFileEmpty
	}
	return asked, nil
}

// take reads one part; those that are not known are passed over.
func (q *reportRequest) take(part *multipart.Part) error {
	switch part.FormName() {
	case "file":
		if q.file != nil {
			return errFormInvalid
		}
		file, err := io.ReadAll(io.LimitReader(part, upload.MaxFile+1))
		if err == nil && len(file) > upload.MaxFile {
			err = errFileTooLarge
		}
		q.file = file
		return err
	case "lang":
		lang, err := io.ReadAll(io.LimitReader(part, 64))
		q.Lang = string(lang)
		return err
	}
	return nil
}

// formProblem says what is wrong with a form that cannot be read.
func formProblem(err error) error {
	var (
		tooLarge *http.MaxBytesError
		known    *problem
	)
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &tooLarge):
		return errFileTooLarge.withCause(err)
	}
	return errFormInvalid.withCause(err)
}
