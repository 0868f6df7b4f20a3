package status

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/jobs"
	"ushuru/pkg/metrics"
)

const (
	keyProcesses = "api:processes" // the processes of the API by when they were last alive
	// aliveInterval is how often a process of the API says that it is alive, and deadAfter how
	// long one counts that was killed.
	aliveInterval = 20 * time.Second
	deadAfter     = 3 * aliveInterval
)

// Announce keeps a process of the API among those that are alive until ctx ends.
func Announce(ctx context.Context, client redis.UniversalClient, name string) {
	for {
		wait := aliveInterval
		if announce(ctx, client, name) != nil {
			wait = time.Second // a Redis that is back must not miss the API
		}
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			_ = client.ZRem(last, keyProcesses, name).Err() // it expires by itself
			return
		case <-time.After(wait):
		}
	}
}

func announce(ctx context.Context, client redis.UniversalClient, name string) error {
	now := time.Now()
	pipe := client.Pipeline()
	pipe.ZAdd(ctx, keyProcesses, redis.Z{Score: float64(now.Unix()), Member: name})
	pipe.ZRemRangeByScore(ctx, keyProcesses, "-inf", strconv.FormatInt(now.Add(-deadAfter).Unix(), 10))
	pipe.Expire(ctx, keyProcesses, deadAfter)
	_, err := pipe.Exec(ctx)
	return err
}

// API is how the API does.
type API struct {
	Processes []string `json:"processes"`        // that are alive, or were killed less than a minute ago
	Answers   int64    `json:"answers"`          // in this hour, and in the last when there were few
	Errors    int64    `json:"errors"`           // of them: those with a status of 5xx
	Reason    string   `json:"reason,omitempty"` // their commonest code
}

func (r *reading) apiPart(ctx context.Context) (part API, err error) {
	since := strconv.FormatInt(r.now.Add(-deadAfter).Unix(), 10)
	part.Processes, err = r.redis.ZRangeByScore(ctx, keyProcesses, &redis.ZRangeBy{Min: since, Max: "+inf"}).Result()
	if err != nil {
		return part, fmt.Errorf("status: processes of the API: %w", err)
	}
	for _, hour := range r.hours[:2] {
		if part.Answers < enoughErrors {
			part.add(hour.Counts)
		}
	}
	return part, nil
}

func (a *API) add(counts metrics.Counts) {
	most := int64(0)
	for what, n := range counts.Ended {
		if what.Site != metrics.API {
			continue
		}
		a.Answers += n
		if what.Code == metrics.OK {
			continue
		}
		if a.Errors += n; n > most {
			most, a.Reason = n, what.Code
		}
	}
}

// ReadAges returns for how long the oldest job of each class has not ended; none of a class without
// such a job.
func ReadAges(ctx context.Context, store *jobs.Store, now time.Time) (map[jobs.Class]time.Duration, error) {
	ages := map[jobs.Class]time.Duration{}
	for _, class := range []jobs.Class{jobs.Interactive, jobs.Bulk} {
		since, err := store.Oldest(ctx, class)
		if err != nil {
			return ages, err
		}
		if !since.IsZero() {
			ages[class] = max(now.Sub(since), 0)
		}
	}
	return ages, nil
}

func (r *reading) queues(ctx context.Context) ([]Queue, error) { return ReadQueues(ctx, r.redis) }

func (r *reading) ages(ctx context.Context) (map[jobs.Class]int64, error) {
	ms := map[jobs.Class]int64{}
	ages, err := ReadAges(ctx, r.jobs, r.now)
	for class, age := range ages {
		ms[class] = age.Milliseconds()
	}
	return ms, err
}
