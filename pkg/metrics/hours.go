package metrics

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/localtime"
)

// What is what a number of Counts counts.
type What struct {
	Site string // of a step; or Authority or AI
	Step string // type of the task; or name of the call, or model
	Code string // OK or the code of an error
}

// Counts are the numbers of an hour, or of several.
type Counts struct {
	Ended  map[What]int64 // steps that ended, and calls
	Marked map[What]int64 // the rest, whose codes begin with a mark: attempts, durations, tokens
}

// Retried returns the attempts of steps that were tried again, by their codes.
func (c Counts) Retried() map[What]int64 {
	attempts := map[What]int64{}
	for what, n := range c.Marked {
		if code, is := strings.CutPrefix(what.Code, retried); is {
			attempts[What{what.Site, what.Step, code}] = n
		}
	}
	return attempts
}

// Hour are the counts of one hour.
type Hour struct {
	Counts

	Start time.Time
}

// Hours returns the counts of the last hours, the newest first. The first is the present
// hour as far as it is over.
func Hours(ctx context.Context, client redis.UniversalClient, now time.Time, n int) ([]Hour, error) {
	return hoursOf(ctx, client, now, n, keyHour)
}

func hoursOf(
	ctx context.Context, client redis.UniversalClient, now time.Time, n int, key func(time.Time) string,
) ([]Hour, error) {
	hours := make([]Hour, n)
	replies := make([]*redis.MapStringStringCmd, n)
	pipe := client.Pipeline()
	for i := range hours {
		hours[i].Start = now.UTC().Truncate(time.Hour).Add(-time.Duration(i) * time.Hour)
		replies[i] = pipe.HGetAll(ctx, key(hours[i].Start))
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("metrics: hours: %w", err)
	}
	for i, reply := range replies {
		hours[i].Counts = Counts{map[What]int64{}, map[What]int64{}}
		for name, value := range reply.Val() {
			count, err := strconv.ParseInt(value, 10, 64)
			site, step, code, ok := parse(name)
			if ok && err == nil {
				hours[i].add(What{site, step, code}, count)
			}
		}
	}
	return hours, nil
}

// add adds a count.
func (c Counts) add(what What, n int64) {
	if what.Code != "" && strings.Contains(marks, what.Code[:1]) {
		c.Marked[what] += n
	} else {
		c.Ended[what] += n
	}
}

// bucketNumber returns the bucket of a bound.
func bucketNumber(bound string) int {
	seconds, err := strconv.ParseFloat(bound, 64)
	for i, known := range buckets {
		if err == nil && seconds == known {
			return i
		}
	}
	return len(buckets)
}

// Sum adds hours.
func Sum(hours []Hour) Counts {
	total := Counts{map[What]int64{}, map[What]int64{}}
	for _, hour := range hours {
		for _, counts := range []map[What]int64{hour.Ended, hour.Marked} {
			for what, n := range counts {
				total.add(what, n)
			}
		}
	}
	return total
}

// Median returns the median duration of the successes that match, between the bounds of its
// bucket in proportion; 0 when there are none. It is at most 32 s.
func (c Counts) Median(match func(What) bool) time.Duration {
	var (
		durations [len(buckets) + 1]int64
		total     int64
	)
	for what, n := range c.Marked {
		bound, isDuration := strings.CutPrefix(what.Code, took)
		if what.Code = ""; isDuration && match(what) {
			durations[bucketNumber(bound)] += n
			total += n
		}
	}
	half, below, lower := float64(total)/2, 0.0, 0.0
	for i, n := range durations[:len(buckets)] {
		if n > 0 && below+float64(n) >= half {
			return time.Duration((lower + (buckets[i]-lower)*(half-below)/float64(n)) * float64(time.Second))
		}
		below, lower = below+float64(n), buckets[i]
	}
	if total == 0 {
		return 0
	}
	return time.Duration(lower * float64(time.Second))
}

// Marks are what is known of sites and codes now.
type Marks struct {
	LastRead map[string]time.Time // when a page of a site was last read
	Examples map[string]string    // the last job of a code, by ExampleName
	InRow    map[string]int       // calls of a model of the AI that have failed since it last answered
}

// ExampleName names the example of a code.
func ExampleName(step, code string) string { return step + "/" + code }

// ReadMarks returns the marks.
func ReadMarks(ctx context.Context, client redis.UniversalClient) (Marks, error) {
	pipe := client.Pipeline()
	last, examples, failed := pipe.HGetAll(ctx, keyLast), pipe.HGetAll(ctx, keyExample), pipe.HGetAll(ctx, keyInRow)
	if _, err := pipe.Exec(ctx); err != nil {
		return Marks{}, fmt.Errorf("metrics: marks: %w", err)
	}
	inRow := map[string]int{}
	for model, text := range failed.Val() {
		inRow[model], _ = strconv.Atoi(text) // Redis has written a number
	}
	return Marks{timesOf(last.Val()), examples.Val(), inRow}, nil
}

// Usage is how much an API key asks.
type Usage struct {
	LastUsed time.Time // to the minute; zero when it was never used
	Today    int64     // requests on this day in Dar es Salaam
}

// ReadUsage returns the usage of all API keys by their ids.
func ReadUsage(ctx context.Context, client redis.UniversalClient, now time.Time) (map[string]Usage, error) {
	pipe := client.Pipeline()
	used, today := pipe.HGetAll(ctx, keyUsed), pipe.HGetAll(ctx, keyDay(now))
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("metrics: use of API keys: %w", err)
	}
	all := map[string]Usage{}
	for id, at := range timesOf(used.Val()) {
		all[id] = Usage{LastUsed: at}
	}
	for id, text := range today.Val() {
		usage := all[id]
		usage.Today, _ = strconv.ParseInt(text, 10, 64) // Redis has written a number
		all[id] = usage
	}
	return all, nil
}

// timesOf parses times in seconds since 1970; it leaves out what is none.
func timesOf(fields map[string]string) map[string]time.Time {
	times := make(map[string]time.Time, len(fields))
	for name, text := range fields {
		if seconds, err := strconv.ParseInt(text, 10, 64); err == nil {
			times[name] = time.Unix(seconds, 0).UTC()
		}
	}
	return times
}

// FailedJobs returns the jobs that failed in a step with a code, the newest first, until
// ForgetFailed. They include jobs of rows, whose records may be gone.
func FailedJobs(ctx context.Context, client redis.UniversalClient, step, code string) ([]string, error) {
	found, err := client.ZRevRange(ctx, keyFailed(step, code), 0, -1).Result()
	if err != nil {
		return nil, fmt.Errorf("metrics: failed jobs: %w", err)
	}
	return found, nil
}

// ForgetFailed takes a job that is tried again from those that failed in a step with a code.
func ForgetFailed(ctx context.Context, client redis.UniversalClient, step, code, job string) error {
	if err := client.ZRem(ctx, keyFailed(step, code), job).Err(); err != nil {
		return fmt.Errorf("metrics: failed jobs: %w", err)
	}
	return nil
}

const (
	keyLast    = "stat:last"    // hash: when a page of a site was last read, in seconds since 1970
	keyExample = "stat:example" // hash: the last job that ended with a code, by step/code
	keyInRow   = "stat:row"     // hash: how many calls of a model of the AI have failed since it last answered
	keyUsed    = "keys:used"    // hash: when an API key was last used, likewise, by its id
)

// maxFailed is how many jobs that failed in a step with a code are listed, the newest.
const maxFailed = 20_000

// keyFailed is a sorted set of the jobs that failed in a step with a code, all with the score 0:
// their ids begin with the time.
func keyFailed(step, code string) string { return "stat:failed:" + ExampleName(step, code) }

// keyHour is the hash of the counts of an hour: site/step/code.
func keyHour(at time.Time) string { return "stat:" + at.UTC().Format("2006010215") }

// keyDay is the hash of the requests of a day, by API key.
func keyDay(at time.Time) string { return "keys:day:" + at.In(localtime.Zone).Format("20060102") }

// What the code of a count begins with that is not the end of a step or call.
const (
	retried  = "~" // an attempt that is tried again, and its code
	took     = "<" // a success within so many seconds
	sum      = "+" // not a number of steps or calls
	marks    = retried + took + sum
	Tokens   = sum + "tokens"   // of the AI
	Failover = sum + "failover" // calls of a model because another had failed
)

// field names a count. The name of a model may have slashes, a site and a code have none.
func field(site, step, code string) string { return site + "/" + step + "/" + code }

// buckets are the upper bounds of durations, in seconds. What takes longer is in the last.
var buckets = [...]float64{0.25, 0.5, 1, 2, 4, 8, 16, 32}

const endless = "inf"

// bucketOf returns the code of the durations like one.
func bucketOf(d time.Duration) string {
	for _, bound := range buckets {
		if d.Seconds() < bound {
			return took + strconv.FormatFloat(bound, 'g', -1, 64)
		}
	}
	return took + endless
}

// parse parses the name of a count.
func parse(name string) (site, step, code string, ok bool) {
	site, rest, ok := strings.Cut(name, "/")
	at := strings.LastIndexByte(rest, '/')
	if !ok || at < 0 {
		return "", "", "", false
	}
	return site, rest[:at], rest[at+1:], true
}
