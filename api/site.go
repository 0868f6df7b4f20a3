package api

import (
	"net/http"

	listingsites "ushuru/pkg/listing/sites"
)

// sites answers GET /v1/sites: the supported listing sites and what each
// provides.
func sites(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, map[string][]listingsites.Info{"sites": listingsites.All()})
}
