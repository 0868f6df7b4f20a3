package api

import (
	"net/http"

	"ushuru/pkg/listing"
)

// sites lists the listing sites that are known and what each can give.
func sites(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, map[string][]listing.SiteInfo{"sites": listing.Sites()})
}
