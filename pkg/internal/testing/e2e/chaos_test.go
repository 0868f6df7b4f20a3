package e2e

import (
	"flag"
	"math/rand/v2"
	"testing"
	"time"

	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
)

var (
	chaosListings = flag.Int("chaos", 200, "listings in the batch of TestChaosChangesNoResult")
	chaosSeed     = flag.Uint64("chaos.seed", 1, "seed of that test; 0 draws one")
)

const (
	// upstreamErrors is the share of requests that the SIMULATED authority and
	// the SIMULATED site fail.
	upstreamErrors = 0.3

	// chaosLimit is how long the disturbed run may take for each listing, on
	// top of a few minutes: the test ends, whatever is broken.
	chaosLimit = 500 * time.Millisecond
)

// A batch whose workers and API processes are killed with SIGKILL at random,
// whose Redis is killed and started again on its append-only file, and whose
// upstreams fail three requests in ten, ends with the results of a batch that
// nothing happened to: no row is lost or doubled, and its owner is notified.
//
// What was answered by Redis must be on its disk (appendfsync always, see
// redistest.AOF): with everysec, Redis may acknowledge what it has not yet
// written to the kernel while an fsync runs.
//
// It runs with 200 listings and one seed, in half a minute. With 2,000, and
// another seed each time (the log says which; -chaos.seed takes it again):
//
//	USHURU_TEST=long go test ./pkg/internal/testing/e2e -run TestChaosChangesNoResult -v -timeout 40m -chaos 2000 -chaos.seed 0
//
// The seed decides who is killed after which pause, when Redis is, and which
// requests fail; what is under way at that moment is up to the machine.
func TestChaosChangesNoResult(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	seed := *chaosSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("%d listings, -chaos.seed %d", *chaosListings, seed)
	lots := newLots(t, *chaosListings, seed)

	start := time.Now()
	want := undisturbed(t, lots, seed)
	t.Logf("undisturbed: %v in %v", want.counts(), time.Since(start).Round(time.Millisecond))

	lots.site.fail(upstreamErrors)
	start = time.Now()
	c := newChaos(t, lots, seed, redistest.Start(t, redistest.AOF()))
	got := c.run(3*time.Minute + time.Duration(*chaosListings)*chaosLimit)
	t.Logf("disturbed: %v in %v; killed %d workers, %d APIs and Redis %d times (away for %v at most); %d webhooks",
		got.counts(), time.Since(start).Round(time.Millisecond), c.killed["worker"], c.killed["api"], c.killed["redis"],
		c.away.Round(time.Millisecond), got.deliveries)
	t.Logf("the site got %d requests, the authority %d; %d calculations for %d vehicles",
		lots.site.requests.Load(), c.front.requests(), c.front.calculations(), c.front.vehicles())

	for _, kind := range []string{"worker", "api", "redis"} {
		if c.killed[kind] == 0 {
			t.Errorf("no %s was killed before the batch ended", kind)
		}
	}
	got.wholeOf(t, lots)
	got.equals(t, want)
	c.front.onceEach(t, c.deaths, c.away)
}
