package app

import (
	"context"
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// startMetrics serves /metrics.
func (a *App) startMetrics(ctx context.Context) error {
	listener, err := Listen(ctx, a.options.MetricsAddr)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(a.registry, promhttp.HandlerOpts{}))
	a.started.Add(Serve(listener, mux, func(err error) { a.fail(fmt.Errorf("metrics stopped: %w", err)) }))
	a.log.Info("metrics listening", "address", listener.Addr().String())
	return nil
}
