package cli

import (
	"fmt"
	"slices"
	"time"

	"ushuru/worker"
)

// benchCommand measures; it asserts nothing.
type benchCommand struct {
	Batch   benchBatch   `cmd:"" help:"A batch of thousands, beside bare asynq; people's estimates before and meanwhile."`
	Latency benchLatency `cmd:"" help:"Time from putting a task in an idle queue to the start of its handler."`
	Match   benchMatch   `cmd:"" help:"Time to match by code and to find candidates by name, beside a bare map."`
	Read    benchRead    `cmd:"" help:"Time to read a listing page, beside x/net/html parsing it alone."`
	Sheet   benchSheet   `cmd:"" help:"Memory and time to load inspection sheets, most of them hostile, each in a process of its own."`
}

type benchLatency struct {
	redisConfig
	Samples int `default:"200" help:"Number of tasks, one after the other."`
}

// Run is called by kong.
func (c *benchLatency) Run(r *run) error {
	defer r.close()
	conn, err := r.redis(c.redisConfig, false)
	if err != nil {
		return err
	}
	waited, err := worker.IdleLatency(r.ctx, conn.Client(), max(c.Samples, 1))
	if err != nil {
		return err
	}
	slices.Sort(waited)
	_, err = fmt.Fprintf(r.Out, "idle latency over %d tasks: p50 %s  p95 %s  max %s\n",
		len(waited), quantile(waited, 0.50), quantile(waited, 0.95), waited[len(waited)-1].Round(10*time.Microsecond))
	return err
}

// quantile of sorted durations.
func quantile(sorted []time.Duration, q float64) time.Duration {
	return sorted[int(q*float64(len(sorted)-1))].Round(10 * time.Microsecond)
}
