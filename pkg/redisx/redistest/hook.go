package redistest

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// Hook calls a function before each command of a client that is not in a pipeline. With an error the
// command is not sent, and the error is its own.
type Hook func(redis.Cmder) error

// DialHook implements redis.Hook.
func (Hook) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessPipelineHook implements redis.Hook.
func (Hook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// ProcessHook implements redis.Hook.
func (h Hook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, command redis.Cmder) error {
		if err := h(command); err != nil {
			command.SetErr(err)
			return err
		}
		return next(ctx, command)
	}
}
