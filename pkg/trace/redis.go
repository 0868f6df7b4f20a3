package trace

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// Redis is a hook of a client that records the commands of spans. The arguments of
// commands are not recorded.
type Redis struct{}

// DialHook implements redis.Hook.
func (Redis) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (Redis) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, command redis.Cmder) error {
		_, span := Start(ctx, Client, "redis "+command.Name(), "db.system", "redis")
		err := next(ctx, command)
		span.End(failureOf(err))
		return err
	}
}

// ProcessPipelineHook implements redis.Hook.
func (Redis) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, commands []redis.Cmder) error {
		_, span := Start(ctx, Client, "redis pipeline", "db.system", "redis", "commands", len(commands))
		err := next(ctx, commands)
		span.End(failureOf(err))
		return err
	}
}

// failureOf returns the error of a command that failed. A key that does not exist is an
// answer.
func failureOf(err error) error {
	if errors.Is(err, redis.Nil) {
		return nil
	}
	return err
}
