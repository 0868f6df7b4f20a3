package batch

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/jobs"
	"ushuru/pkg/pack"
)

// Open is a batch at work as the one who feeds sees it.
type ActiveBatch struct {
	ID      string
	Owner   string
	Waiting int // questions
	Running int
	Ended   bool
	Missing bool // not made yet, or gone
	turn    float64
}

// maxActive is how many batches are looked at together. Those that had no turn
// for longest come first, so none is forgotten.
const maxActive = 1000

// Open returns the batches at work, that which had no turn for longest first.
func (s *Store) ListActive(ctx context.Context) ([]ActiveBatch, error) {
	listed, err := s.redis.ZRangeWithScores(ctx, keyActive, 0, maxActive-1).Result()
	if err != nil || len(listed) == 0 {
		return nil, err
	}
	pipe := s.redis.Pipeline()
	fields := make([]*redis.SliceCmd, len(listed))
	for i, entry := range listed {
		id, _ := entry.Member.(string)
		fields[i] = pipe.HMGet(ctx, keysOf(id)[keyHash], "owner", "waiting", "running", "ended")
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, err
	}
	open := make([]ActiveBatch, len(listed))
	for i, entry := range listed {
		var found struct {
			Owner   string `redis:"owner"`
			Waiting int    `redis:"waiting"`
			Running int    `redis:"running"`
			Ended   string `redis:"ended"`
		}
		if err := fields[i].Scan(&found); err != nil {
			return nil, fmt.Errorf("batch: %v: %w", entry.Member, err)
		}
		id, _ := entry.Member.(string)
		open[i] = ActiveBatch{
			ID: id, Owner: found.Owner, Waiting: found.Waiting, Running: found.Running,
			Ended: found.Ended != "", Missing: found.Owner == "", turn: entry.Score,
		}
	}
	return open, nil
}

// CountActiveRows returns how many questions of a key's batches wait or are at work.
func (s *Store) CountActiveRows(ctx context.Context, owner string) (questions int, err error) {
	open, err := s.ListActive(ctx)
	for _, b := range open {
		if b.Owner == owner {
			questions += b.Waiting + b.Running
		}
	}
	return questions, err
}

// Turn notes that batches had their turn now.
func (s *Store) MarkServed(ctx context.Context, ids ...string) error { return s.addActive(ctx, ids...) }

// closeGrace is how long a batch that has ended, or is not there, stays among those
// at work: for its maker, or who tries it again, to be done.
const closeGrace = time.Minute

// Close drops a batch that has ended from those at work. It stays a little
// longer, in case it is being tried again.
func (s *Store) RemoveActive(ctx context.Context, b ActiveBatch) error {
	now, err := s.redis.Time(ctx).Result()
	if err != nil || now.Sub(time.UnixMilli(int64(b.turn))) < closeGrace {
		return err
	}
	return scriptRemoveActive.Run(ctx, s.redis, []string{keyActive}, b.ID, b.turn).Err()
}

// ClaimedRow is a row that was given out to be worked on.
type ClaimedRow struct {
	Row
	Batch string
	Index int
	Since time.Time
	Job   string // "" until there is one
}

// Take gives out up to n waiting rows of a batch, in their order. Who dies
// with them leaves them to Stuck.
func (s *Store) ClaimRows(ctx context.Context, id string, n int) ([]ClaimedRow, error) {
	found, err := scriptClaim.Run(ctx, s.redis, keysOf(id), n).Int64Slice()
	if err != nil || len(found) == 0 {
		return nil, err
	}
	reader := &Reader{store: s, id: id, keys: keysOf(id), chunks: map[int][]Row{}}
	taken := make([]ClaimedRow, 0, len(found))
	for _, i := range found {
		row, err := reader.row(ctx, int(i))
		if err != nil {
			return nil, err
		}
		taken = append(taken, ClaimedRow{Row: row, Batch: id, Index: int(i)})
	}
	return taken, nil
}

// Work notes the jobs that are at work on rows.
func (s *Store) SetRowJobs(ctx context.Context, id string, jobs map[int]string) error {
	if len(jobs) == 0 {
		return nil
	}
	args := make([]any, 0, 2*len(jobs))
	for row, job := range jobs {
		args = append(args, row, job)
	}
	return scriptSetJobs.Run(ctx, s.redis, keysOf(id), args...).Err()
}

// Stuck returns the running rows of which nothing was noted for so long.
func (s *Store) ListStuck(ctx context.Context, id string, since time.Duration) ([]ClaimedRow, error) {
	keys := keysOf(id)
	pipe := s.redis.Pipeline()
	noted, clock := pipe.HGetAll(ctx, keys[keyRunning]), pipe.Time(ctx)
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, err
	}
	reader := &Reader{store: s, id: id, keys: keys, chunks: map[int][]Row{}}
	var stuck []ClaimedRow
	for field, value := range noted.Val() {
		at, job, _ := strings.Cut(value, " ")
		if clock.Val().Sub(millis(at)) < since {
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

// Succeed notes the result of a running row; it may be noted twice. It
// reports whether the batch ended with it.
func (s *Store) Succeed(ctx context.Context, id string, row int, result json.RawMessage) (last bool, err error) {
	return s.finish(ctx, id, row, Succeeded, result)
}

// Fail notes why a running row failed; likewise.
func (s *Store) Fail(ctx context.Context, id string, row int, why *jobs.Error) (last bool, err error) {
	data, err := json.Marshal(why)
	if err != nil {
		return false, fmt.Errorf("batch: %w", err)
	}
	return s.finish(ctx, id, row, Failed, data)
}

func (s *Store) finish(ctx context.Context, id string, row int, state State, data []byte) (bool, error) {
	reply, err := scriptFinish.Run(ctx, s.redis, keysOf(id),
		row, string(codeOf(state)), pack.Pack(data), Retention.Milliseconds()).Int()
	const ended = 2
	return reply == ended, err
}

// Cancel cancels the rows of a batch that wait. Those at work end, and what
// there is stays. Cancelling twice, or a batch that has ended, does nothing.
func (s *Store) Cancel(ctx context.Context, id string) error {
	return scriptCancel.Run(ctx, s.redis, keysOf(id), Retention.Milliseconds()).Err()
}

// Retry has the failed rows of a batch wait again: once for a name, so that it
// may be asked for twice. ErrNoneFailed when there are none.
func (s *Store) Retry(ctx context.Context, id, name string) error {
	// Before, so that a batch that waits is always found; and after, should
	// this have taken so long that it was dropped in between.
	if err := s.addActive(ctx, id); err != nil {
		return err
	}
	again, err := scriptRetry.Run(ctx, s.redis, keysOf(id), name).Int()
	if err != nil {
		return err
	}
	if again == 0 {
		return ErrNoneFailed
	}
	return s.addActive(ctx, id)
}

// Retried reports whether the failed rows were tried again under a name.
func (s *Store) WasRetried(ctx context.Context, id, name string) (bool, error) {
	return s.redis.HExists(ctx, keysOf(id)[keyHash], "retry_"+name).Result()
}
