package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"ushuru/api"
	"ushuru/api/problem"
	"ushuru/pkg/ai"
	"ushuru/pkg/connlimit"
	"ushuru/pkg/pace"
)

// shutdownTimeout bounds how long open requests may take when the API stops.
const shutdownTimeout = 10 * time.Second

// APIOptions are about the API.
type APIOptions struct {
	Listener net.Listener // where requests arrive; New takes it over
	WaitMax  time.Duration
	// DrainDelay is how long Stop still accepts requests, while /readyz answers 503,
	// so that a balancer has time to send them elsewhere.
	DrainDelay time.Duration
	// WaitReplicas is how many replicas of Redis must confirm what is answered with
	// 202 or 201; else the answer is 503.
	WaitReplicas int
	Limits       pace.Limits // of keys that have none of their own

	// Connections bounds the open connections; its Log and Metrics are set by New.
	Connections connlimit.Options

	Page api.PageOptions // the pages for buyers

	MonitoringUser     string
	MonitoringPassword string // "" disables /monitoring
	MonitoringWritable bool
}

func (a *App) newAPI(o APIOptions) (*api.Server, error) {
	conn, s := a.options.Redis, a.stores
	limits := o.Limits
	limits.AITokens = a.options.KeyAITokens
	server, err := api.New(api.Options{
		Redis: conn.Client(), Jobs: s.jobs, Hub: s.hub, Tasks: s.engine, Batches: s.batches, Cache: s.cache,
		Catalogue: s.catalogue, Drift: s.drift, Verify: s.keys.Verify,
		Rates: s.rates, Processor: s.processor, Bytes: s.bytes, Webhooks: s.webhooks,
		AIUsage: func(ctx context.Context, key string) (int64, time.Time, error) {
			return ai.KeyUsage(ctx, conn.Client(), key, time.Now())
		},
		Confirm: func(ctx context.Context) error { return conn.AwaitReplicas(ctx, o.WaitReplicas) },
		Costs:   a.options.Costs, Sheets: a.options.Sheets, Log: a.log,
		WaitMax: o.WaitMax, Limits: limits, AllowLoopback: a.options.AllowLoopback, Simulated: a.options.Simulated,
		AsynqRedis: conn.AsynqOpt(), MonitoringUser: o.MonitoringUser, MonitoringPassword: o.MonitoringPassword,
		Page: o.Page, MonitoringWritable: o.MonitoringWritable, TrustedProxies: o.Connections.Trusted,
		Metrics: a.metrics, Traces: a.traces,
	})
	if err != nil {
		return nil, err
	}
	a.opened.Add(func() { _ = server.Close() })
	return server, nil
}

// startAPI starts the server.
func (a *App) startAPI(ctx context.Context, o APIOptions) {
	server := &http.Server{
		Handler:           a.api,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      o.WaitMax + 30*time.Second,
		IdleTimeout:       30 * time.Second,
		MaxHeaderBytes:    16 << 10,
		ConnState:         connlimit.ConnState,
		ConnContext:       connlimit.ConnContext,
		ErrorLog:          slog.NewLogLogger(a.log.Handler(), slog.LevelWarn),
	}
	o.Connections.Log, o.Connections.Metrics, o.Connections.Translate = a.log, a.metrics, problem.Translate
	ended := serve(server, connlimit.Listen(o.Listener, o.Connections), func(err error) {
		a.fail(fmt.Errorf("the API stopped: %w", err))
	})
	a.stopAPI = func() {
		a.api.SetUnready()
		if o.DrainDelay > 0 {
			a.log.Info("API not ready any more; still accepting requests", "for", o.DrainDelay.String())
			time.Sleep(o.DrainDelay)
		}
		a.api.Drain()
		stopping, done := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer done()
		err := server.Shutdown(stopping)
		if err != nil { // requests that did not end in time
			err = errors.Join(err, server.Close())
		}
		<-ended
		a.log.Info("API stopped", "error", err)
	}
	a.log.Info("API listening", "address", o.Listener.Addr().String())
}

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
