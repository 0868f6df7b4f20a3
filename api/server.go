// Package api serves Ushuru's HTTP API. A handler checks the key and the
// request, looks for a cached result, submits a job to the task engine and
// waits for its result. The package never calls a listing site, an AI or TRA;
// the workers do. openapi.yaml describes every response, and the tests check
// every response against it.
package api

import (
	"context"
	"errors"
	"time"

	"github.com/gorilla/mux"
)

// redisTimeout bounds every call of Redis, so that no request hangs on a Redis
// that does not answer. The client must obey contexts
// (redis.Options.ContextTimeoutEnabled, which redisx sets).
const redisTimeout = 3 * time.Second

// Server serves every endpoint of the API. It is an http.Handler.
type Server struct {
	options  Options
	router   *mux.Router
	draining context.Context //nolint:containedctx // the life of the server, not of a call
	drain    context.CancelFunc
	streams  streams
	forms    formSlots
	ui       *monitoring // nil without a monitoring password
}

// New makes a Server, or returns an error that names the missing parts. Close
// it at the end.
func New(options Options) (*Server, error) {
	if err := options.check(); err != nil {
		return nil, err
	}
	if err := options.setDefaults(); err != nil {
		return nil, err
	}
	s := &Server{options: options, forms: make(formSlots, maxConcurrentForms)}
	s.draining, s.drain = context.WithCancel(context.Background())
	if err := s.routes(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Drain ends all waits: requests that wait for a job respond with its URL, event
// streams end, and /readyz answers 503. Use it with
// http.Server.RegisterOnShutdown.
func (s *Server) Drain() { s.drain() }

// Close drains the server and closes the connections that New opened. The
// stores of Options stay open.
func (s *Server) Close() error {
	s.drain()
	if s.ui == nil {
		return nil
	}
	return s.ui.Close()
}
