package app

import (
	"context"
	"errors"
	"time"

	"ushuru/pkg/ai"
	"ushuru/pkg/stat"
	"ushuru/pkg/tra"
)

// countCall counts a call to the authority. One whose caller went away is none.
func (a *App) countCall(name string, took time.Duration, err error) {
	call := stat.Call{To: stat.Authority, Name: name, Code: stat.OK, Took: took}
	if failed, ok := errors.AsType[*tra.Error](err); ok {
		call.Code = string(failed.Kind)
	} else if errors.Is(err, context.Canceled) {
		return
	} else if err != nil {
		call.Code = string(tra.Unavailable)
	}
	a.stat.Call(call)
}

// countAICall counts a call of a model.
func (a *App) countAICall(call ai.Call) {
	a.stat.Call(stat.Call{
		To: stat.AI, Name: call.Usage.Model, Code: call.Outcome, Took: call.Took, Failover: call.Failover,
		Tokens: call.Usage.PromptTokens + call.Usage.CompletionTokens, Cost: call.Usage.Dollars,
	})
}
