package stat

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// interval is how often Run writes.
	interval = time.Second
	// writeTimeout bounds a write.
	writeTimeout = 3 * time.Second
	// kept is how long what is counted in an hour or on a day is kept, and what is known of sites and
	// codes after the last of them.
	kept = 8 * 24 * time.Hour
	// keptFailed is how long jobs that failed are listed, as long as their records are
	// stored.
	keptFailed = 24 * time.Hour
)

// AddTo adds what was counted since the last call to a pipeline. settled must be called
// when the pipeline was executed: what Redis has not taken is then counted again.
func (r *Recorder) AddTo(ctx context.Context, pipe redis.Pipeliner) (settled func()) {
	if r == nil {
		return func() {}
	}
	r.mu.Lock()
	counts, texts, failed := r.counts, r.texts, r.failed
	r.counts, r.texts, r.failed = map[entry]int64{}, map[entry]string{}, map[string][]string{}
	r.mu.Unlock()
	if len(counts)+len(texts) == 0 {
		return func() {}
	}
	pushed := pushFailed(ctx, pipe, failed)
	sent := make(map[entry]redis.Cmder, len(counts)+len(texts))
	lives := map[string]bool{}
	for e, n := range counts {
		sent[e] = pipe.HIncrBy(ctx, e.key, e.field, n)
		lives[e.key] = true
	}
	for e, value := range texts {
		sent[e] = pipe.HSet(ctx, e.key, e.field, value)
		lives[e.key] = e.key != keyUsed // a key that is not used for a long time was last used then
	}
	for key, expires := range lives {
		if expires {
			pipe.Expire(ctx, key, kept)
		}
	}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		for key, command := range pushed {
			if command.Err() != nil {
				r.failed[key] = append(failed[key], r.failed[key]...)[:min(MaxFailed, len(failed[key])+len(r.failed[key]))]
			}
		}
		for e, command := range sent {
			if command.Err() == nil {
				continue
			}
			if n, isCount := counts[e]; isCount {
				r.add(e.key, e.field, n)
			} else if _, newer := r.texts[e]; !newer {
				r.set(e.key, e.field, texts[e])
			}
		}
	}
}

// pushFailed adds jobs that failed to their lists, of which the newest are kept.
func pushFailed(ctx context.Context, pipe redis.Pipeliner, failed map[string][]string) map[string]redis.Cmder {
	pushed := make(map[string]redis.Cmder, len(failed))
	for key, jobs := range failed {
		values := make([]any, len(jobs))
		for i, job := range jobs {
			values[i] = job
		}
		pushed[key] = pipe.LPush(ctx, key, values...)
		pipe.LTrim(ctx, key, 0, MaxFailed-1)
		pipe.Expire(ctx, key, keptFailed)
	}
	return pushed
}

// Run writes what is counted every second until ctx ends, and then once more.
func (r *Recorder) Run(ctx context.Context) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			r.Write(context.WithoutCancel(ctx))
			return
		case <-ticker.C:
			r.Write(ctx)
		}
	}
}

// Write writes what was counted. What Redis does not take is kept for the next call.
func (r *Recorder) Write(ctx context.Context) {
	if r == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	pipe := r.options.Redis.Pipeline()
	settled := r.AddTo(ctx, pipe)
	defer settled()
	if pipe.Len() > 0 {
		_, _ = pipe.Exec(ctx) // settled looks at each command
	}
}
