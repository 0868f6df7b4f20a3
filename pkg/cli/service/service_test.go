package service

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"

	"ushuru/pkg/batch"
	"ushuru/pkg/cli/console"
	"ushuru/pkg/drift"
	"ushuru/pkg/golden"
	"ushuru/pkg/jobs"
	"ushuru/pkg/keys"
	"ushuru/pkg/operate/status"
	"ushuru/pkg/tra"
)

// nights are statuses that an operator reads at three in the morning.
func nights() map[string]status.Status {
	at := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) *time.Time { t := at.Add(-d); return &t }
	agree, quarter := true, time.Date(2026, 12, 31, 0, 0, 0, 0, time.UTC)
	calm := status.Status{
		At:        at,
		Authority: status.Authority{Status: tra.Status{State: tra.Up}, MedianMS: 820, QuarterEnd: quarter, Rules: drift.State{RulesAgree: &agree, Checked: 41}},
		Workers: []status.Role{
			{Role: "any", Workers: []jobs.Worker{{ID: "w1", Presence: jobs.Presence{Roles: []string{"any"}, Version: "1.4.0"}}}, LastBeat: ago(time.Second)},
			{Role: "authority", Workers: []jobs.Worker{{ID: "w2", Presence: jobs.Presence{Roles: []string{"authority"}, Version: "1.4.0"}}}, LastBeat: ago(2 * time.Second)},
		},
		Queues: []status.Queue{{Name: "interactive", Role: "any", Running: 2}},
		Redis:  status.Redis{Used: 300 << 20, Limit: 1000 << 20, Policy: "noeviction"},
		API:    status.API{Processes: []string{"server, process 1"}},
	}
	night := calm
	night.Authority.State, night.Authority.Reason = tra.Down, "unavailable"
	night.Authority.Breaker, night.Authority.LastSuccessAt = "open", ago(20*time.Minute)
	night.Workers = []status.Role{{Role: "authority", Waiting: 31, LastBeat: ago(time.Hour)}}
	night.Redis.Used = 930 << 20
	night.Sites = []status.Site{{Host: "sbtjapan.com", Blocked: 14, LastGood: ago(3 * time.Hour)}}
	night.Failures = []status.Failure{{Code: "listing_blocked", Step: "estimate:scrape", Hour: 14, Day: 60, Job: "J1", Page: "https://sbtjapan.com/1"}}
	night.Batches = []status.Batch{{
		ID: "B1", Name: "dealer", Rows: 100, Counts: map[batch.State]int{batch.Succeeded: 40, batch.Failed: 10, batch.Waiting: 50},
		PerSecond: 0.5, EndsAbout: ago(-time.Minute), Reason: "listing_blocked",
	}}
	night.Keys = []status.Key{{Key: keys.Key{ID: "K1", Name: "dealer", Hint: "x7Qz"}, LastUsed: ago(time.Minute), Today: 900, Uses: []status.Use{{What: status.UseJobs, Used: 95, Limit: 100}}}}
	night.Webhooks = []status.Webhook{{ID: "H1", Name: "dealer", Host: "dealer.example", State: "disabled", Disabled: "410 Gone", Failed: 9}}
	night.Queues = []status.Queue{{Name: "authority", Role: "authority", Waiting: 31, OldestMS: 3_600_000}}
	night.Unread = []string{"batches: timeout"}
	return map[string]status.Status{"calm": calm, "night": night}
}

// What an operator reads, as text and as JSON.
func TestStatusIsAsReviewed(t *testing.T) {
	t.Parallel()
	for name, now := range nights() {
		now.Needs = now.NeedsOf()
		for suffix, format := range map[string]console.Format{".txt": {}, ".json": {Output: "json"}} {
			var out bytes.Buffer
			session := &Session{Console: &console.Console{Streams: console.Streams{Out: &out}, Ctx: t.Context()}}
			if err := session.printStatus(format, &now); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, filepath.Join("testdata", "status-"+name+suffix), out.String())
		}
	}
}

// A batch may take hours: only a time that the caller gives ends the wait for it. One job has
// ten minutes.
func TestOnlyABatchIsAwaitedWithoutEnd(t *testing.T) {
	t.Parallel()
	for given, want := range map[time.Duration]struct {
		bounded bool
		job     time.Duration
	}{0: {false, 10 * time.Minute}, 5 * time.Second: {true, 5 * time.Second}} {
		c := API{Timeout: given}
		ctx, cancel := c.forBatch(t.Context())
		_, bounded := ctx.Deadline()
		cancel()
		if bounded != want.bounded || c.jobTimeout() != want.job {
			t.Errorf("--timeout %v: got a bound of a batch %v and %v for a job, want %v and %v", given, bounded, c.jobTimeout(), want.bounded, want.job)
		}
	}
}
