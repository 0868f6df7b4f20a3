package app_test

import (
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/testenv"
)

var processed = regexp.MustCompile(`total_commands_processed:(\d+)`)

// commands returns how many commands Redis has run, those of scripts included.
func commands(t *testing.T, client redis.UniversalClient) int {
	t.Helper()
	info, err := client.Info(t.Context(), "stats").Result()
	must(t, err)
	found := processed.FindStringSubmatch(info)
	if found == nil {
		t.Fatalf("INFO has no number of commands: %s", info)
	}
	n, err := strconv.Atoi(found[1])
	must(t, err)
	return n
}

// An idle process with the API and all roles asks Redis seldom, and begins new work at
// once all the same: a message wakes the worker.
func TestAnIdleServiceAsksRedisSeldomAndBeginsAtOnce(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	b := besiege(t)
	b.survives(0)
	time.Sleep(6 * time.Second) // for so long a worker takes its queues for busy after the last job
	const measured = 10 * time.Second
	b.client.Do(t.Context(), "CONFIG", "RESETSTAT")
	before := commands(t, b.client)
	time.Sleep(measured) // a rate is of a time
	rate := float64(commands(t, b.client)-before) / measured.Seconds()
	stats, err := b.client.Info(t.Context(), "commandstats").Result()
	must(t, err)
	if rate > 100 {
		t.Errorf("an idle service makes Redis run %.0f commands a second, want at most 100: %s", rate, stats)
	}
	t.Logf("%.0f commands a second", rate)
	for car := range 3 {
		started := time.Now()
		if code, answer := b.estimate(1 + car); code != 200 || time.Since(started) > 5*time.Second {
			t.Errorf("estimate %d: %d after %v, want 200 within 5 s: %.200s", car, code, time.Since(started), answer)
		}
		t.Log(time.Since(started))
	}
}
