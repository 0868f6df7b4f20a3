package api

import (
	"errors"
	"net/http"

	"ushuru/api/problem"
	"ushuru/api/respond"
	"ushuru/pkg/fetch"
	"ushuru/pkg/listing"
	listingsites "ushuru/pkg/listing/sites"
)

// canonicalURL returns the canonical form of a listing's URL, or says what is
// wrong with it.
func (s *Server) canonicalURL(raw string) (string, error) {
	if raw == "" {
		return "", errURLMissing
	}
	url, err := listing.Canonical(raw, s.options.AllowLoopback)
	return url, urlProblem(err)
}

// urlProblem returns the response of a URL that was rejected.
func urlProblem(err error) error {
	public, ok := errors.AsType[*fetch.Error](err)
	if !ok {
		return err
	}
	return problem.Because(http.StatusBadRequest, public.Notice, err).Of("url")
}

// sites answers GET /v1/sites: the supported listing sites and what each
// provides.
func sites(w http.ResponseWriter, _ *http.Request) error {
	return respond.JSON(w, http.StatusOK, map[string][]listingsites.Info{"sites": listingsites.All()})
}
