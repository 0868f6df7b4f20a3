package api

import (
	"net/http"
	"strings"
	"time"

	"ushuru/pkg/upload"
)

const (
	// maxEstimateBody leaves a page room to grow as it is written in JSON.
	maxEstimateBody = 2 * upload.MaxPage

	// uploadTimeout is for sending a page over a slow line.
	uploadTimeout = time.Minute
)

// pageOf returns the hash of the page that a request holds, "" when it holds
// none.
func pageOf(asked estimateRequest) (hash string, err error) {
	switch {
	case asked.HTML == nil:
		return "", nil
	case len(*asked.HTML) > upload.MaxPage:
		return "", errPageTooLarge
	case strings.TrimSpace(*asked.HTML) == "":
		return "", errPageEmpty
	}
	return upload.Hash(*asked.HTML), nil
}

// allowUpload gives a caller with a large body, who has shown a good key, more
// time than others to send it, and as much more to be answered.
func (s *Server) allowUpload(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength >= 0 && r.ContentLength <= maxBody {
		return
	}
	control := http.NewResponseController(w)
	now := time.Now()
	// A connection that knows no deadlines has none in its way.
	_ = control.SetReadDeadline(now.Add(uploadTimeout))
	_ = control.SetWriteDeadline(now.Add(uploadTimeout + s.options.WaitMax + uploadTimeout/2))
}
