package cli

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics makes the process's counters and shows them at /metrics of an
// address; with an empty one they are counted and shown nowhere.
func (r *run) metrics(at address) (*prometheus.Registry, error) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if at == "" {
		return registry, nil
	}
	listener, err := r.listen(at)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	r.serve(listener, mux)
	r.log.Info("metrics are shown", "address", listener.Addr().String())
	return registry, nil
}
