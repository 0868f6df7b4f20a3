package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"ushuru/pkg/pace"
)

// pollInterval is the time between two readings of what has not ended.
const pollInterval = 500 * time.Millisecond

// Send calls an operation of the API, such as "GET /v1/jobs/ID", with a body unless it is nil. A
// POST is carried out once, however often it is sent.
func Send[T any](ctx context.Context, c *Client, operation string, body any) (*T, error) {
	method, path, _ := strings.Cut(operation, " ")
	r, err := posted(path, body)
	if err != nil {
		return nil, err
	}
	if r.Method = method; method == http.MethodPost {
		r.Header = http.Header{"Idempotency-Key": {rand.Text()}}
	}
	return call[T](ctx, c, r)
}

// posted returns a request with a body unless it is nil.
func posted(path string, body any) (r Request, err error) {
	r.Path = path
	if body != nil {
		if r.Body, err = json.Marshal(body); err != nil {
			return r, fmt.Errorf("client: request: %w", err)
		}
	}
	return r, nil
}

// call returns what the API answers to a request.
func call[T any](ctx context.Context, c *Client, r Request) (*T, error) {
	response, err := c.Do(ctx, r)
	if err != nil {
		return nil, err
	}
	if response.Status == http.StatusNoContent {
		return new(T), nil // of what was deleted
	}
	return decode[T](response.Body)
}

func decode[T any](data []byte) (*T, error) {
	result := new(T)
	if err := json.Unmarshal(data, result); err != nil {
		return nil, fmt.Errorf("client: response: %w", err)
	}
	if raw, ok := any(result).(interface{ keep(data json.RawMessage) }); ok {
		raw.keep(data)
	}
	return result, nil
}

// Raw is the answer as the API wrote it, and as it is written again: the types of this
// package have the fields that the commands use.
type Raw struct { //nolint:recvcheck // values are encoded too
	JSON json.RawMessage `json:"-"`
}

func (r *Raw) keep(data json.RawMessage) { r.JSON = data }

// MarshalJSON implements json.Marshaler.
func (r Raw) MarshalJSON() ([]byte, error) { return r.JSON, nil }

// List returns the entries of a list, page after page; field has them in a page. The
// iteration ends with the first error.
func List[T any](ctx context.Context, c *Client, path, field string, query url.Values) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		query := maps.Clone(query)
		if query == nil {
			query = url.Values{}
		}
		for {
			entries, next, err := page[T](ctx, c, path, field, query)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, entry := range entries {
				if !yield(entry, nil) {
					return
				}
			}
			if next == "" {
				return
			}
			query.Set("cursor", next)
		}
	}
}

// page returns one page of a list, and the cursor of the next one.
func page[T any](ctx context.Context, c *Client, path, field string, query url.Values) (entries []*T, next string, err error) {
	found, err := Send[map[string]json.RawMessage](ctx, c, "GET "+withQuery(path, query), nil)
	if err != nil {
		return nil, "", err
	}
	raw, err := decode[[]json.RawMessage]((*found)[field])
	if err != nil {
		return nil, "", err
	}
	for _, data := range *raw {
		entry, err := decode[T](data)
		if err != nil {
			return nil, "", err
		}
		entries = append(entries, entry)
	}
	_ = json.Unmarshal((*found)["next"], &next) // the last page has none
	return entries, next, nil
}

func withQuery(path string, query url.Values) string {
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// Follow reads what is at a path until it has ended, and returns it. It tells of every reading.
func Follow[T any, P interface {
	*T
	HasEnded() bool
}](ctx context.Context, c *Client, path string, tell ...func(*T)) (*T, error) {
	wait := http.Header{"Prefer": {"wait=25"}} // proxies cut what takes longer
	if len(tell) > 0 {
		wait.Set("Prefer", "wait=1")
	}
	for {
		now, err := call[T](ctx, c, Request{Path: path, Header: wait})
		if err != nil {
			return nil, err
		}
		for _, told := range tell {
			told(now)
		}
		if P(now).HasEnded() {
			return now, nil
		}
		if err := pace.Sleep(ctx, pollInterval); err != nil {
			return nil, err
		}
	}
}
