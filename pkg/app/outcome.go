package app

import (
	"cmp"
	"context"
	"errors"
	"time"

	"ushuru/pkg/ai"
	"ushuru/pkg/fetch"
	"ushuru/pkg/metrics"
	"ushuru/pkg/stat"
	"ushuru/pkg/tra"
)

// recordStep counts for the console a step that the metrics have counted. An attempt that
// waited for the pace of its site, and one that found nothing to do yet, were not made.
func (a *App) recordStep(s metrics.Step) {
	step := stat.Step{Site: s.Host, Type: s.Kind + ":" + s.Step, Code: s.Code, Took: s.Took, Job: s.Job}
	switch s.Outcome {
	case metrics.Completed:
		step.Code = stat.OK
	case metrics.Failed:
	case metrics.Retried:
		step.Retried = true
	case metrics.Postponed:
		if s.Code == "" || s.Code == fetch.HostBusy || s.Code == metrics.Unavailable {
			return
		}
		step.Retried = true
	case metrics.Cancelled:
		return
	}
	a.stat.Step(step)
}

// recordCall counts for the console a call that the metrics have counted. One whose caller
// went away is none.
func (a *App) recordCall(c metrics.Call) {
	if c.Kind == metrics.Gone {
		return
	}
	call := stat.Call{
		To: c.To, Name: c.Name, Code: stat.OK, Took: c.Took, Tokens: c.Tokens, Cost: c.Dollars, Failover: c.Failover,
	}
	if c.Kind != "" {
		call.Code = c.Kind
	}
	a.stat.Call(call)
}

// recordAnswer counts for the console an answer of the API.
func (a *App) recordAnswer(code string) {
	a.stat.Call(stat.Call{To: stat.API, Name: stat.Answers, Code: cmp.Or(code, stat.OK)})
}

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
	a.metrics.Call(metrics.Call{To: stat.Authority, Name: name, Kind: kind, Took: took})
}

// countAICall counts a call of a model.
func (a *App) countAICall(call ai.Call) {
	kind := call.Outcome
	if kind == stat.OK {
		kind = ""
	}
	a.metrics.Call(metrics.Call{
		To: stat.AI, Name: call.Usage.Model, Kind: kind, Took: call.Took, Failover: call.Failover,
		Tokens: call.Usage.PromptTokens + call.Usage.CompletionTokens, Dollars: call.Usage.Dollars,
	})
}
