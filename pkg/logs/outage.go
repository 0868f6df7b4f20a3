package logs

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// reminder is between two lines of an outage that lasts.
	reminder = time.Minute
	// calm is how long no command may have failed before an outage is over.
	calm = 2 * time.Second
	// long is how long a command may take at least before its caller gives up, so that this
	// means that Redis hangs.
	long = 900 * time.Millisecond
	// look is how often an outage is looked at.
	look = 500 * time.Millisecond
)

// Outage notices when Redis is away, and says so in the log: one line when that begins,
// one a minute, and one when it is over. Meanwhile the lines of others that have no
// other reason are counted and not written. It is a hook of the client.
type Outage struct {
	client redis.UniversalClient
	log    *slog.Logger
	// unavailable reports whether an error means that Redis is away.
	unavailable func(error) bool

	mu      sync.Mutex
	since   time.Time // zero: Redis is there
	last    time.Time // the last command that failed
	said    time.Time
	cause   error
	failed  int // commands
	hidden  int // lines
	stopped bool
	watcher sync.WaitGroup
	stop    chan struct{}
}

// Watch has an Outage notice when the Redis of a client is away. It returns the log that
// everything else writes to; stop ends the watch.
func Watch(client redis.UniversalClient, log *slog.Logger, unavailable func(error) bool) (quiet *slog.Logger, stop func()) {
	o := &Outage{client: client, log: log, unavailable: unavailable, stop: make(chan struct{})}
	client.AddHook(o)
	return slog.New(&quietHandler{log.Handler(), o}), o.end
}

func (o *Outage) end() {
	o.mu.Lock()
	if !o.stopped {
		o.stopped = true
		close(o.stop)
	}
	o.mu.Unlock()
	o.watcher.Wait()
}

// DialHook implements redis.Hook.
func (o *Outage) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		began := time.Now()
		conn, err := next(ctx, network, address)
		o.ended(ctx, err, began)
		return conn, err
	}
}

// ProcessHook implements redis.Hook.
func (o *Outage) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, command redis.Cmder) error {
		began := time.Now()
		err := next(ctx, command)
		o.ended(ctx, err, began)
		return err
	}
}

// ProcessPipelineHook implements redis.Hook.
func (o *Outage) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, commands []redis.Cmder) error {
		began := time.Now()
		err := next(ctx, commands)
		o.ended(ctx, err, began)
		return err
	}
}

// ended looks at the outcome of a command. One whose caller went away, or whose time was
// short, says nothing of Redis.
func (o *Outage) ended(ctx context.Context, err error, began time.Time) {
	tookLong := errors.Is(ctx.Err(), context.DeadlineExceeded) && time.Since(began) >= long
	if err == nil || ctx.Err() != nil && !tookLong || !o.unavailable(err) {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	o.last, o.cause = now, err
	o.failed++
	if !o.since.IsZero() || o.stopped {
		return
	}
	o.since, o.said, o.failed, o.hidden = now, now, 1, 0
	o.log.Error("Redis is away; the work waits for it", "error", err)
	o.watcher.Go(o.watch)
}

// watch writes the further lines of an outage.
func (o *Outage) watch() {
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for {
		select {
		case <-o.stop:
			return
		case <-ticker.C:
		}
		ctx, cancel := context.WithTimeout(context.Background(), look)
		answers := o.client.Ping(ctx).Err() == nil
		cancel()
		if o.isOver(answers) {
			return
		}
	}
}

// isOver says what there is to say, and reports whether the outage is over.
func (o *Outage) isOver(answers bool) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	if answers && now.Sub(o.last) > calm {
		o.log.Info("Redis is back", "duration", o.last.Sub(o.since), "failed_commands", o.failed, "lines_not_written", o.hidden)
		o.since = time.Time{}
		return true
	}
	if now.Sub(o.said) >= reminder {
		o.said = now
		o.log.Error("Redis is still away", "duration", now.Sub(o.since), "failed_commands", o.failed,
			"lines_not_written", o.hidden, "error", o.cause)
	}
	return false
}

// hides reports whether a line has no other reason than the outage, and counts it.
func (o *Outage) hides(record slog.Record) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.since.IsZero() || record.Level < slog.LevelInfo {
		return false
	}
	hide := false
	record.Attrs(func(attr slog.Attr) bool {
		switch value := attr.Value.Any().(type) {
		case error:
			hide = o.unavailable(value)
		case string:
			hide = attr.Key == fromAttr && value == Asynq && record.Level >= slog.LevelWarn
		}
		return !hide
	})
	if hide {
		o.hidden++
	}
	return hide
}

const (
	fromAttr = "from"
	// Asynq is the value of the attribute "from" of the lines that asynq writes: in an outage of
	// Redis they say nothing else.
	Asynq = "asynq"
)

// quietHandler leaves out the lines that an outage explains.
type quietHandler struct {
	slog.Handler

	outage *Outage
}

// Handle implements slog.Handler.
func (h *quietHandler) Handle(ctx context.Context, record slog.Record) error {
	if h.outage.hides(record) {
		return nil
	}
	return h.Handler.Handle(ctx, record)
}

// WithAttrs implements slog.Handler.
func (h *quietHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &quietHandler{h.Handler.WithAttrs(attrs), h.outage}
}

// WithGroup implements slog.Handler.
func (h *quietHandler) WithGroup(name string) slog.Handler {
	return &quietHandler{h.Handler.WithGroup(name), h.outage}
}
