package jobs

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/plainjson"
	"ushuru/pkg/redisx"
)

// ErrNoAttachment means that a job has no attachment, or that it has ended.
var ErrNoAttachment = errors.New("jobs: no such attachment")

// ChannelEnqueued has the name of each queue that gets a task. A message may be lost:
// workers also look into their queues at intervals.
const ChannelEnqueued = "tasks:enqueued"

const (
	// ChannelEnded has the ids of jobs that ended.
	ChannelEnded = "jobs:ended"

	retention = 24 * time.Hour // of a job that has ended

	// A job that succeeded is joined for this long: a caller that missed the cache
	// just before the result was cached must not start the work again.
	joinGrace = 10 * time.Second

	// RefusalTTL is how long a definite refusal is joined, so that the same request
	// fetches nothing.
	RefusalTTL = 5 * time.Minute

	// The sweeper checks a new job after firstCheckDelay. Most bulk jobs have ended
	// by then, and no worker counts as gone before heartbeatTTL.
	firstCheckDelay     = 2 * time.Second
	firstCheckDelayBulk = heartbeatTTL
)

// keyActive is a sorted set of the jobs that the sweeper checks, by the time of
// their next check in ms. Each class has its own, so that a batch cannot delay the
// check of an interactive job.
func keyActive(class Class) string { return "jobs:active:" + string(class) }

// AttachmentTTL is for an attachment whose job was never created. It is longer than
// the deadline of an interactive job.
const AttachmentTTL = 30 * time.Minute

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
	DedupKey string          `json:"dedup"`
	Created  time.Time       `json:"created"`
	Deadline time.Time       `json:"deadline"`
	Attached bool            `json:"attached,omitempty"`
	Origin   Origin          `json:"origin,omitzero"`
}

// Create writes the record of a job, or joins the running job of the same kind and
// input, which keeps its owner, class and deadline. It enqueues nothing: the
// caller advances the job, and if the caller dies first the sweeper does. steps are
// those that a new job begins with.
func (s *Store) Create(ctx context.Context, n New, steps ...string) (job *Job, joined bool, err error) {
	job = newJob(n)
	data, err := plainjson.Encode(meta{ // the input byte for byte: it has a dedup key
		job.Kind, job.Class, job.Owner, job.Input, job.DedupKey, job.Created, job.Deadline,
		job.Attached, job.Origin,
	})
	if err != nil {
		return nil, false, fmt.Errorf("jobs: input: %w", err)
	}
	args := []any{
		job.ID, data, (n.Deadline + 2*retention).Milliseconds(), (max(n.Deadline, 0) + retention).Milliseconds(),
		n.Subscriber, keyJobPrefix(job.ID), keySubscribersPrefix(job.ID), RefusalTTL.Milliseconds(),
		"", n.Query,
	}
	if n.Listed {
		args[8] = n.Owner
	}
	for _, step := range steps {
		args = append(args, step)
		job.Steps[step] = Step{State: StepReady, Attempt: 1, Since: job.Created}
	}
	var (
		created *redis.Cmd
		packed  []byte
	)
	if n.Attachment != nil {
		packed = redisx.Pack(n.Attachment)
	}
	// The sweeper's set is in another slot. It comes first: the sweeper removes an id
	// without a job, but would never find a job that is not in the set.
	err = redisx.Pipelined(ctx, s.redis, func(pipe redis.Pipeliner, run redisx.ScriptRunner) {
		if packed != nil { // before its record: a job that a worker finds has what it needs
			pipe.Set(ctx, keyAttachment(job.ID), packed, AttachmentTTL)
		}
		run(scriptSchedule, []string{keyActive(n.Class)}, job.ID, firstCheckDelayFor(n.Class).Milliseconds(), "NX")
		if n.Listed {
			list(run, n.Owner, job.ID)
		}
		created = run(scriptCreate, keysOf(job), args...)
	})
	if err != nil {
		return nil, false, err
	}
	reply, err := created.Slice()
	if err != nil {
		return nil, false, err
	}
	if len(reply) == 0 { // this call created it
		return job, false, nil
	}
	holder, _ := reply[0].(string)
	running, err := parseReply(holder, reply[1])
	if err != nil {
		return nil, false, err
	}
	return running, true, s.keepActive(ctx, running, job, n)
}

// keepActive removes the id of a job that was not created from the sweeper's set,
// and makes sure that the one that was joined is in it: its creator may have
// crashed in between. The list of the owner has the one that was joined.
func (s *Store) keepActive(ctx context.Context, joined, unused *Job, n New) error {
	return redisx.Pipelined(ctx, s.redis, func(pipe redis.Pipeliner, run redisx.ScriptRunner) {
		if !joined.State.Ended() {
			delay := firstCheckDelayFor(joined.Class).Milliseconds()
			run(scriptSchedule, []string{keyActive(joined.Class)}, joined.ID, delay, "NX")
		}
		pipe.ZRem(ctx, keyActive(unused.Class), unused.ID)
		pipe.Del(ctx, keyAttachment(unused.ID))
		if n.Listed {
			pipe.ZRem(ctx, keyOf(n.Owner), unused.ID)
			list(run, n.Owner, joined.ID)
		}
	})
}

// newJob makes the record of a new job.
func newJob(n New) *Job {
	now := time.Now().UTC()
	dedupKey := DedupKey(n.Kind, n.Input)
	return &Job{
		ID: newID(now, dedupKey), Kind: n.Kind, Class: n.Class, Owner: n.Owner, Input: n.Input, DedupKey: dedupKey, State: Queued,
		Steps: map[string]Step{}, Outputs: map[string]json.RawMessage{}, Children: map[string]Child{},
		RequestedByCaller: n.Subscriber == "", Attached: n.Attachment != nil, Origin: n.Origin,
		Created: now, Deadline: now.Add(n.Deadline),
	}
}

func firstCheckDelayFor(class Class) time.Duration {
	if class == Bulk {
		return firstCheckDelayBulk
	}
	return firstCheckDelay
}

// scriptForget deletes the dedup key of a job that has ended or is gone. KEYS: the dedup key.
// ARGV: what the keys of records in its slot begin with.
var scriptForget = redis.NewScript(`
local id = redis.call('GET', KEYS[1])
local state = id and redis.call('HGET', ARGV[1] .. id, 'state')
if not id or state == 'queued' or state == 'running' then return 0 end
return redis.call('DEL', KEYS[1])
`)

// ForgetRefusal lets the next request with a dedup key start a new job, although the job
// that has the key has ended and would be joined for a while. It reports whether there was
// such a job.
func (s *Store) ForgetRefusal(ctx context.Context, dedupKey string) (bool, error) {
	slot := slotOfDedup(dedupKey)
	forgot, err := scriptForget.Run(ctx, s.redis, []string{keyDedup(slot, dedupKey)}, keyJobPrefix(slot)).Bool()
	if err != nil {
		return false, fmt.Errorf("jobs: delete a dedup key: %w", err)
	}
	return forgot, nil
}

// Get returns a job, or ErrNotFound.
func (s *Store) Get(ctx context.Context, id string) (*Job, error) {
	fields, err := s.redis.HGetAll(ctx, keyJob(id)).Result()
	if err != nil {
		return nil, err
	}
	return parse(id, fields)
}

// parseReply decodes a record that a script returned.
func parseReply(id string, reply any) (*Job, error) {
	list, _ := reply.([]any)
	fields := make(map[string]string, len(list)/2)
	for i := 0; i+1 < len(list); i += 2 {
		name, _ := list[i].(string)
		fields[name], _ = list[i+1].(string)
	}
	return parse(id, fields)
}

// parse decodes the fields of a record; none are ErrNotFound.
func parse(id string, fields map[string]string) (*Job, error) {
	if fields["meta"] == "" {
		return nil, ErrNotFound
	}
	var m meta
	if err := json.Unmarshal([]byte(fields["meta"]), &m); err != nil {
		return nil, fmt.Errorf("jobs: record %s: %w", id, err)
	}
	job := &Job{
		ID: id, Kind: m.Kind, Class: m.Class, Owner: m.Owner, Input: m.Input, DedupKey: m.DedupKey,
		Created: m.Created, Deadline: m.Deadline, Attached: m.Attached, Origin: m.Origin,
		Kept:  int64(len(fields["result"]) + len(fields["error"])),
		State: State(fields["state"]), Ended: millis(fields["ended"]),
		Steps: map[string]Step{}, Outputs: map[string]json.RawMessage{}, RequestedByCaller: fields["asked"] != "",
	}
	if fields["promoted"] != "" {
		job.Class = Interactive
	}
	if text := fields["result"]; text != "" {
		result, err := redisx.Unpack([]byte(text))
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
			if job.Outputs[step], err = redisx.Unpack([]byte(value)); err != nil {
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

func millis(text string) time.Time {
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// AttachmentName names the attachment of a job in the account of its owner's key.
func AttachmentName(dedupKey string) string { return "upload:" + dedupKey }

// Attachment returns the page or file that a caller sent for a job.
func (s *Store) Attachment(ctx context.Context, id string) ([]byte, error) {
	packed, err := s.redis.Get(ctx, keyAttachment(id)).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, ErrNoAttachment
	}
	if err != nil {
		return nil, fmt.Errorf("jobs: attachment: %w", err)
	}
	return redisx.Unpack(packed)
}

// slotLength is how many digits of the dedup key an id ends with. They are the hash
// tag of all keys of the job, so that one script can read and write them all.
const slotLength = 6

// newID returns an id that begins with the time and ends with the slot of a dedup
// key.
func newID(now time.Time, dedupKey string) string {
	return ulid.MustNew(ulid.Timestamp(now), rand.Reader).String() + slotOfDedup(dedupKey)
}

func slotOfDedup(dedupKey string) string { return strings.ToUpper(dedupKey[:slotLength]) }

// slotOf returns the hash tag of a job's keys. What is too short to be the id of a job is
// its own slot.
func slotOf(id string) string {
	if len(id) <= ulid.EncodedSize {
		return id
	}
	return id[ulid.EncodedSize:]
}

// keyJobPrefix returns the text that the keys of all jobs of a slot begin with.
func keyJobPrefix(id string) string { return "job:{" + slotOf(id) + "}:" }

func keyJob(id string) string { return keyJobPrefix(id) + id }

// keySubscribersPrefix is what the key of a job's subscribers begins with.
func keySubscribersPrefix(id string) string { return "subscribers:{" + slotOf(id) + "}:" }

// A subscriber is notified of a job's end: another job, a batch row or an API key.
// Its name is a word, a colon, and what the notifier of that word needs. The
// subscribers of a job are a set beside its record, under the same hash tag, so
// that a subscription and the end of the job cannot miss each other: a subscriber
// that comes before the end is in the set when the set is read after the end, and
// one that comes later learns the state at once.
func keySubscribers(id string) string { return keySubscribersPrefix(id) + id }

// keysOf returns the keys of a job: its record, its subscribers, its dedup key and its
// attachment.
func keysOf(job *Job) []string {
	return []string{
		keyJob(job.ID), keySubscribers(job.ID), keyDedup(slotOf(job.ID), job.DedupKey), keyAttachment(job.ID),
	}
}

// keyAttachment is beside the record of a job, under the same hash tag, so that the
// end of the job, whichever it is, deletes what its caller sent.
func keyAttachment(id string) string { return "upload:{" + slotOf(id) + "}:" + id }

// keyDedup is the dedup key of a running job in a slot.
func keyDedup(slot, dedupKey string) string { return "dedup:{" + slot + "}:" + dedupKey }
