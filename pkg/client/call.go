package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
)

// Option changes one call.
type Option func(*callOptions)

type callOptions struct {
	key      string
	progress func(*Job)
}

// WithIdempotencyKey names a request, so that the same request in another process, or
// after a crash, has the same outcome for 24 hours. Without it the client names a
// request that creates something by itself.
func WithIdempotencyKey(key string) Option { return func(o *callOptions) { o.key = key } }

// WithProgress calls a function with the job when its state or progress changes, while
// the call waits for it.
func WithProgress(progress func(*Job)) Option {
	return func(o *callOptions) { o.progress = progress }
}

func optionsOf(options []Option) (o callOptions) {
	for _, option := range options {
		option(&o)
	}
	return o
}

// get returns what the API answers to a GET of a path with its query.
func get[T any](ctx context.Context, c *Client, path string, query url.Values) (*T, error) {
	return call[T](ctx, c, Request{Path: withQuery(path, query)})
}

// create returns what the API answers to a POST that is carried out once, however often
// it is sent. A nil body is none.
func create[T any](ctx context.Context, c *Client, path string, body any, options []Option) (*T, error) {
	r := Request{Method: http.MethodPost, Path: path, Header: http.Header{}}
	if body != nil {
		var err error
		if r.Body, err = json.Marshal(body); err != nil {
			return nil, fmt.Errorf("client: request: %w", err)
		}
	}
	return call[T](ctx, c, named(r, options))
}

// named gives a request its Idempotency-Key.
func named(r Request, options []Option) Request {
	key := optionsOf(options).key
	if key == "" {
		key = rand.Text()
	}
	r.Header.Set("Idempotency-Key", key)
	return r
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

// Raw is the answer as the API wrote it. It may have fields that this version of the
// client does not know.
type Raw struct {
	JSON json.RawMessage `json:"-"`
}

func (r *Raw) keep(data json.RawMessage) { r.JSON = data }

// pages returns the entries of a list, page after page. The iteration ends with the
// first error.
func pages[T any](
	ctx context.Context, path string, query url.Values,
	page func(ctx context.Context, path string) (entries []T, next string, err error),
) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		query := cloned(query)
		for {
			entries, next, err := page(ctx, withQuery(path, query))
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range entries {
				if !yield(&entries[i], nil) {
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

func cloned(query url.Values) url.Values {
	result := url.Values{}
	for name, values := range query {
		result[name] = append([]string(nil), values...)
	}
	return result
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
