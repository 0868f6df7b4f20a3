package api

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/gorilla/mux"

	"ushuru/pkg/cache"
	"ushuru/pkg/sheet"
	"ushuru/tasks"

	"ushuru/pkg/sheet/render"
)

// getDamageMap answers GET /v1/condition-report/{id}/map.svg: the unfolded car
// with the codes of a sheet that has been read. Any good key may see it: an id
// says nothing to who has not the sheet.
func (s *Server) getDamageMap(w http.ResponseWriter, r *http.Request) error {
	lang, err := parseLanguage(r.URL.Query().Get("lang"))
	if err != nil {
		return err
	}
	kept, err := s.cachedResult(r.Context(), cache.ReadingKey(mux.Vars(r)["id"]))
	if err != nil {
		return err
	}
	if kept == nil {
		return errReportNotFound
	}
	var (
		reading tasks.Reading
		report  sheet.Report
	)
	if err := json.Unmarshal(kept, &reading); err != nil {
		return fmt.Errorf("api: kept reading: %w", err)
	}
	if err := json.Unmarshal(reading.Report, &report); err != nil {
		return fmt.Errorf("api: kept reading: %w", err)
	}
	h := w.Header()
	h.Set("Content-Type", "image/svg+xml; charset=utf-8")
	// Opened by itself it is a page: it may style itself, and nothing else.
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'")
	w.WriteHeader(http.StatusOK)
	// What was read is escaped there; Write fails only when the caller is gone.
	_, _ = w.Write(render.Map(&report, lang)) //nolint:gosec // see above
	return nil
}
