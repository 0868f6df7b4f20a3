package redisx

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// The keys of the canary. The count and its time are written in one MULTI, the confirmation
// after Redis has acknowledged that, by itself: a server that drops transactions when it
// reads its append-only file comes back with a confirmation that is above the count.
const (
	keyWritten   = "canary:{%d}:written"
	keyAt        = "canary:{%d}:at"
	keyConfirmed = "canary:{%d}:confirmed"
	keyLoss      = "canary:loss"
)

const (
	// CanaryInterval is how often a process compares and writes the canary.
	CanaryInterval = 10 * time.Second
	// lossKept is for how long a loss is told to operators.
	lossKept = 24 * time.Hour
	// clusterCanaries is how many pairs a Cluster has. Their slots are spread over its
	// masters.
	clusterCanaries = 16
	// foundMargin is by how much the count is raised when a loss was found.
	foundMargin = 1000
)

// Loss is what Redis had acknowledged and does not have any more. The numbers count writes
// of the canary; what else is gone is not known.
type Loss struct {
	At       time.Time `json:"at"` // when it was found, in UTC
	Expected int64     `json:"expected"`
	Found    int64     `json:"found"`
}

// Canary finds out whether Redis keeps what it acknowledges: a restart that reads its data
// in part, a server without persistence, a failover to a replica that lags, a key that was
// evicted. It is not safe for concurrent use.
type Canary struct {
	client       redis.UniversalClient
	acknowledged []int64 // the highest count that this process knows, of each pair
}

// NewCanary returns the canary of a Redis.
func NewCanary(client redis.UniversalClient) *Canary {
	pairs := 1
	if _, is := client.(*redis.ClusterClient); is {
		pairs = clusterCanaries
	}
	return &Canary{client: client, acknowledged: make([]int64, pairs)}
}

// Run checks now and at each interval until ctx ends, and logs each loss. While Redis is
// away it does nothing.
func (c *Canary) Run(ctx context.Context, interval time.Duration, log *slog.Logger) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		loss, err := c.Check(ctx)
		if loss != nil {
			log.Error("Redis has lost writes that it had acknowledged: jobs and batches may be gone",
				"expected", loss.Expected, "found", loss.Found, "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// Check compares the canary with what was acknowledged and writes it again. It returns and
// stores the loss, or nil when there is none. An error means that Redis could not be asked.
func (c *Canary) Check(ctx context.Context) (*Loss, error) {
	var lost Loss
	for pair := range c.acknowledged {
		expected, found, err := c.compare(ctx, pair)
		if err != nil {
			return nil, fmt.Errorf("redisx: canary: %w", err)
		}
		if found >= expected {
			continue
		}
		lost.Expected += expected
		lost.Found += found
		// The other processes, which know counts near this one, do not find the same loss again.
		if err := c.client.Set(ctx, fmt.Sprintf(keyWritten, pair), expected+foundMargin, 0).Err(); err != nil {
			return nil, fmt.Errorf("redisx: canary: %w", err)
		}
	}
	if lost.Expected == 0 {
		return nil, c.write(ctx)
	}
	lost.At = time.Now().UTC().Truncate(time.Second)
	text, err := json.Marshal(lost)
	if err == nil {
		err = c.client.Set(ctx, keyLoss, text, lossKept).Err()
	}
	return &lost, errors.Join(err, c.write(ctx))
}

// compare returns the count of a pair that was acknowledged, and the one that is there.
func (c *Canary) compare(ctx context.Context, pair int) (expected, found int64, err error) {
	values, err := c.client.MGet(ctx, fmt.Sprintf(keyConfirmed, pair), fmt.Sprintf(keyWritten, pair)).Result()
	if err != nil {
		return 0, 0, err
	}
	return max(count(values[0]), c.acknowledged[pair]), count(values[1]), nil
}

// count returns a stored count; 0 for none, or for what is not a count.
func count(value any) int64 {
	text, _ := value.(string)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func (c *Canary) write(ctx context.Context) error {
	for pair := range c.acknowledged {
		// Redis drops a transaction of its file, and nothing else, when the default user has
		// only a part of the rights; one command alone is not written as a transaction.
		var written *redis.IntCmd
		_, err := c.client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
			written = pipe.Incr(ctx, fmt.Sprintf(keyWritten, pair))
			pipe.Set(ctx, fmt.Sprintf(keyAt, pair), time.Now().UnixMilli(), 0)
			return nil
		})
		if err == nil {
			c.acknowledged[pair] = written.Val()
			err = c.client.Set(ctx, fmt.Sprintf(keyConfirmed, pair), written.Val(), 0).Err()
		}
		if err != nil {
			return fmt.Errorf("redisx: canary: %w", err)
		}
	}
	return nil
}

// ReadLoss returns the last loss that a process found within a day; nil when there is none.
func ReadLoss(ctx context.Context, client redis.UniversalClient) (*Loss, error) {
	text, err := client.Get(ctx, keyLoss).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, nil //nolint:nilnil // there is none
	}
	if err != nil {
		return nil, fmt.Errorf("redisx: loss: %w", err)
	}
	var loss Loss
	if err := json.Unmarshal(text, &loss); err != nil {
		return nil, fmt.Errorf("redisx: loss: %w", err)
	}
	return &loss, nil
}
