package jobs

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/pack"
)

const (
	channelEnded = "jobs:ended" // pub/sub: ids of jobs that ended

	retention = 24 * time.Hour // of a job that has ended

	// A question asked again within this time of its answer gets that
	// answer's job: a caller that missed the cache just before it was filled
	// must not start the work a second time.
	joinGrace = 10 * time.Second

	// What nobody asks for any more is kept a little longer than that.
	trimmedTTL = retention // a caller may have been told of it

	// A new job is left alone this long before the sweeper looks at it. Of a
	// batch most have ended by then; and no worker counts as dead before.
	firstCheckDelay     = 2 * time.Second
	firstCheckDelayBulk = HeartbeatTTL
)

func keyJob(id string) string       { return "job:{" + id + "}" }
func keyDedup(flight string) string { return "inflight:{" + flight + "}" }

// keyActive is a sorted set: id → when to look at it next, ms. Each class has
// its own, so that no batch stands before a person.
func keyActive(class Class) string { return "jobs:active:" + string(class) }

// Store reads and writes job records.
type Store struct{ redis redis.UniversalClient }

// NewStore makes a Store on a Redis connection that stays the caller's.
func NewStore(client redis.UniversalClient) *Store { return &Store{redis: client} }

// meta is the part of the record that never changes.
type meta struct {
	Kind     string          `json:"kind"`
	Class    Class           `json:"class"`
	Owner    string          `json:"owner"`
	Input    json.RawMessage `json:"input"`
	DedupKey string          `json:"flight"`
	Created  time.Time       `json:"created"`
	Deadline time.Time       `json:"deadline"`
}

// DedupKeyFor is the hash under which equal questions share one job.
func DedupKeyFor(kind string, input json.RawMessage) string {
	sum := sha256.Sum256(append([]byte(kind+"\x00"), input...))
	return hex.EncodeToString(sum[:16])
}

// Create makes the record of a job, or joins the job that is in flight for
// the same kind and input. Joined jobs keep their own owner, class and
// deadline. Nothing is in the queue yet: the caller has that done; should the
// caller die first, the sweeper does it.
func (s *Store) Create(ctx context.Context, n New) (job *Job, joined bool, err error) {
	flight := DedupKeyFor(n.Kind, n.Input)
	for range 10 {
		job, err = s.findByDedupKey(ctx, flight)
		if err == nil {
			job, err = s.join(ctx, job, n.Subscriber)
		}
		if !errors.Is(err, ErrNotFound) {
			return job, true, err
		}
		job, err := s.record(ctx, n, flight)
		if err != nil {
			return nil, false, err
		}
		holder, err := s.AcquireDedupKey(ctx, job.ID, flight, n.Deadline)
		if err != nil {
			return nil, false, err
		}
		if holder == nil {
			return job, false, nil
		}
		if err = s.DeleteUnstarted(ctx, job.ID, n.Class); err != nil {
			return nil, false, err
		}
	}
	return nil, false, fmt.Errorf("jobs: what is in flight %s ends before it can be joined", flight)
}

// record writes the record of a new job. It stands before the flight is
// taken: whoever finds the id in flight finds the job. The other way round a
// dead caller would leave a flight to nowhere.
func (s *Store) record(ctx context.Context, n New, flight string) (*Job, error) {
	now := time.Now().UTC()
	job := &Job{
		ID:   ulid.MustNew(ulid.Timestamp(now), rand.Reader).String(),
		Kind: n.Kind, Class: n.Class, Owner: n.Owner, Input: n.Input, DedupKey: flight, State: Queued,
		Steps: map[string]Step{}, Outputs: map[string]json.RawMessage{}, Children: map[string]Child{},
		RequestedByCaller: n.Subscriber == "", Created: now, Deadline: now.Add(n.Deadline),
	}
	data, err := json.Marshal(meta{job.Kind, job.Class, job.Owner, job.Input, flight, job.Created, job.Deadline})
	if err != nil {
		return nil, fmt.Errorf("jobs: input: %w", err)
	}
	life := n.Deadline + 2*retention
	pipe := s.redis.Pipeline()
	scriptRecord.Eval(ctx, pipe, []string{keyJob(job.ID), keySubscribers(job.ID)}, data, life.Milliseconds(), n.Subscriber)
	scriptSchedule.Eval(ctx, pipe, []string{keyActive(n.Class)}, job.ID, firstCheckDelayFor(n.Class).Milliseconds(), "NX")
	_, err = pipe.Exec(ctx)
	return job, err
}

func firstCheckDelayFor(class Class) time.Duration {
	if class == Bulk {
		return firstCheckDelayBulk
	}
	return firstCheckDelay
}

// AcquireDedupKey takes the flight for a job, or returns the live job that has it; nil
// when the job has it itself.
func (s *Store) AcquireDedupKey(ctx context.Context, id, flight string, life time.Duration) (*Job, error) {
	replace := ""
	for range 10 {
		holder, err := scriptAcquireKey.Run(ctx, s.redis, []string{keyDedup(flight)},
			id, (max(life, 0) + retention).Milliseconds(), replace).Text()
		if err != nil {
			return nil, err
		}
		if holder == id {
			return nil, nil //nolint:nilnil // nobody else
		}
		job, err := s.Get(ctx, holder)
		if err == nil && isJoinable(job) {
			return job, nil
		}
		if err != nil && !errors.Is(err, ErrNotFound) {
			return nil, err
		}
		replace = holder
	}
	return nil, fmt.Errorf("jobs: flight %s changes hands too fast", flight)
}

// findByDedupKey returns the job that can be joined, or ErrNotFound.
func (s *Store) findByDedupKey(ctx context.Context, flight string) (*Job, error) {
	id, err := s.redis.Get(ctx, keyDedup(flight)).Result()
	if errors.Is(err, redis.Nil) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	job, err := s.Get(ctx, id)
	if err == nil && !isJoinable(job) {
		return nil, ErrNotFound
	}
	return job, err
}

// isJoinable: at work, or answered a moment ago (see answeredGrace). A failed
// job is not joined: asking again means trying again.
func isJoinable(job *Job) bool { return !job.State.Ended() || job.State == Succeeded }

// DeleteUnstarted removes a job that was never started and that nobody was told of; one
// that was started after all stays.
func (s *Store) DeleteUnstarted(ctx context.Context, id string, class Class) error {
	dropped, err := scriptDeleteUnstarted.Run(ctx, s.redis, []string{keyJob(id), keySubscribers(id)}).Bool()
	if err != nil || !dropped {
		return err
	}
	return s.RemoveActive(ctx, id, class)
}

// Get reads a job. ErrNotFound when there is none.
func (s *Store) Get(ctx context.Context, id string) (*Job, error) {
	fields, err := s.redis.HGetAll(ctx, keyJob(id)).Result()
	if err != nil {
		return nil, err
	}
	if fields["meta"] == "" {
		return nil, ErrNotFound
	}
	return parse(id, fields)
}

// ended reads only whether a job has ended.
func (s *Store) ended(ctx context.Context, id string) (bool, error) {
	state, err := s.redis.HGet(ctx, keyJob(id), "state").Result()
	if errors.Is(err, redis.Nil) {
		return false, ErrNotFound
	}
	return State(state).Ended(), err
}

// parse makes a Job of the fields of its hash.
func parse(id string, fields map[string]string) (*Job, error) {
	var m meta
	if err := json.Unmarshal([]byte(fields["meta"]), &m); err != nil {
		return nil, fmt.Errorf("jobs: record %s: %w", id, err)
	}
	job := &Job{
		ID: id, Kind: m.Kind, Class: m.Class, Owner: m.Owner, Input: m.Input, DedupKey: m.DedupKey,
		Created: m.Created, Deadline: m.Deadline,
		State: State(fields["state"]), Ended: millis(fields["ended"]),
		Steps: map[string]Step{}, Outputs: map[string]json.RawMessage{}, RequestedByCaller: fields["asked"] != "",
	}
	if fields["promoted"] != "" {
		job.Class = Interactive
	}
	if text := fields["result"]; text != "" {
		result, err := pack.Unpack([]byte(text))
		if err != nil {
			return nil, fmt.Errorf("jobs: record %s: %w", id, err)
		}
		job.Result = result
	}
	if text := fields["error"]; text != "" {
		job.Error = &Error{}
		if err := json.Unmarshal([]byte(text), job.Error); err != nil {
			return nil, fmt.Errorf("jobs: record %s: %w", id, err)
		}
	}
	var err error
	if job.Children, err = childrenOf(fields); err != nil {
		return nil, fmt.Errorf("jobs: record %s: %w", id, err)
	}
	for name, value := range fields {
		if step, ok := strings.CutPrefix(name, "o:"); ok {
			job.Outputs[step] = json.RawMessage(value)
		}
		rest, ok := strings.CutPrefix(name, "s:")
		step, what, _ := strings.Cut(rest, ":")
		if !ok || what != "attempt" {
			continue
		}
		attempt, err := strconv.Atoi(value)
		if err != nil {
			return nil, fmt.Errorf("jobs: record %s: %w", id, err)
		}
		prefix := "s:" + step + ":"
		retries, _ := strconv.Atoi(fields[prefix+"retries"]) // absent before the first
		job.Steps[step] = Step{
			State: StepState(fields[prefix+"state"]), Attempt: attempt, Retries: retries, Worker: fields[prefix+"worker"],
			Claim: fields[prefix+"claim"], Since: millis(fields[prefix+"since"]),
		}
	}
	return job, nil
}

func millis(text string) time.Time {
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
