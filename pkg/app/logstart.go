package app

import (
	"context"
	"errors"
	"runtime"

	"ushuru/pkg/ai"
	"ushuru/pkg/fetch"
	"ushuru/pkg/redisx"
	"ushuru/pkg/tra"
	"ushuru/pkg/trace"
	"ushuru/tasks"
)

// logStart logs what the process is, and what of it is on and off.
func (a *App) logStart() {
	o := a.options
	attrs := []any{
		"version", o.Version, "commit", o.Commit, "go", runtime.Version(), "redis", o.Redis.String(),
		"redis_embedded", o.Redis.Embedded(), "api", o.API != nil, "admin", o.Admin.Addr,
		"webhook_keys_sealed", o.Secrets.Seals(),
		"allow_loopback", o.AllowLoopback, "simulated", o.Simulated,
		"traces", o.Traces.URL != "",
	}
	if o.API != nil {
		attrs = append(attrs, "pages", o.API.Page.Enabled, "monitoring", o.API.MonitoringPassword != "",
			"wait_replicas", o.API.WaitReplicas)
	}
	roles := []tasks.Role{}
	if o.Worker != nil {
		roles = o.Worker.Roles
		models := make([]string, 0, len(o.Worker.AI.Endpoints))
		for _, endpoint := range o.Worker.AI.Endpoints {
			models = append(models, endpoint.Model+" at "+endpoint.BaseURL)
		}
		attrs = append(attrs, "ai_models", models, "authority_proxy", o.Worker.Authority.Proxy != "",
			"fetch_rate", o.Worker.Fetch.Rate, "authority_rate", o.Worker.AuthorityRate)
	}
	a.log.Info("starting", append(attrs, "roles", roles)...)
}

// isRedisAway reports whether an error means that Redis is away, and nothing else is: the
// failures of other services have types of their own.
func isRedisAway(err error) bool {
	if _, ok := errors.AsType[*tra.Error](err); ok {
		return false
	}
	if _, ok := errors.AsType[*fetch.Error](err); ok {
		return false
	}
	if _, ok := errors.AsType[*ai.Error](err); ok {
		return false
	}
	if _, ok := errors.AsType[*tasks.StepError](err); ok {
		return false
	}
	return redisx.IsUnavailable(err)
}

// addTraces begins to record traces, if there is a collector for them.
func (a *App) addTraces() error {
	o := a.options.Traces
	o.Log, o.Version, o.Service = a.log, a.options.Version, "ushuru-worker"
	if a.options.API != nil {
		o.Service = "ushuru-api"
	}
	traces, err := trace.New(context.Background(), o)
	if traces == nil || err != nil {
		return err
	}
	a.traces = traces
	a.opened.Add(a.traces.Close)
	a.options.Redis.Client().AddHook(trace.Redis{})
	return nil
}
