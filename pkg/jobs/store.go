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

	// A job that succeeded is joined for this long: a caller that missed the cache
	// just before the result was cached must not start the work again.
	joinGrace = 10 * time.Second

	// trimmedTTL is the retention of a job that no caller requested. A caller who
	// joined it may know its id.
	trimmedTTL = retention

	// The sweeper checks a new job after firstCheckDelay. Most bulk jobs have ended
	// by then, and no worker counts as gone before HeartbeatTTL.
	firstCheckDelay     = 2 * time.Second
	firstCheckDelayBulk = HeartbeatTTL
)

func keyJob(id string) string         { return "job:{" + id + "}" }
func keyDedup(dedupKey string) string { return "inflight:{" + dedupKey + "}" }

// keyActive is a sorted set of the jobs that the sweeper checks, by the time of
// their next check in ms. Each class has its own, so that a batch cannot delay the
// check of an interactive job.
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

// DedupKeyFor returns the dedup key: the hash under which equal inputs share one
// job.
func DedupKeyFor(kind string, input json.RawMessage) string {
	sum := sha256.Sum256(append([]byte(kind+"\x00"), input...))
	return hex.EncodeToString(sum[:16])
}

// Create writes the record of a job, or joins the running job of the same kind and
// input, which keeps its owner, class and deadline. It enqueues nothing: the
// caller advances the job, and if the caller dies first the sweeper does.
func (s *Store) Create(ctx context.Context, n New) (job *Job, joined bool, err error) {
	dedupKey := DedupKeyFor(n.Kind, n.Input)
	for range 10 {
		job, err = s.findByDedupKey(ctx, dedupKey)
		if err == nil {
			job, err = s.join(ctx, job, n.Subscriber)
		}
		if !errors.Is(err, ErrNotFound) {
			return job, true, err
		}
		job, err := s.record(ctx, n, dedupKey)
		if err != nil {
			return nil, false, err
		}
		holder, err := s.AcquireDedupKey(ctx, job.ID, dedupKey, n.Deadline)
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
	return nil, false, fmt.Errorf("jobs: the job with the dedup key %s ends before it can be joined", dedupKey)
}

// record writes the record of a new job. It does so before the dedup key is
// acquired, so that every process that finds the id under the key finds the record
// too. Otherwise a process that dies in between would leave a key without a job.
func (s *Store) record(ctx context.Context, n New, dedupKey string) (*Job, error) {
	now := time.Now().UTC()
	job := &Job{
		ID:   ulid.MustNew(ulid.Timestamp(now), rand.Reader).String(),
		Kind: n.Kind, Class: n.Class, Owner: n.Owner, Input: n.Input, DedupKey: dedupKey, State: Queued,
		Steps: map[string]Step{}, Outputs: map[string]json.RawMessage{}, Children: map[string]Child{},
		RequestedByCaller: n.Subscriber == "", Created: now, Deadline: now.Add(n.Deadline),
	}
	data, err := json.Marshal(meta{job.Kind, job.Class, job.Owner, job.Input, dedupKey, job.Created, job.Deadline})
	if err != nil {
		return nil, fmt.Errorf("jobs: input: %w", err)
	}
	ttl := n.Deadline + 2*retention
	pipe := s.redis.Pipeline()
	scriptRecord.Eval(ctx, pipe, []string{keyJob(job.ID), keySubscribers(job.ID)}, data, ttl.Milliseconds(), n.Subscriber)
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

// AcquireDedupKey acquires the dedup key for a job, or returns the running job
// that has it; nil when the job itself has it.
func (s *Store) AcquireDedupKey(ctx context.Context, id, dedupKey string, ttl time.Duration) (*Job, error) {
	replace := ""
	for range 10 {
		holder, err := scriptAcquireKey.Run(ctx, s.redis, []string{keyDedup(dedupKey)},
			id, (max(ttl, 0) + retention).Milliseconds(), replace).Text()
		if err != nil {
			return nil, err
		}
		if holder == id {
			return nil, nil //nolint:nilnil // no other job
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
	return nil, fmt.Errorf("jobs: the dedup key %s changes its job too fast", dedupKey)
}

// findByDedupKey returns the job that can be joined, or ErrNotFound.
func (s *Store) findByDedupKey(ctx context.Context, dedupKey string) (*Job, error) {
	id, err := s.redis.Get(ctx, keyDedup(dedupKey)).Result()
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

// isJoinable reports whether a job is running or succeeded less than joinGrace
// ago. A failed job is not joined: a new request is a new attempt.
func isJoinable(job *Job) bool { return !job.State.Ended() || job.State == Succeeded }

// DeleteUnstarted deletes a job that was never started and whose id no caller
// knows. It keeps a job that was started after all.
func (s *Store) DeleteUnstarted(ctx context.Context, id string, class Class) error {
	dropped, err := scriptDeleteUnstarted.Run(ctx, s.redis, []string{keyJob(id), keySubscribers(id)}).Bool()
	if err != nil || !dropped {
		return err
	}
	return s.RemoveActive(ctx, id, class)
}

// Get returns a job, or ErrNotFound.
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

// ended reports whether a job has ended, without reading the rest of its record.
func (s *Store) ended(ctx context.Context, id string) (bool, error) {
	state, err := s.redis.HGet(ctx, keyJob(id), "state").Result()
	if errors.Is(err, redis.Nil) {
		return false, ErrNotFound
	}
	return State(state).Ended(), err
}

// ListEnded returns those of the jobs that have ended or do not exist any more.
func (s *Store) ListEnded(ctx context.Context, ids []string) (gone []string, err error) {
	pipe := s.redis.Pipeline()
	states := make([]*redis.StringCmd, len(ids))
	for i, id := range ids {
		states[i] = pipe.HGet(ctx, keyJob(id), "state")
	}
	if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
		return nil, err
	}
	for i, id := range ids {
		state, err := states[i].Result()
		if err != nil && !errors.Is(err, redis.Nil) {
			return nil, err
		}
		if err != nil || State(state).Ended() {
			gone = append(gone, id)
		}
	}
	return gone, nil
}

// parse decodes the fields of a record.
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
			if job.Outputs[step], err = unpackOutput(value); err != nil {
				return nil, fmt.Errorf("jobs: record %s: %w", id, err)
			}
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

// unpackOutput returns the output of a step. Those of earlier versions are not
// packed.
func unpackOutput(value string) (json.RawMessage, error) {
	if !pack.IsPacked([]byte(value)) {
		return json.RawMessage(value), nil
	}
	return pack.Unpack([]byte(value))
}

func millis(text string) time.Time {
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
