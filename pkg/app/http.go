package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Listen opens a TCP port. An address is host:port or :port.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", address, err)
	}
	return listener, nil
}

// Serve answers the requests that reach a listener, in a goroutine of its own.
// onFail is called when the server ends by itself. stop closes the listener and
// all connections, and returns when the goroutine has ended.
func Serve(listener net.Listener, handler http.Handler, onFail func(error)) (stop func()) {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	ended := serve(server, listener, onFail)
	return func() {
		_ = server.Close()
		<-ended
	}
}

// serve runs a server in a goroutine and closes ended when that has returned.
func serve(server *http.Server, listener net.Listener, onFail func(error)) (ended <-chan struct{}) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			onFail(err)
		}
	}()
	return done
}
