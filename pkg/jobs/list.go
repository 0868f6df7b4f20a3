package jobs

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
)

// keyOf is a sorted set of the jobs that an API key has requested, all with the score 0:
// their ids begin with the time, so that their order is that of their creation.
func keyOf(owner string) string { return "jobs:of:{" + owner + "}" }

const (
	// maxListed is how many jobs of a key are listed: the newest.
	maxListed = 1000
	// listedTTL is how long the list is kept after the last request. A record may be
	// kept for its deadline and two retentions.
	listedTTL = 3 * retention
)

// ErrBadCursor means that a cursor is not the id of a job.
var ErrBadCursor = errors.New("jobs: not a cursor")

// scriptList adds a job to the list of a key, from which the oldest drop out. ARGV: id,
// maximum, TTL in ms.
var scriptList = redis.NewScript(`
redis.call('ZADD', KEYS[1], 0, ARGV[1])
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
`)

// list adds a job to the list of the key that has requested it.
func list(run redisx.ScriptRunner, owner, id string) {
	run(scriptList, []string{keyOf(owner)}, id, maxListed, listedTTL.Milliseconds())
}

// IsListed reports whether an API key has requested a job.
func (s *Store) IsListed(ctx context.Context, owner, id string) (bool, error) {
	err := s.redis.ZScore(ctx, keyOf(owner), id).Err()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	return err == nil, err
}

// List returns up to limit jobs that an API key has requested, newest first, older than
// the one named by before ("" is no bound), and with a state only those in it. They have
// neither steps nor result. more reports whether there may be others.
func (s *Store) List(ctx context.Context, owner, before string, limit int, state State) (found []*Job, more bool, err error) {
	bound := "+"
	if before != "" {
		if len(before) < ulid.EncodedSize {
			return nil, false, ErrBadCursor
		}
		if _, err := ulid.ParseStrict(before[:ulid.EncodedSize]); err != nil {
			return nil, false, fmt.Errorf("%w: %w", ErrBadCursor, err)
		}
		bound = "(" + before
	}
	for {
		ids, err := s.redis.ZRevRangeByLex(ctx, keyOf(owner), &redis.ZRangeBy{Min: "-", Max: bound, Count: listChunk}).Result()
		if err != nil || len(ids) == 0 {
			return found, false, err
		}
		all, err := s.heads(ctx, owner, ids)
		if err != nil {
			return nil, false, err
		}
		for _, job := range all {
			switch {
			case state != "" && job.State != state:
			case len(found) == limit:
				return found, true, nil
			default:
				found = append(found, job)
			}
		}
		bound = "(" + ids[len(ids)-1]
	}
}

// listChunk is how many records are read at once.
const listChunk = 100

// heads returns those of the jobs of a key whose records exist, without steps and results.
func (s *Store) heads(ctx context.Context, owner string, ids []string) (found []*Job, err error) {
	names := []string{"meta", "state", "ended", "error", "asked", "promoted", "q:" + owner}
	replies, err := redisx.Each(ctx, s.redis, ids, func(pipe redis.Pipeliner, id string) *redis.SliceCmd {
		return pipe.HMGet(ctx, keyJob(id), names...)
	})
	if err != nil {
		return nil, fmt.Errorf("jobs: list: %w", err)
	}
	for i, id := range ids {
		fields := map[string]string{}
		for j, value := range replies[i].Val() {
			if text, ok := value.(string); ok {
				fields[names[j]] = text
			}
		}
		job, err := parse(id, fields)
		if errors.Is(err, ErrNotFound) { // it has expired, or was never created
			continue
		}
		if err != nil {
			return nil, err
		}
		job.Query = fields["q:"+owner]
		found = append(found, job)
	}
	return found, nil
}

const (
	// runningTTL is how long a running job counts after it was submitted. It ends long before.
	runningTTL = 24 * time.Hour
	// reserved begins the name of a place for a job that is about to be submitted, and
	// reservedFor is for how long it counts: that of a process that was killed is free afterwards.
	reserved    = "?"
	reservedFor = 15 * time.Second
)

func (s *Store) running() *pace.Accounts { return pace.NewAccounts(s.redis, pace.KindJobs) }

// Reserve takes a place for one more running job of an owner, of at most maxJobs, and returns its
// name; "" when there is none. A visitor leaves as many to the others of a network as the visitor
// has. Jobs are not counted down when they end, so that a process that dies leaves no wrong
// count behind: when no place is free, Reserve removes the jobs that have ended.
func (s *Store) Reserve(ctx context.Context, owner pace.Holder, maxJobs int) (place string, err error) {
	place = reserved + rand.Text()
	take := func() (bool, error) {
		within := pace.Within{Whole: int64(maxJobs), Half: true}
		b, err := s.running().TakeFor(ctx, owner, within, pace.Kept{Name: place, Size: 1, TTL: reservedFor})
		return !b.Refused, err
	}
	if ok, err := take(); ok || err != nil {
		return place, err
	}
	_, ended, err := s.tracked(ctx, owner)
	if err != nil || len(ended) == 0 {
		return "", err
	}
	if err := s.running().Forget(ctx, owner, ended...); err != nil {
		return "", err
	}
	if ok, err := take(); !ok {
		return "", err
	}
	return place, nil
}

// Track gives a place back that Reserve took, and counts a job in its stead until it has
// ended; with the id "" none. Without a place nothing is counted.
func (s *Store) Track(ctx context.Context, owner pace.Holder, place, id string) error {
	if place == "" {
		return nil
	}
	things := []pace.Kept{{Name: place}}
	if id != "" {
		things = append(things, pace.Kept{Name: id, Size: 1, TTL: runningTTL})
	}
	_, err := s.running().Settle(ctx, owner, things...)
	return err
}

// CountRunning returns how many jobs of an owner run, without those of batches.
func (s *Store) CountRunning(ctx context.Context, owner string) (int, error) {
	all, ended, err := s.tracked(ctx, pace.Holder{Whole: owner})
	return all - len(ended), err
}

// tracked returns how many jobs Track counts, and those of them that have ended.
func (s *Store) tracked(ctx context.Context, owner pace.Holder) (all int, ended []string, err error) {
	names, err := s.running().Names(ctx, owner)
	if err != nil {
		return 0, nil, err
	}
	ids := slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, reserved) })
	ended, err = s.ListEnded(ctx, ids)
	return len(ids), ended, err
}

// IsOver reports whether a job has ended or does not exist any more.
func (s *Store) IsOver(ctx context.Context, id string) (bool, error) {
	return hasEnded(s.redis.HGet(ctx, keyJob(id), "state"))
}

// ListEnded returns those of the jobs that have ended or do not exist any more, with an error those
// that it could read.
func (s *Store) ListEnded(ctx context.Context, ids []string) (gone []string, err error) {
	states, err := redisx.Each(ctx, s.redis, ids, func(pipe redis.Pipeliner, id string) *redis.StringCmd {
		return pipe.HGet(ctx, keyJob(id), "state")
	})
	for i, id := range ids {
		if ended, unread := hasEnded(states[i]); unread == nil && ended {
			gone = append(gone, id)
		}
	}
	return gone, err
}

// hasEnded reads the state of a job, which may not exist any more.
func hasEnded(state *redis.StringCmd) (bool, error) {
	value, err := state.Result()
	if errors.Is(err, redis.Nil) {
		return true, nil
	}
	return State(value).Ended(), err
}

// DedupKey returns the hash under which equal inputs of a kind share one job. The
// input is canonical.
func DedupKey(kind string, input json.RawMessage) string {
	sum := sha256.Sum256(append([]byte(kind+"\x00"), input...))
	return hex.EncodeToString(sum[:16])
}

// AreRunning reports for each of the dedup keys whether an unfinished job has it.
func (s *Store) AreRunning(ctx context.Context, dedupKeys []string) ([]bool, error) {
	found, err := redisx.Each(ctx, s.redis, dedupKeys, func(pipe redis.Pipeliner, key string) *redis.IntCmd {
		return pipe.Exists(ctx, keyDedup(slotOfDedup(key), key))
	})
	if err != nil {
		return nil, fmt.Errorf("jobs: running jobs: %w", err)
	}
	running := make([]bool, len(dedupKeys))
	for i, reply := range found {
		running[i] = reply.Val() > 0
	}
	return running, nil
}
