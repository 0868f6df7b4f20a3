package api

import (
	"net/http"
	"strconv"
)

const (
	defaultPageSize = 100
	maxPageSize     = 1000
)

// pageSize parses the parameter "limit" of lists of batches and rows.
func pageSize(r *http.Request) (int, error) {
	text := r.URL.Query().Get("limit")
	if text == "" {
		return defaultPageSize, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxPageSize {
		return 0, errPageInvalid
	}
	return n, nil
}
