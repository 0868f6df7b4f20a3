package stat

import (
	"strconv"
	"strings"
	"time"
)

const (
	keyLast    = "stat:last"    // hash: when a page of a site was last read, in seconds since 1970
	keyExample = "stat:example" // hash: the last job that ended with a code, by step/code
	keyUsed    = "keys:used"    // hash: when an API key was last used, likewise, by its id
)

// MaxFailed is how many jobs that failed in a step with a code are listed, the newest.
const MaxFailed = 500

// keyFailed is the list of the jobs that failed in a step with a code, the newest first.
func keyFailed(step, code string) string { return "stat:failed:" + ExampleName(step, code) }

// keyHour is the hash of the counts of an hour: site/step/code.
func keyHour(at time.Time) string { return "stat:" + at.UTC().Format("2006010215") }

// darEsSalaam is UTC+3 all the year, without a table of zones.
var darEsSalaam = time.FixedZone("Africa/Dar_es_Salaam", 3*60*60)

// keyDay is the hash of the requests of a day, by API key.
func keyDay(at time.Time) string { return "keys:day:" + at.In(darEsSalaam).Format("20060102") }

// What a code begins with that is not the end of a step.
const (
	retried      = "~" // an attempt that is tried again, and its code
	took         = "<" // a success within so many seconds
	sum          = "+" // not a number of steps or calls
	tokens       = sum + "tokens"
	microDollars = sum + "microusd"
	failover     = sum + "failover"
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
