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
)

// get returns what the API answers to a GET of a path with its query.
func get[T any](ctx context.Context, c *Client, path string, query url.Values) (*T, error) {
	return call[T](ctx, c, Request{Path: withQuery(path, query)})
}

// create returns what the API answers to a POST that is carried out once, however often
// it is sent. A nil body is none.
func create[T any](ctx context.Context, c *Client, path string, body any) (*T, error) {
	r := Request{Method: http.MethodPost, Path: path, Header: http.Header{"Idempotency-Key": {rand.Text()}}}
	if body != nil {
		var err error
		if r.Body, err = json.Marshal(body); err != nil {
			return nil, fmt.Errorf("client: request: %w", err)
		}
	}
	return call[T](ctx, c, r)
}

// call returns what the API answers to a request.
func call[T any](ctx context.Context, c *Client, r Request) (*T, error) {
	response, err := c.Do(ctx, r)
	if err != nil {
		return nil, err
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

// list returns the entries of a list, page after page; field has them in a page. The
// iteration ends with the first error.
func list[T any](ctx context.Context, c *Client, path, field string, query url.Values) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		query := maps.Clone(query)
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
	found, err := get[map[string]json.RawMessage](ctx, c, path, query)
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

// setText sets a parameter unless its value is empty.
func setText(query url.Values, name, value string) {
	if value != "" {
		query.Set(name, value)
	}
}
