package receive

import (
	"errors"
	"net/http"
	"strconv"

	"ushuru/api/problem"
	"ushuru/pkg/fetch"
	"ushuru/pkg/listing"
)

// ListingURL returns the canonical form of a listing's URL, or says what is
// wrong with it.
func ListingURL(raw string, allowLoopback bool) (string, error) {
	if raw == "" {
		return "", ErrURLMissing
	}
	url, err := listing.Canonical(raw, allowLoopback)
	return url, URLProblem(err)
}

// URLProblem returns the response of a URL that was rejected.
func URLProblem(err error) error {
	public, ok := errors.AsType[*fetch.Error](err)
	if !ok {
		return err
	}
	return problem.Because(http.StatusBadRequest, public.Notice, err).Of("url")
}

const (
	defaultPageSize = 100
	maxPageSize     = 1000
)

// PageSize parses the parameter "limit" of lists of batches and rows.
func PageSize(r *http.Request) (int, error) {
	text := r.URL.Query().Get("limit")
	if text == "" {
		return defaultPageSize, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxPageSize {
		return 0, ErrPageInvalid
	}
	return n, nil
}
