package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"ushuru/pkg/redisx"
	"ushuru/tasks"
)

const (
	// scrapesAtOnce bounds how many scrapes wait for a Redis that does not answer.
	scrapesAtOnce = 4
	scrapeTimeout = 10 * time.Second
)

// Admin is the address for operators: /metrics, /healthz, /readyz and, from this machine
// only, /debug/pprof. It has no authentication.
type Admin struct {
	Addr string // "" serves none
	// Optional means that the process goes on without, when the address is taken.
	Optional bool
}

// ready says whether the process can do its work.
type ready struct{ started, stopping atomic.Bool }

// startAdmin serves the address for operators.
func (a *App) startAdmin(ctx context.Context) error {
	if a.options.Admin.Addr == "" {
		return nil
	}
	listener, err := Listen(ctx, a.options.Admin.Addr)
	if err != nil {
		if a.options.Admin.Optional && errors.Is(err, syscall.EADDRINUSE) {
			a.log.Warn("no metrics of this process: the default of ADMIN_ADDR is taken; set another",
				"address", a.options.Admin.Addr)
			return nil
		}
		return err
	}
	a.started.Add(Serve(listener, a.adminHandler(), func(err error) { a.fail(fmt.Errorf("admin address stopped: %w", err)) }))
	a.log.Info("admin address listening", "address", listener.Addr().String())
	return nil
}

func (a *App) adminHandler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(a.metrics.Registry(), promhttp.HandlerOpts{
		MaxRequestsInFlight: scrapesAtOnce, Timeout: scrapeTimeout, ErrorHandling: promhttp.ContinueOnError,
	}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "ok\n")
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if err := a.checkReady(r.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, "ready\n")
		for _, queue := range a.pausedQueues(r.Context()) {
			_, _ = fmt.Fprintf(w, "the queue %s is paused: ushuru queues resume %[1]s\n", queue)
		}
	})
	for path, handler := range map[string]http.HandlerFunc{
		"": pprof.Index, "cmdline": pprof.Cmdline, "profile": pprof.Profile, "symbol": pprof.Symbol, "trace": pprof.Trace,
	} {
		mux.HandleFunc("GET /debug/pprof/"+path, fromThisMachine(handler))
	}
	return mux
}

// fromThisMachine answers only callers on this machine: a profile costs processor time
// and shows what the process does.
func fromThisMachine(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		from, err := netip.ParseAddrPort(r.RemoteAddr)
		if err != nil || !from.Addr().Unmap().IsLoopback() {
			http.Error(w, "only from this machine", http.StatusForbidden)
			return
		}
		next(w, r)
	}
}

// checkReady returns why the process cannot do its work now.
func (a *App) checkReady(ctx context.Context) error {
	switch {
	case !a.ready.started.Load():
		return errors.New("starting")
	case a.ready.stopping.Load():
		return errors.New("stopping")
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := redisx.CheckWrite(ctx, a.options.Redis.Client()); err != nil {
		return errors.New("no write to Redis succeeds")
	}
	return nil
}

// pausedQueues returns the queues that an operator has paused, of those whose tasks this process
// takes. Its work stands still then, and other processes would do no better.
func (a *App) pausedQueues(ctx context.Context) []string {
	if a.options.Worker == nil {
		return nil
	}
	paused, _ := tasks.PausedQueues(ctx, a.options.Redis.Client()) // it can serve all the same
	return slices.DeleteFunc(paused, func(queue string) bool {
		return !slices.ContainsFunc(a.options.Worker.Roles, func(role tasks.Role) bool { return tasks.QueuesOf(role)[queue] > 0 })
	})
}
