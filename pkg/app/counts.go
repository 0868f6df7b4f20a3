package app

import (
	"log/slog"
	"slices"
	"sync"

	"ushuru/pkg/ai"
	"ushuru/pkg/cache"
	"ushuru/pkg/jobs"
	"ushuru/pkg/keys"
	"ushuru/pkg/listing/sites"
	"ushuru/pkg/message"
	"ushuru/pkg/metrics"
	"ushuru/pkg/tra"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// The caches of the authority's answers, besides those of package cache.
const (
	cacheTaxes = "tra_tax"
	cacheLists = "tra_list"
)

// newMetrics returns the metrics of the process, with all their label values.
func (a *App) newMetrics() *metrics.Metrics {
	o := metrics.Options{
		Steps: tasks.StepTypes(), Codes: errorCodes(), Calls: tra.Calls,
		Caches: append(slices.Clone(cache.Names), cacheTaxes, cacheLists), Channels: channels,
		SiteOf: sites.NameOf, Version: a.options.Version, Commit: a.options.Commit,
		Recorder:   metrics.NewRecorder(metrics.RecorderOptions{Redis: a.options.Redis.Client(), HostOf: sites.HostOf}),
		MatchedBy:  []string{string(vehicle.ByCode), string(vehicle.ByAI), string(vehicle.ByName), string(vehicle.ByCaller)},
		Confidence: []string{string(vehicle.High), string(vehicle.Medium), string(vehicle.Low)},
	}
	if worker := a.options.Worker; worker != nil {
		o.Fetches, o.Asks = slices.Contains(worker.Roles, tasks.RoleAny), slices.Contains(worker.Roles, tasks.RoleAuthority)
	}
	o.AI = ai.Outcomes()
	for _, kind := range tra.Kinds {
		o.Kinds = append(o.Kinds, string(kind))
	}
	for _, site := range sites.All() {
		o.Sites = append(o.Sites, site.Name)
	}
	return metrics.New(o)
}

// channels are those of Redis that processes listen to.
var channels = []string{jobs.ChannelEnqueued, jobs.ChannelEnded, keys.ChannelChanged}

// refused returns what counts a message that could not be taken. The first of each channel
// is logged: a sender that sends many must not fill the log.
func refused(counts *metrics.Metrics, log *slog.Logger) func(channel string, cause error) {
	var logged sync.Map
	return func(channel string, cause error) {
		counts.Count("redis_messages_refused_total", channel)
		if _, again := logged.LoadOrStore(channel, true); !again {
			log.Error("a message on a channel of Redis was refused; further ones are only counted",
				"channel", channel, "cause", cause)
		}
	}
}

// errorCodes returns the codes of all errors, without details of the sentences.
func errorCodes() (codes []string) {
	for _, key := range message.Keys("error") {
		codes = append(codes, message.CodeOf(key))
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// cacheOf returns the name of the cache of the authority's taxes or lists.
func cacheOf(tax bool) string {
	if tax {
		return cacheTaxes
	}
	return cacheLists
}

// Metrics returns the metrics of the process.
func (a *App) Metrics() *metrics.Metrics { return a.metrics }
