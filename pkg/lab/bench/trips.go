package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/lab/rig"
)

// Trips prints what a listing costs on the way to Redis: round trips, commands,
// bytes and time of a single estimate of a new vehicle, of one whose tax is known,
// and of a listing of a batch. The pages and the authority are SIMULATED and
// answer at once.
func Trips(ctx context.Context, out io.Writer, o BatchOptions) ([]rig.Number, error) {
	traffic := &traffic{}
	o.Redis.Client().AddHook(traffic)
	service, err := rig.Start(ctx, rig.Options{Redis: o.Redis, Log: o.Log, Window: o.Window})
	if err != nil {
		return nil, err
	}
	defer service.Stop()
	meter := &tripMeter{traffic: traffic, redis: o.Redis.Client(), out: out}
	if err := meter.idle(ctx); err != nil {
		return nil, err
	}
	single := func(name, kind string, n int) error {
		var took []time.Duration
		_, err := meter.measure(ctx, name, n, func() (err error) {
			took, err = service.Estimates(ctx, kind, n)
			return err
		})
		meter.printQuantiles(took)
		return err
	}
	if err := single("a single estimate of a new vehicle", "cold", len(rig.Cars())); err != nil {
		return nil, err
	}
	if err := single("a single estimate of a known vehicle", "known", max(o.Interactive, 1)); err != nil {
		return nil, err
	}
	row, err := meter.measure(ctx, "a listing of a batch", o.Listings, func() error {
		return rig.RunBatch(ctx, service.Client, rig.Listings(service.Site, "lot", o.Listings))
	})
	return row.numbers(), err
}

// numbers are those of a listing of a batch.
func (f tripFigures) numbers() []rig.Number {
	const trips, commands, kilobytes, kilobyte = 20, 30, 12, 1000
	return []rig.Number{
		{
			Name: "Redis for a listing of a batch: round trips", Measured: rig.Value{N: f.trips},
			Aim: rig.Aim{AtMost: trips},
		},
		{
			Name: "Redis for a listing of a batch: commands sent", Measured: rig.Value{N: f.commands},
			Aim: rig.Aim{AtMost: commands},
		},
		{
			Name: "Redis for a listing of a batch: bytes in", Measured: rig.Value{N: f.bytes / kilobyte, Unit: "KB"},
			Aim: rig.Aim{AtMost: kilobytes},
		},
	}
}

// traffic counts what this process sends to Redis. It is a hook of the client.
type traffic struct {
	mu     sync.Mutex
	counts trafficCounts
}

type trafficCounts struct {
	trips    int // commands or pipelines sent
	commands int // in them
	polls    int // trips that found a queue empty, which are not in trips
}

func (t *traffic) add(trips, commands, polls int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts.trips += trips
	t.counts.commands += commands
	t.counts.polls += polls
}

func (t *traffic) read() trafficCounts {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.counts
}

// DialHook implements redis.Hook.
func (t *traffic) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (t *traffic) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if errors.Is(err, redis.Nil) && isDequeue(cmd) {
			t.add(0, 0, 1)
		} else {
			t.add(1, 1, 0)
		}
		return err
	}
}

// ProcessPipelineHook implements redis.Hook.
func (t *traffic) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		t.add(1, len(cmds), 0)
		return next(ctx, cmds)
	}
}

// isDequeue reports whether a command asks a queue for its next task.
func isDequeue(cmd redis.Cmder) bool {
	const firstKey = 3
	args := cmd.Args()
	if cmd.Name() != "evalsha" || len(args) <= firstKey {
		return false
	}
	key, _ := args[firstKey].(string)
	return strings.HasPrefix(key, "asynq:") && strings.HasSuffix(key, ":pending")
}

// tripMeter measures work on an otherwise idle service, less what the service
// does while it is idle.
type tripMeter struct {
	traffic *traffic
	redis   redis.UniversalClient
	out     io.Writer
	idling  tripFigures // a second
}

// tripFigures are totals at one time, or differences of them.
type tripFigures struct {
	trips, commands, polls float64
	executed, bytes        float64 // commands that Redis executed, with those in scripts; bytes that it read
	seconds                float64
}

func (m *tripMeter) read(ctx context.Context) (f tripFigures, err error) {
	info, err := m.redis.InfoMap(ctx, "stats").Result()
	if err != nil {
		return f, err
	}
	sent := m.traffic.read()
	f.trips, f.commands, f.polls = float64(sent.trips), float64(sent.commands), float64(sent.polls)
	if f.bytes, err = strconv.ParseFloat(info["Stats"]["total_net_input_bytes"], 64); err != nil {
		return f, fmt.Errorf("lab: bytes into Redis: %w", err)
	}
	f.executed, err = executedCommands(ctx, m.redis)
	f.seconds = float64(time.Now().UnixMicro()) / float64(time.Second/time.Microsecond)
	return f, err
}

// executedCommands is how many commands Redis has executed, with those in scripts.
func executedCommands(ctx context.Context, client redis.UniversalClient) (total float64, err error) {
	stats, err := client.Info(ctx, "commandstats").Result()
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(stats) {
		_, calls, found := strings.Cut(line, ":calls=")
		if !found {
			continue
		}
		calls, _, _ = strings.Cut(calls, ",")
		n, err := strconv.ParseFloat(calls, 64)
		if err != nil {
			return 0, fmt.Errorf("lab: commandstats: %w", err)
		}
		total += n
	}
	return total, nil
}

// since returns the difference of two readings.
func (f tripFigures) since(before tripFigures) tripFigures {
	return tripFigures{
		f.trips - before.trips, f.commands - before.commands, f.polls - before.polls,
		f.executed - before.executed, f.bytes - before.bytes, f.seconds - before.seconds,
	}
}

// idle measures what the service does without work.
func (m *tripMeter) idle(ctx context.Context) error {
	const settle, window = 2 * time.Second, 3 * time.Second
	time.Sleep(settle)
	before, err := m.read(ctx)
	if err != nil {
		return err
	}
	time.Sleep(window)
	after, err := m.read(ctx)
	if err != nil {
		return err
	}
	idle := after.since(before)
	for _, value := range []*float64{&idle.trips, &idle.commands, &idle.polls, &idle.executed, &idle.bytes} {
		*value /= idle.seconds
	}
	m.idling = idle
	_, err = fmt.Fprintf(m.out, "idle, a second: %.0f round trips, %.0f polls of empty queues, %.0f bytes into Redis\n\n",
		idle.trips, idle.polls, idle.bytes)
	return err
}

// printQuantiles prints how long single estimates took.
func (m *tripMeter) printQuantiles(took []time.Duration) {
	_, _ = fmt.Fprintf(m.out, "  p50, p95:               %s, %s\n", rig.Quantile(took, 0.5), rig.Quantile(took, 0.95))
}

// measure prints what a number of pieces of work cost each, and returns it.
func (m *tripMeter) measure(ctx context.Context, name string, n int, work func() error) (each tripFigures, err error) {
	before, err := m.read(ctx)
	if err != nil {
		return each, err
	}
	if err := work(); err != nil {
		return each, err
	}
	after, err := m.read(ctx)
	if err != nil {
		return each, err
	}
	used := after.since(before)
	one := func(total, idle float64) float64 { return (total - idle*used.seconds) / float64(n) }
	each = tripFigures{
		one(used.trips, m.idling.trips), one(used.commands, m.idling.commands), used.polls / float64(n),
		one(used.executed, m.idling.executed), one(used.bytes, m.idling.bytes), used.seconds / float64(n),
	}
	_, err = fmt.Fprintf(m.out, `%s:
  round trips:            %8.1f, and %.1f polls of empty queues
  commands sent:          %8.1f
  commands executed:      %8.1f, with those in scripts
  bytes into Redis:       %8.0f
  time:                   %8.2f ms
`, name, each.trips, each.polls, each.commands, each.executed, each.bytes,
		each.seconds*float64(time.Second/time.Millisecond))
	return each, err
}
