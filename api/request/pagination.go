package request

import (
	"net/http"
	"net/url"
	"strconv"
)

const (
	defaultPageSize = 100
	maxPageSize     = 1000
)

// PageSize parses the parameter "limit" of lists of batches and rows.
func PageSize(query url.Values) (int, error) {
	text := query.Get("limit")
	if text == "" {
		return defaultPageSize, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxPageSize {
		return 0, ErrPageInvalid
	}
	return n, nil
}

// SetNext says in the header Link where the page of a list is that begins at a cursor, and
// returns the cursor; "" for none.
func SetNext(w http.ResponseWriter, u *url.URL, cursor string) string {
	if cursor != "" {
		query := u.Query()
		query.Set("cursor", cursor)
		w.Header().Set("Link", "<"+u.EscapedPath()+"?"+query.Encode()+`>; rel="next"`)
	}
	return cursor
}

// Paginate returns the page that a request wants of a list in memory, and the cursor of the
// next one.
func Paginate[T any](query url.Values, all []T) (page []T, next string, err error) {
	limit, err := PageSize(query)
	if err != nil {
		return nil, "", err
	}
	from, err := Cursor(query)
	if err != nil {
		return nil, "", err
	}
	from = min(from, len(all))
	to := min(from+limit, len(all))
	if to < len(all) {
		next = strconv.Itoa(to)
	}
	return all[from:to:to], next, nil
}

// Cursor parses the parameter "cursor" of lists that are read by the number of a row.
func Cursor(query url.Values) (from int, err error) {
	text := query.Get("cursor")
	if text == "" {
		return 0, nil
	}
	if from, err = strconv.Atoi(text); err != nil || from < 0 {
		return 0, ErrPageInvalid
	}
	return from, nil
}
