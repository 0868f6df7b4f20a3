package client

import (
	"context"
	"encoding/json"
	"fmt"
)

// get returns what the API answers to a GET of a path with its query.
func get[T any](ctx context.Context, c *Client, path string) (*T, error) {
	return call[T](ctx, c, Request{Path: path})
}

// call returns what the API answers to a request.
func call[T any](ctx context.Context, c *Client, r Request) (*T, error) {
	response, err := c.Do(ctx, r)
	if err != nil {
		return nil, err
	}
	result := new(T)
	if err := json.Unmarshal(response.Body, result); err != nil {
		return nil, fmt.Errorf("client: %s: %w", r.Path, err)
	}
	return result, nil
}
