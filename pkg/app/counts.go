package app

import (
	"slices"

	"ushuru/pkg/cache"
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
		Caches: append(slices.Clone(cache.Names), cacheTaxes, cacheLists),
		SiteOf: sites.NameOf, Version: a.options.Version, Commit: a.options.Commit,
		OnStep: a.recordStep, OnCall: a.recordCall, OnAnswer: a.recordAnswer,
		MatchedBy:  []string{string(vehicle.ByCode), string(vehicle.ByAI), string(vehicle.ByName), string(vehicle.ByCaller)},
		Confidence: []string{string(vehicle.High), string(vehicle.Medium), string(vehicle.Low)},
	}
	for _, kind := range tra.Kinds {
		o.Kinds = append(o.Kinds, string(kind))
	}
	for _, site := range sites.All() {
		o.Sites = append(o.Sites, site.Name)
	}
	return metrics.New(o)
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

// counts returns what counts the work of the process; nil counts nothing.
func (a *App) counts() *metrics.Metrics {
	if a.options.Uncounted {
		return nil
	}
	return a.metrics
}
