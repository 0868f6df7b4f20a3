package api

import (
	"net/http"

	listingsites "ushuru/pkg/listing/sites"
)

// sites lists the listing sites that are known and what each can give.
func sites(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, map[string][]listingsites.Info{"sites": listingsites.All()})
}
