package redisx

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// gatherDelay is how long a command waits for others to be sent with it.
	gatherDelay = 2 * time.Millisecond
	// gatherPlaces is how many pipelines are under way at most. While they are, commands
	// gather, so that the busier the line the fewer the pipelines.
	gatherPlaces = 8
)

// Gather has commands that are called at nearly the same time sent as one pipeline,
// for a Redis so far away that each command would keep a connection for long. A
// command whose context ends may be executed all the same, as one whose reply is lost.
func Gather(client redis.UniversalClient) {
	client.AddHook(&gatherer{client: client, places: make(chan struct{}, gatherPlaces)})
}

// gatherer is a hook of a client.
type gatherer struct {
	client redis.UniversalClient
	places chan struct{}

	mu      sync.Mutex
	waiting []*gathered
}

// gathered are commands of one caller.
type gathered struct {
	ctx      context.Context //nolint:containedctx // of the caller
	commands []redis.Cmder
	done     chan struct{} // closed when they have their replies
}

// atOnce is a key of the contexts of AtOnce.
type atOnce struct{}

// AtOnce returns a context whose commands wait for no others, although their client has
// them gathered.
func AtOnce(ctx context.Context) context.Context { return context.WithValue(ctx, atOnce{}, true) }

// DialHook implements redis.Hook.
func (*gatherer) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (g *gatherer) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, command redis.Cmder) error {
		if ctx.Value(atOnce{}) != nil || !gathers(command) {
			return next(ctx, command)
		}
		g.add(ctx, command)
		return command.Err()
	}
}

// ProcessPipelineHook implements redis.Hook.
func (g *gatherer) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, commands []redis.Cmder) error {
		if ctx.Value(atOnce{}) != nil {
			return next(ctx, commands)
		}
		for _, command := range commands {
			if !gathers(command) {
				return next(ctx, commands)
			}
		}
		g.add(ctx, commands...)
		for _, command := range commands {
			if err := command.Err(); err != nil {
				return err
			}
		}
		return nil
	}
}

// gathers reports whether a command can be sent with others: it changes nothing of its
// connection, does not block and is not part of a transaction.
func gathers(command redis.Cmder) bool {
	switch command.Name() {
	case "hello", "auth", "select", "client", "readonly", "readwrite", "asking", "multi", "exec", "discard", "watch",
		"unwatch", "wait", "waitaof", "blpop", "brpop", "brpoplpush", "blmove", "xread", "xreadgroup":
		return false
	}
	return true
}

// add has commands sent, and waits for their replies.
func (g *gatherer) add(ctx context.Context, commands ...redis.Cmder) {
	c := &gathered{ctx, commands, make(chan struct{})}
	g.mu.Lock()
	g.waiting = append(g.waiting, c)
	if len(g.waiting) == 1 {
		go g.depart() //nolint:contextcheck // it is for all callers
	}
	g.mu.Unlock()
	<-c.done
}

// depart sends what waits.
func (g *gatherer) depart() {
	time.Sleep(gatherDelay)
	g.places <- struct{}{}
	defer func() { <-g.places }()
	g.mu.Lock()
	sent := g.waiting
	g.waiting = nil
	g.mu.Unlock()
	ctx, cancel := all(sent)
	defer cancel()
	pipe := g.client.Pipeline()
	for _, c := range sent {
		for _, command := range c.commands {
			_ = pipe.Process(ctx, command) // it is queued
		}
	}
	_, _ = pipe.Exec(ctx) // each command has its error
	for _, c := range sent {
		close(c.done)
	}
}

// all returns a context that ends when those of all callers have.
func all(callers []*gathered) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(AtOnce(context.Background()))
	var latest time.Time // go-redis ends a read at a deadline, and not when its context is cancelled
	limited := true
	var running atomic.Int64
	running.Store(int64(len(callers)))
	stops := make([]func() bool, len(callers))
	for i, c := range callers {
		deadline, ok := c.ctx.Deadline()
		limited = limited && ok
		if deadline.After(latest) {
			latest = deadline
		}
		stops[i] = context.AfterFunc(c.ctx, func() {
			if running.Add(-1) == 0 {
				cancel()
			}
		})
	}
	free := cancel
	if limited {
		ctx, free = context.WithDeadline(ctx, latest)
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		free()
		cancel()
	}
}
