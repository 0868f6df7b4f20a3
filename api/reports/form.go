package reports

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"

	"ushuru/api/receive"
	"ushuru/api/respond"
)

// maxFile is for an image or a PDF. A phone's best photograph has ten megabytes.
const maxFile = 12 << 20

// formAllowance is for the parts of a form around its file, in bytes.
const formAllowance = 64 << 10

// isForm reports whether the headers announce a form with a file.
func isForm(h http.Header) bool {
	mediaType, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && mediaType == "multipart/form-data"
}

// readForm reads a file and a language from a form, part by part, and stops at
// the limits.
func (s *Resource) readForm(w http.ResponseWriter, r *http.Request) (req request, err error) {
	if err := s.options.Limits.AdmitBody(w, r); err != nil {
		return req, err
	}
	defer respond.RecorderOf(r).Turn.Give()
	r.Body = http.MaxBytesReader(w, r.Body, maxFile+formAllowance)
	parts, err := r.MultipartReader()
	if err != nil {
		return req, errFormInvalid.WithCause(err)
	}
	for range receive.MaxParts {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return req, receive.Problem(err, errFileTooLarge, errFormInvalid)
		}
		if err := req.parsePart(part, r.ContentLength); err != nil {
			return req, receive.Problem(err, errFileTooLarge, errFormInvalid)
		}
	}
	switch {
	case req.file == nil:
		return req, errFormInvalid
	case len(req.file) == 0:
		return req, errFileEmpty
	}
	return req, nil
}

// parsePart reads one part of a form of a size, -1 when that is unknown. Other parts
// are ignored.
func (req *request) parsePart(part *multipart.Part, size int64) error {
	switch part.FormName() {
	case "file":
		if req.file != nil {
			return errFormInvalid
		}
		file, err := receive.UpTo(part, maxFile, size)
		if err == nil && len(file) > maxFile {
			err = errFileTooLarge
		}
		req.file = file
		return err
	case "lang":
		lang, err := io.ReadAll(io.LimitReader(part, 64))
		req.lang = string(lang)
		return err
	}
	return nil
}
