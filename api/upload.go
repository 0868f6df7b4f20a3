package api

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"
)

const (
	// maxPage is for a listing page. The largest that was seen has 600 KB.
	maxPage = 4 << 20
	// maxFile is for an image or a PDF. A phone's best photograph has ten megabytes.
	maxFile = 12 << 20
	// maxEstimateBody allows for the escapes of a page in JSON.
	maxEstimateBody = 2 * maxPage

	// uploadTimeout is for sending a page over a slow line.
	uploadTimeout = time.Minute
)

// pageHash returns the hash of the page that a request contains. It is empty
// when there is no page.
func pageHash(page *string) (string, error) {
	switch {
	case page == nil:
		return "", nil
	case len(*page) > maxPage:
		return "", errPageTooLarge
	case strings.TrimSpace(*page) == "":
		return "", errPageEmpty
	}
	return contentHash(*page), nil
}

// attachedPage returns the page of a request for the worker; nil when it has none.
func attachedPage(page *string) []byte {
	if page == nil {
		return nil
	}
	return []byte(*page)
}

// contentHash identifies what a caller sent.
func contentHash[T string | []byte](content T) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
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
