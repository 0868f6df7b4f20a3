package reports

import (
	"net/http"

	"github.com/gorilla/mux"

	"ushuru/api/respond"
	"ushuru/pkg/cache"
	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/render"
)

// getDamageMap answers GET /v1/condition-report/{id}/map.svg: the unfolded car
// with the damage codes of a sheet that was read. Any valid key may see it: an
// id cannot be guessed without the sheet.
func (s *Resource) getDamageMap(w http.ResponseWriter, r *http.Request) error {
	lang := respond.RecorderOf(r).Lang
	reading, err := s.options.Work.CachedResult(r.Context(), cache.ReadingKey(mux.Vars(r)["id"]))
	if err != nil {
		return err
	}
	if reading == nil {
		return errNotFound
	}
	_, report, err := sheet.ParseReading(reading)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "image/svg+xml; charset=utf-8")
	// A browser that opens the drawing as a page may apply its styles, nothing else.
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'")
	w.WriteHeader(http.StatusOK)
	// Map escapes what was read; Write fails only when the caller has disconnected.
	_, _ = w.Write(render.Map(report, lang)) //nolint:gosec // see above
	return nil
}
