package jobs

import (
	"crypto/rand"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

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
