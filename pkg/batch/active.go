package batch

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/jobs"
	"ushuru/pkg/logs"
	"ushuru/pkg/redisx"
)

// ActiveBatch is a batch that may have rows to dispatch.
type ActiveBatch struct {
	ID      string
	Owner   string
	Waiting int // rows, without duplicates
	Running int // likewise
	Parked  int // running ones that take no place in the window now
	Ended   bool
	Missing bool        // not yet created, or expired
	Origin  jobs.Origin // of the request that created it

	lastServed float64 // ms since 1970
}

// maxActive is how many batches are listed at once. Those that were not served
// for longest come first, so none is left out forever.
const maxActive = 1000

// ListActive returns the active batches, the one that was served longest ago first.
func (s *Store) ListActive(ctx context.Context) ([]ActiveBatch, error) {
	first := s.redis.Pipeline()
	entries, clock := first.ZRangeWithScores(ctx, keyActive, 0, maxActive-1), first.Time(ctx)
	if _, err := first.Exec(ctx); err != nil || len(entries.Val()) == 0 {
		return nil, err
	}
	listed, now := entries.Val(), strconv.FormatInt(clock.Val().UnixMilli(), 10)
	pipe := s.redis.Pipeline()
	fields, parked := make([]*redis.SliceCmd, len(listed)), make([]*redis.IntCmd, len(listed))
	for i, entry := range listed {
		id, _ := entry.Member.(string)
		fields[i] = pipe.HMGet(ctx, keysOf(id)[keyHash], "owner", "waiting", "running", "ended", "origin")
		parked[i] = pipe.ZCount(ctx, keysOf(id)[keyParked], now, "+inf")
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, err
	}
	active := make([]ActiveBatch, len(listed))
	for i, entry := range listed {
		var found struct {
			Owner   string `redis:"owner"`
			Waiting int    `redis:"waiting"`
			Running int    `redis:"running"`
			Ended   string `redis:"ended"`
			Origin  string `redis:"origin"`
		}
		if err := fields[i].Scan(&found); err != nil {
			return nil, fmt.Errorf("batch: %v: %w", entry.Member, err)
		}
		id, _ := entry.Member.(string)
		active[i] = ActiveBatch{
			ID: id, Owner: found.Owner, Waiting: found.Waiting, Running: found.Running,
			Parked: min(int(parked[i].Val()), found.Running),
			Ended:  found.Ended != "", Missing: found.Owner == "", lastServed: entry.Score,
		}
		_ = json.Unmarshal([]byte(found.Origin), &active[i].Origin) // without it the jobs of its rows have no trace
	}
	return active, nil
}

// CountActiveRows returns how many rows of a key's batches wait or run.
func (s *Store) CountActiveRows(ctx context.Context, owner string) (rows int, err error) {
	active, err := s.ListActive(ctx)
	for _, b := range active {
		if b.Owner == owner {
			rows += b.Waiting + b.Running
		}
	}
	return rows, err
}

// closeGrace is how long a batch that has ended, or is missing, stays active: the
// process that creates or retries it may not have finished.
const closeGrace = time.Minute

// RemoveActive removes a batch that has ended from the active ones, once it was not
// served for closeGrace.
func (s *Store) RemoveActive(ctx context.Context, b ActiveBatch) error {
	now, err := s.redis.Time(ctx).Result()
	if err != nil || now.Sub(time.UnixMilli(int64(b.lastServed))) < closeGrace {
		return err
	}
	return scriptRemoveActive.Run(ctx, s.redis, []string{keyActive}, b.ID, b.lastServed).Err()
}

// ClaimedRow is a running row.
type ClaimedRow struct {
	Row
	Batch string
	Index int
	Since time.Time // of its last update
	Job   string    // "" until there is one
}

// ClaimRows marks up to n waiting rows of a batch as running, in their order, and
// returns them. If the caller dies before it has set their jobs, ListStuck finds them.
func (s *Store) ClaimRows(ctx context.Context, id string, n int) ([]ClaimedRow, error) {
	found, err := scriptClaim.Run(ctx, s.redis, keysOf(id), n).Int64Slice()
	if err != nil || len(found) == 0 {
		return nil, err
	}
	reader := &Reader{store: s, id: id, keys: keysOf(id), chunks: map[int][]Row{}}
	claimed := make([]ClaimedRow, 0, len(found))
	for _, i := range found {
		row, err := reader.row(ctx, int(i))
		if err != nil {
			return nil, err
		}
		claimed = append(claimed, ClaimedRow{Row: row, Batch: id, Index: int(i)})
	}
	return claimed, nil
}

// SetRowJobs records the jobs of running rows. It reports whether the batch was cancelled
// meanwhile: then Release must follow.
func (s *Store) SetRowJobs(ctx context.Context, id string, jobs map[int]string) (cancelled bool, err error) {
	if len(jobs) == 0 {
		return false, nil
	}
	args := make([]any, 0, 2*len(jobs))
	for row, job := range jobs {
		args = append(args, row, job)
	}
	return scriptSetJobs.Run(ctx, s.redis, keysOf(id), args...).Bool()
}

// parkedTTL is how long the parked rows of a batch are kept after the last one was
// parked beyond its time. A row that is lost from them only takes a place again.
const parkedTTL = 24 * time.Hour

// Park takes a running row that waits for something out of the window for a time, so
// that others can run. The row stays running and ends as any other.
func (s *Store) Park(ctx context.Context, id string, row int, wait time.Duration) error {
	return scriptPark.Run(ctx, s.redis, keysOf(id), row, wait.Milliseconds(), (wait + parkedTTL).Milliseconds()).Err()
}

// unsubmittedAfter is how long a row may be claimed without a job: submitting takes less
// than a second. A row that is submitted twice joins the same job.
const unsubmittedAfter = 2 * time.Second

// ListStuck returns the running rows that were not updated for a time, or have had no job
// since they were claimed, without those that are parked.
func (s *Store) ListStuck(ctx context.Context, id string, idle time.Duration) ([]ClaimedRow, error) {
	keys := keysOf(id)
	pipe := s.redis.Pipeline()
	running, clock := pipe.HGetAll(ctx, keys[keyRunning]), pipe.Time(ctx)
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, err
	}
	reader := &Reader{store: s, id: id, keys: keys, chunks: map[int][]Row{}}
	var stuck []ClaimedRow
	for field, value := range running.Val() {
		at, job, _ := strings.Cut(value, " ")
		limit := idle
		if job == "" {
			limit = min(idle, unsubmittedAfter)
		}
		if clock.Val().Sub(millis(at)) < limit {
			continue
		}
		i, err := strconv.Atoi(field)
		if err != nil {
			return nil, fmt.Errorf("batch: row %q of %s: %w", field, id, err)
		}
		row, err := reader.row(ctx, i)
		if err != nil {
			return nil, err
		}
		stuck = append(stuck, ClaimedRow{Row: row, Batch: id, Index: i, Since: millis(at), Job: job})
	}
	return stuck, nil
}

// Succeed records the result of a running row, once.
func (s *Store) Succeed(ctx context.Context, id string, row int, result json.RawMessage) (Recorded, error) {
	return s.finish(ctx, id, row, Succeeded, result)
}

// Fail records the error of a running row, as Succeed does.
func (s *Store) Fail(ctx context.Context, id string, row int, reason *jobs.Error) (Recorded, error) {
	data, err := json.Marshal(reason)
	if err != nil {
		return Recorded{}, fmt.Errorf("batch: %w", err)
	}
	return s.finish(ctx, id, row, Failed, data)
}

func (s *Store) finish(ctx context.Context, id string, row int, state State, data []byte) (Recorded, error) {
	packed := redisx.Pack(data)
	reply, err := scriptFinish.Run(ctx, s.redis, keysOf(id), row, string(codeOf(state)), packed, Retention.Milliseconds()).Slice()
	if err != nil || len(reply) != 2 { //nolint:mnd // as the script says
		return Recorded{}, fmt.Errorf("batch: end of a row: %v: %w", reply, err)
	}
	owner, _ := reply[1].(string)
	switch reply[0] {
	case int64(2):
		return Recorded{Last: true, Owner: owner, Bytes: int64(len(packed))}, nil
	case int64(1):
		return Recorded{Owner: owner, Bytes: int64(len(packed))}, nil
	}
	return Recorded{}, nil
}

// Cancel cancels the rows of a batch that wait or run, and so ends it: Release must follow.
// The results so far are kept. Cancelling twice, or a batch that has ended, does nothing.
func (s *Store) Cancel(ctx context.Context, id string) error {
	return scriptCancel.Run(ctx, s.redis, keysOf(id), Retention.Milliseconds()).Err()
}

const (
	// releasesAtOnce is how many jobs Release leaves at the same time.
	releasesAtOnce = 16
	// submittedWithin is after how long a row that was claimed has its job, if its process
	// lives.
	submittedWithin = 30 * time.Second
)

// Release calls leave for the jobs of the rows that were cancelled while they ran. It may run
// twice, and must until there are none: a process that has claimed rows may set their jobs
// after the batch was cancelled.
func (s *Store) Release(ctx context.Context, id string, leave func(ctx context.Context, job string, row int) error) error {
	keys := keysOf(id)
	pipe := s.redis.Pipeline()
	running, states, clock := pipe.HGetAll(ctx, keys[keyRunning]), pipe.Get(ctx, keys[keyStates]), pipe.Time(ctx)
	if err := redisx.Exec(ctx, pipe); err != nil {
		return err
	}
	return logs.Each(slices.Collect(maps.Keys(running.Val())), releasesAtOnce, func(field string) error {
		row, err := strconv.Atoi(field)
		if err != nil || row >= len(states.Val()) || stateOf(states.Val()[row]) != Cancelled {
			return nil //nolint:nilerr // a row that still runs, or none
		}
		at, job, _ := strings.Cut(running.Val()[field], " ")
		if job == "" && clock.Val().Sub(millis(at)) < submittedWithin {
			return nil
		}
		if job != "" {
			err = leave(ctx, job, row)
		}
		if err != nil {
			return err
		}
		return s.redis.HDel(ctx, keys[keyRunning], field).Err()
	})
}

// Retry makes the failed and the cancelled rows of a batch wait again, or of those the ones with
// some indexes, once for a name, so that it may be called twice. ErrNoneFailed means that there
// are none.
func (s *Store) Retry(ctx context.Context, id, name string, rows ...int) error {
	// The batch becomes active before, so that its rows are always found, and
	// again after, because it may have been removed in between.
	if err := s.MarkServed(ctx, id); err != nil {
		return err
	}
	arguments := []any{name}
	for _, row := range rows {
		arguments = append(arguments, row)
	}
	retried, err := scriptRetry.Run(ctx, s.redis, keysOf(id), arguments...).Int()
	if err != nil {
		return err
	}
	if retried == 0 {
		return ErrNoneFailed
	}
	return s.MarkServed(ctx, id)
}

// WasRetried reports whether the failed rows were retried under a name.
func (s *Store) WasRetried(ctx context.Context, id, name string) (bool, error) {
	return s.redis.HExists(ctx, keysOf(id)[keyHash], "retry_"+name).Result()
}
