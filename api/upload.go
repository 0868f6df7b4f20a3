package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"ushuru/pkg/upload"
)

const (
	// maxEstimateBody allows for the escapes of a page in JSON.
	maxEstimateBody = 2 * upload.MaxPage

	// uploadTimeout is for sending a page over a slow line.
	uploadTimeout = time.Minute
)

// pageHash returns the hash of the page that a request contains. It is empty
// when there is no page.
func pageHash(page *string) (string, error) {
	switch {
	case page == nil:
		return "", nil
	case len(*page) > upload.MaxPage:
		return "", errPageTooLarge
	case strings.TrimSpace(*page) == "":
		return "", errPageEmpty
	}
	return upload.Hash(*page), nil
}

// putPage stores the page of a request for the worker, if the request has one.
func (s *Server) putPage(parent context.Context, hash string, page *string) error {
	if page == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(parent, redisTimeout)
	defer cancel()
	if err := s.options.Uploads.Put(ctx, hash, []byte(*page)); err != nil {
		return errUnavailable.withCause(err)
	}
	return nil
}

// allowUpload gives a caller with a large body more time to send it, and the
// response more time to be written. The server's own timeouts are for small
// requests. The caller's key has been verified before.
func (s *Server) allowUpload(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength >= 0 && r.ContentLength <= maxBody {
		return
	}
	control := http.NewResponseController(w)
	now := time.Now()
	// A connection that does not support deadlines has none to extend.
	_ = control.SetReadDeadline(now.Add(uploadTimeout))
	_ = control.SetWriteDeadline(now.Add(uploadTimeout + s.options.WaitMax + uploadTimeout/2))
}
