package redisx

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

type boundKey struct{}

// Bound returns a context in which every command and every pipeline, with its retries, ends after
// a time, so that no request hangs on a Redis that does not answer.
func Bound(ctx context.Context, each time.Duration) context.Context {
	return context.WithValue(ctx, boundKey{}, each)
}

// bounded is the hook that ends the commands of a context of Bound.
type bounded struct{}

func within(ctx context.Context) (context.Context, context.CancelFunc) {
	if each, ok := ctx.Value(boundKey{}).(time.Duration); ok {
		return context.WithTimeout(ctx, each)
	}
	return ctx, func() {}
}

// DialHook implements redis.Hook.
func (bounded) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (bounded) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, command redis.Cmder) error {
		ctx, cancel := within(ctx)
		defer cancel()
		return next(ctx, command)
	}
}

// ProcessPipelineHook implements redis.Hook.
func (bounded) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, commands []redis.Cmder) error {
		ctx, cancel := within(ctx)
		defer cancel()
		return next(ctx, commands)
	}
}
