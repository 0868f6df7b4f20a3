package app

import (
	"context"
	"errors"
	"time"

	"ushuru/pkg/ai"
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

// countAICall counts a call of a model.
func (a *App) countAICall(call ai.Call) {
	kind := call.Outcome
	if kind == metrics.OK {
		kind = ""
	}
	a.metrics.Call(metrics.Call{
		To: metrics.AI, Name: call.Usage.Model, Kind: kind, Took: call.Took, Failover: call.Failover,
		Tokens: call.Usage.PromptTokens + call.Usage.CompletionTokens,
	})
}
