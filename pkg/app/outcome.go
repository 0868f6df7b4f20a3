package app

import (
	"context"
	"errors"
	"time"

	"ushuru/pkg/metrics"
	"ushuru/pkg/tra"
)

// countCall counts a call to the authority.
func (a *App) countCall(name string, took time.Duration, err error) {
	kind := string(tra.KindOf(err))
	switch {
	case kind != "" || err == nil:
	case errors.Is(err, context.Canceled):
		kind = metrics.Gone
	default: // its time was up
		kind = string(tra.Unavailable)
	}
	a.metrics.Call(metrics.Call{To: metrics.Authority, Name: name, Kind: kind, Took: took})
}
