package batches

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"ushuru/api/request"
	"ushuru/pkg/batch"
	"ushuru/pkg/localtime"
)

// resultPart is the part of a batch's results that a request wants.
type resultPart struct {
	from  int // index of a row
	limit int // 0 means all
	state batch.State
	since time.Time // rows that ended then or later; zero means all
}

// parseResultPart parses the parameters cursor, limit, state and since.
func parseResultPart(r *request.Request) (part resultPart, err error) {
	query := r.URL.Query()
	if query.Get("limit") != "" {
		if part.limit, err = request.PageSize(r.URL.Query()); err != nil {
			return part, err
		}
	}
	if part.from, err = request.Cursor(query); err != nil {
		return part, err
	}
	part.state = batch.State(query.Get("state"))
	if part.state != "" && !slices.Contains(batch.States(), part.state) {
		return part, errStateUnknown
	}
	if text := query.Get("since"); text != "" {
		if part.since, err = time.Parse(time.RFC3339, text); err != nil {
			return part, errSinceInvalid.WithCause(err)
		}
	}
	return part, nil
}

// isUnchanged answers 304 to a caller who has the results of a batch that has ended. They
// change only when the day changes for which the cost is calculated, when failed rows are
// retried, or with the program.
func isUnchanged(w http.ResponseWriter, r *request.Request, b *batch.Batch, f resultFormat) bool {
	if b.Ended.IsZero() {
		return false
	}
	identity := fmt.Sprintf("%s %d %s %s %s %s %s", b.ID, b.Ended.UnixMilli(), f.name, r.URL.RawQuery, r.Lang,
		time.Now().In(localtime.Zone).Format(time.DateOnly), programVersion())
	sum := sha256.Sum256([]byte(identity))
	tag := `W/"` + hex.EncodeToString(sum[:8]) + `"` // weak: the response may be compressed
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", "private, no-cache")
	w.Header().Add("Vary", "Accept")
	for known := range strings.SplitSeq(strings.Join(r.Header.Values("If-None-Match"), ","), ",") {
		if known = strings.TrimSpace(known); known == "*" || strings.TrimPrefix(known, "W/") == strings.TrimPrefix(tag, "W/") {
			w.WriteHeader(http.StatusNotModified)
			return true
		}
	}
	return false
}

// programVersion says what the program was built of.
var programVersion = sync.OnceValue(func() string {
	info, _ := debug.ReadBuildInfo()
	return fmt.Sprint(info)
})
