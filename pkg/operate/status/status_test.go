package status_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/oklog/ulid/v2"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/batch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/keys"
	"ushuru/pkg/localtime"
	"ushuru/pkg/message"
	"ushuru/pkg/metrics"
	"ushuru/pkg/operate"
	"ushuru/pkg/operate/status"
	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
	"ushuru/tasks"
)

// codes are those of the errors that the tests count.
var codes = []string{"listing_blocked", "listing_gone", "fetch_timeout", "not_a_listing", "listing_sold", "robots_forbidden", "unavailable", "page_unreadable"}

// rig is a Reader on a Redis of its own.
type rig struct {
	*status.Reader

	t      *testing.T
	server *redistest.Server
	client redis.UniversalClient
	counts *metrics.Metrics
}

func newRig(t *testing.T, server *redistest.Server, conn *redisx.Conn) *rig {
	t.Helper()
	now := time.Now() // an hour that turns during the test is none of its
	clock := func() time.Time { return now }
	r := &rig{
		status.New(status.Options{Redis: conn.Client(), Limits: pace.Limits{Jobs: 10, AITokens: 1000}, Now: clock}), t, server, conn.Client(),
		metrics.New(metrics.Options{Codes: codes, Recorder: metrics.NewRecorder(metrics.RecorderOptions{
			Redis: conn.Client(), Now: clock, HostOf: func(host string) string { return strings.TrimPrefix(host, "www.") },
		})}),
	}
	go status.Announce(t.Context(), r.client, "an API")
	testenv.Await(t, "the API is announced", func() (any, bool) {
		now := r.read().API.Processes
		return now, len(now) == 1
	})
	return r
}

func onRedis(t *testing.T) *rig {
	t.Helper()
	server := redistest.Start(t, redistest.AOF(), redistest.SavePoint())
	return newRig(t, server, redistest.Open(t, server.URL))
}

func (r *rig) read() status.Status {
	r.t.Helper()
	now, err := r.Read(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	return now
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// beat has a worker send a heartbeat.
func (r *rig) beat(id string, is jobs.Presence) {
	r.t.Helper()
	r.must(jobs.NewStore(r.client).Heartbeat(r.t.Context(), id, is, nil))
}

func (r *rig) scrape(site, code string, n int) {
	for range n {
		outcome := metrics.Failed
		if code == metrics.OK {
			outcome = metrics.Completed
		}
		r.counts.Step(metrics.Step{Host: site, Kind: tasks.KindEstimate, Step: "scrape", Outcome: outcome, Code: code, Took: time.Second})
	}
	r.counts.Recorder().Write(r.t.Context())
}

// call counts a call of the model "large" of the AI.
func (r *rig) call(kind string) {
	r.counts.Call(metrics.Call{To: metrics.AI, Name: "large", Kind: kind, Took: time.Second})
	r.counts.Recorder().Write(r.t.Context())
}

// newKey returns the id of a key that was used just now.
func (r *rig) newKey(name string) string {
	r.t.Helper()
	_, key, err := keys.NewStore(r.client).Create(r.t.Context(), name)
	r.must(err)
	r.counts.Recorder().Key(key.ID)
	r.counts.Recorder().Write(r.t.Context())
	return key.ID
}

// Every rule of what needs attention, each provoked alone, and just below it.
func TestNeeds(t *testing.T) {
	t.Parallel()
	stamp := func(ago time.Duration) string { return time.Now().Add(-ago).UTC().Format(time.RFC3339Nano) }
	for _, rule := range []struct {
		name    string
		need    string
		about   string
		below   func(r *rig)
		provoke func(r *rig)
	}{
		{
			name: "a site of which no page could be read", need: "site_unreadable", about: "sbtjapan.com",
			below: func(r *rig) {
				r.scrape("sbtjapan.com", "listing_blocked", 9)
				r.scrape("sbtjapan.com", "listing_gone", 50) // which says nothing of the site
				r.scrape("beforward.jp", "listing_blocked", 50)
				r.scrape("beforward.jp", metrics.OK, 1)
			},
			provoke: func(r *rig) { r.scrape("sbtjapan.com", "fetch_timeout", 1) },
		},
		{
			name: "a queue without a worker", need: "no_worker", about: "authority",
			below: func(r *rig) {
				r.beat("w", jobs.Presence{Roles: []string{"authority"}})
				r.enqueue(tasks.QueueAuthority)
			},
			provoke: func(r *rig) { r.must(jobs.NewStore(r.client).Deregister(r.t.Context(), "w", nil)) },
		},
		{
			name: "TRA's calculator is down", need: "authority_down",
			below: func(r *rig) {
				r.must(r.client.Set(r.t.Context(), "tra:worker", 1, 0).Err())
				r.must(r.client.HSet(r.t.Context(), "tra:status", "checkedAt", stamp(0), "errorKind", "unavailable",
					"lastFailureAt", stamp(0), "lastSuccessAt", stamp(4*time.Minute), "breaker", "open").Err())
			},
			provoke: func(r *rig) {
				r.must(r.client.HSet(r.t.Context(), "tra:status", "lastSuccessAt", stamp(6*time.Minute)).Err())
			},
		},
		{
			name: "TRA's calculator refuses", need: "authority_refused",
			below: func(r *rig) {
				r.must(r.client.Set(r.t.Context(), "tra:worker", 1, 0).Err())
				r.must(r.client.HSet(r.t.Context(), "tra:status", "checkedAt", stamp(0), "errorKind", "refused",
					"lastFailureAt", stamp(time.Minute), "lastSuccessAt", stamp(0)).Err())
			},
			provoke: func(r *rig) {
				r.must(r.client.HSet(r.t.Context(), "tra:status", "lastFailureAt", stamp(0), "lastSuccessAt", stamp(time.Minute)).Err())
			},
		},
		{
			name: "TRA's answers differ from the rules", need: "rules_differ",
			below: func(r *rig) {
				r.must(r.client.HSet(r.t.Context(), "tra:{drift}:state", "agree", 1, "rules", "2026-07-01").Err())
			},
			provoke: func(r *rig) { r.must(r.client.HSet(r.t.Context(), "tra:{drift}:state", "agree", 0).Err()) },
		},
		{
			name: "the AI's budget", need: "ai_budget",
			below: func(r *rig) {
				r.beat("w", jobs.Presence{Roles: []string{"ai"}, Models: []string{"large"}, DailyTokens: 1000})
				r.useTokens("", 799)
			},
			provoke: func(r *rig) { r.useTokens("", 1) },
		},
		{
			name: "an AI that fails every call", need: "ai_fails", about: "large",
			below: func(r *rig) {
				r.beat("w", jobs.Presence{Roles: []string{"ai"}, Models: []string{"large", "small"}})
				for _, kind := range []string{"timeout", "", "timeout", "timeout"} { // it has answered since the first
					r.call(kind)
				}
			},
			provoke: func(r *rig) { r.call("unavailable") },
		},
		{
			name: "an AI that refuses the key", need: "ai_fails", about: "large",
			below: func(r *rig) {
				r.beat("w", jobs.Presence{Roles: []string{"ai"}, Models: []string{"large", "small"}})
				for _, kind := range []string{"misconfigured", "", "timeout", ""} { // it has answered since
					r.call(kind)
				}
			},
			provoke: func(r *rig) { r.call("misconfigured") },
		},
		{
			name: "a key near a limit", need: "key_limit",
			below: func(r *rig) {
				id := r.newKey("Juma")
				r.useTokens(id, 899)
			},
			provoke: func(r *rig) {
				r.useTokens(r.read().Keys[0].ID, 1)
			},
		},
		{
			name: "a webhook that is disabled", need: "webhook_disabled", about: "wh1",
			below:   func(r *rig) { r.endpoint(r.newKey("Juma"), "") },
			provoke: func(r *rig) { r.endpoint(r.read().Keys[0].ID, "it answered 410 Gone") },
		},
		{
			name: "a role that no worker has any more", need: "no_worker", about: "ai",
			below:   func(r *rig) { r.beat("w", jobs.Presence{Roles: []string{"ai"}}) },
			provoke: func(r *rig) { r.must(jobs.NewStore(r.client).Deregister(r.t.Context(), "w", nil)) },
		},
		{
			name: "TRA's answers cannot be read", need: "authority_answers",
			below: func(r *rig) {
				r.must(r.client.Set(r.t.Context(), "tra:worker", 1, 0).Err())
				r.must(r.client.HSet(r.t.Context(), "tra:status", "checkedAt", stamp(0), "errorKind", "bad_answer",
					"lastFailureAt", stamp(time.Second), "lastSuccessAt", stamp(0), "breaker", "closed").Err())
			},
			provoke: func(r *rig) {
				r.must(r.client.HSet(r.t.Context(), "tra:status", "lastFailureAt", stamp(0), "lastSuccessAt", stamp(time.Second)).Err())
			},
		},
		{
			name: "a list of TRA is not used", need: "list_quarantined", below: func(*rig) {},
			provoke: func(r *rig) { r.must(r.client.HSet(r.t.Context(), "tra:{catalogue}:quarantine", "makes", "{}").Err()) },
		},
		{
			name: "people wait", need: "people_wait", about: tasks.QueueAny,
			below: func(r *rig) {
				r.waits(tasks.QueueAny, 50*time.Second)
				r.waits(tasks.QueueAny+tasks.BulkSuffix, 55*time.Minute)
			},
			provoke: func(r *rig) { r.waits(tasks.QueueAny, 70*time.Second) },
		},
		{
			name: "a person's job does not end", need: "people_wait",
			below: func(r *rig) { r.runs(jobs.Interactive, 50*time.Second); r.runs(jobs.Bulk, 59*time.Minute) },
			provoke: func(r *rig) {
				r.runs(jobs.Interactive, 2*time.Second)
				r.runs(jobs.Interactive, 70*time.Second)
				r.runs(jobs.Interactive, time.Second)
			},
		},
		{
			name: "a row of a batch does not end", need: "batches_wait",
			below:   func(r *rig) { r.runs(jobs.Bulk, 55*time.Minute) },
			provoke: func(r *rig) { r.runs(jobs.Bulk, 65*time.Minute) },
		},
		{
			name: "batches wait", need: "batches_wait", about: tasks.QueueAny + tasks.BulkSuffix,
			below:   func(r *rig) { r.waits(tasks.QueueAny+tasks.BulkSuffix, 55*time.Minute) },
			provoke: func(r *rig) { r.waits(tasks.QueueAny+tasks.BulkSuffix, 65*time.Minute) },
		},
		{
			name: "a queue is paused", need: tasks.QueuePaused, about: tasks.QueueAny,
			below: func(r *rig) { r.waits(tasks.QueueAny, time.Second) },
			provoke: func(r *rig) {
				r.must(operate.New(operate.Options{Redis: r.client}).PauseQueue(r.t.Context(), tasks.QueueAny))
			},
		},
		{
			name: "Redis refuses writes", need: "redis_refuses",
			below: func(r *rig) { r.must(r.client.ConfigSet(r.t.Context(), "min-replicas-to-write", "0").Err()) },
			provoke: func(r *rig) {
				r.must(r.client.ConfigSet(r.t.Context(), "min-replicas-to-write", "1").Err())
			},
		},
		{
			name: "no API is alive", need: "no_api",
			below:   func(r *rig) { r.beat("w", jobs.Presence{Roles: []string{"any"}}) },
			provoke: func(r *rig) { r.must(r.client.Del(r.t.Context(), "api:processes").Err()) },
		},
		{
			name: "the API answers with errors of ours", need: "api_errors",
			below:   func(r *rig) { r.answers(metrics.OK, 600); r.answers("unavailable", 9) },
			provoke: func(r *rig) { r.answers("unavailable", 1) },
		},
		{
			name: "Redis cannot write its disk", need: "redis_unsaved",
			below: func(r *rig) {
				r.must(r.client.ConfigSet(r.t.Context(), "stop-writes-on-bgsave-error", "no").Err())
				r.server.FailSaves()()
			},
			provoke: func(r *rig) { r.server.FailSaves() },
		},
		{
			name: "Redis cannot write its disk, and refuses writes for it", need: "redis_refuses", below: func(*rig) {},
			provoke: func(r *rig) { r.server.FailSaves() },
		},
		{
			name: "Redis keeps no append-only file", need: "redis_volatile",
			below: func(r *rig) {
				r.beat("w", jobs.Presence{Roles: []string{"any"}, AllowVolatile: true})
				r.must(r.client.ConfigSet(r.t.Context(), "appendonly", "no").Err())
			},
			provoke: func(r *rig) { r.beat("w", jobs.Presence{Roles: []string{"any"}}) },
		},
		{
			name: "a handler does not end", need: "handler_stuck", about: tasks.TypeScrape,
			below: func(r *rig) { r.beat("w", jobs.Presence{Roles: []string{"any", "ai"}}) },
			provoke: func(r *rig) {
				r.beat("w", jobs.Presence{Roles: []string{"any", "ai"}, Overdue: []string{tasks.TypeScrape}})
			},
		},
		{
			name: "an old version works beside a new one", need: "old_version",
			below: func(r *rig) {
				r.beat("old", jobs.Presence{Roles: []string{"any"}, Version: "1", Started: time.Now().Add(-time.Hour)})
				r.beat("new", jobs.Presence{Roles: []string{"any"}, Version: "2", Started: time.Now().Add(-29 * time.Minute)})
			},
			provoke: func(r *rig) {
				r.beat("new", jobs.Presence{Roles: []string{"any"}, Version: "2", Started: time.Now().Add(-31 * time.Minute)})
			},
		},
		{
			name: "the certificate of TRA is not valid", need: "authority_trust",
			below: func(r *rig) {
				r.must(r.client.Set(r.t.Context(), "tra:worker", 1, 0).Err())
				r.must(r.client.HSet(r.t.Context(), "tra:status", "checkedAt", stamp(0), "errorKind", "certificate",
					"lastFailureAt", stamp(time.Minute), "lastSuccessAt", stamp(0), "breaker", "open").Err())
			},
			provoke: func(r *rig) {
				r.must(r.client.HSet(r.t.Context(), "tra:status", "lastFailureAt", stamp(0), "lastSuccessAt", stamp(6*time.Minute)).Err())
			},
		},
		{
			name: "Redis is nearly full", need: "redis_memory",
			below: func(r *rig) { // beside so much the connections of the test are nothing
				r.must(r.client.SetRange(r.t.Context(), "ballast", 50<<20, "x").Err())
				r.limitMemory(70)
			},
			provoke: func(r *rig) { r.limitMemory(85) },
		},
	} {
		t.Run(rule.name, func(t *testing.T) {
			t.Parallel()
			r := onRedis(t)
			rule.below(r)
			if needs := r.read().Needs; len(needs) > 0 {
				t.Fatalf("below the rule: %+v", needs)
			}
			rule.provoke(r)
			needs := r.read().Needs
			if len(needs) != 1 || needs[0].Code != rule.need || needs[0].Text == "" || rule.about != "" && needs[0].About != rule.about {
				t.Errorf("%+v, want %s", needs, rule.need)
			}
		})
	}
}

func (r *rig) enqueue(queue string) {
	r.t.Helper()
	_, err := asynq.NewClientFromRedisClient(r.client).Enqueue(asynq.NewTask(tasks.TypeProbe, nil), asynq.Queue(queue))
	r.must(err)
}

// waits has one task in a queue, which has waited.
func (r *rig) waits(queue string, waited time.Duration) {
	r.t.Helper()
	ctx, key := r.t.Context(), "asynq:{"+queue+"}:"
	if r.client.LLen(ctx, key+"pending").Val() == 0 {
		r.must(jobs.NewStore(r.client).Heartbeat(ctx, "w", jobs.Presence{Roles: []string{"any"}}, nil))
		r.enqueue(queue)
	}
	id := r.client.LIndex(ctx, key+"pending", -1).Val()
	r.must(r.client.HSet(ctx, key+"t:"+id, "pending_since", time.Now().Add(-waited).UnixNano()).Err())
}

// runs has a job of a class that was created some time ago.
func (r *rig) runs(class jobs.Class, ago time.Duration) {
	r.t.Helper()
	id := ulid.MustNew(ulid.Timestamp(time.Now().Add(-ago)), rand.Reader).String() + "ABCDEF"
	r.must(r.client.ZAdd(r.t.Context(), "jobs:active:"+string(class), redis.Z{Score: float64(len(id) - int(ago.Seconds())), Member: id}).Err())
}

// answers counts answers of the API.
func (r *rig) answers(code string, n int) {
	r.t.Helper()
	for range n {
		r.counts.Call(metrics.Call{To: metrics.API, Name: "answers", Kind: strings.TrimPrefix(code, metrics.OK)})
	}
	r.counts.Recorder().Write(r.t.Context())
}

// endpoint stores a webhook of a key.
func (r *rig) endpoint(owner, disabled string) {
	r.t.Helper()
	record := `{"id":"wh1","url":"https://hooks.example/token-that-is-secret?key=1","state":"verified","disabled":` +
		strconv.Quote(disabled) + `}`
	r.must(r.client.HSet(r.t.Context(), "webhook:{"+owner+"}", "wh1", record).Err())
}

// The attempts of a webhook are shown with it.
func TestAttemptsOfAWebhookAreCounted(t *testing.T) {
	r := newRig(t, nil, redistest.Open(t, redistest.Start(t).URL))
	r.endpoint(r.newKey("Juma"), "")
	for outcome, n := range map[string]int{metrics.OK: 3, "retried": 4, "given_up": 1, "gone": 1} {
		for range n {
			r.counts.Call(metrics.Call{To: metrics.Webhook, Name: "wh1", Kind: strings.TrimPrefix(outcome, metrics.OK), Took: time.Second})
		}
	}
	r.counts.Call(metrics.Call{To: metrics.Webhook, Name: "wh2", Kind: "given_up"}) // one that was deleted
	r.counts.Recorder().Write(t.Context())
	all := r.read().Webhooks
	if len(all) != 1 || all[0].Delivered != 3 || all[0].Failed != 2 || all[0].Retried != 4 {
		t.Errorf("webhooks %+v", all)
	}
}

// limitMemory sets the limit of Redis such that some percent are used.
func (r *rig) limitMemory(percent int64) {
	r.t.Helper()
	r.must(r.client.ConfigSet(r.t.Context(), "maxmemory", strconv.FormatInt(r.read().Redis.Used*100/percent, 10)).Err())
}

// useTokens counts tokens of the AI that a key has used on this day; "" is no key.
func (r *rig) useTokens(key string, n int64) {
	r.t.Helper()
	of := pace.Holder{Whole: time.Now().In(localtime.Zone).Format(time.DateOnly), Part: key}
	_, err := pace.NewAccounts(r.client, pace.KindTokens).Settle(r.t.Context(), of, pace.Kept{Size: n, TTL: time.Hour})
	r.must(err)
}

func TestStatusOfAnEmptyRedis(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		r := newRig(t, nil, conn)
		logs := func(ctx context.Context, server *redis.Client) error { // those of the test have no append-only file
			_ = server.ConfigSet(ctx, "appendonly", "yes") // the embedded one says nothing about it
			return nil
		}
		switch client := r.client.(type) {
		case *redis.ClusterClient:
			r.must(client.ForEachMaster(t.Context(), logs))
		case *redis.Client:
			r.must(logs(t.Context(), client))
		}
		now := r.read()
		if len(now.Needs)+len(now.Unread)+len(now.Sites)+len(now.Batches) > 0 || len(now.Workers) != len(tasks.Roles) {
			t.Errorf("%+v", now)
		}
		if data, err := json.Marshal(now); err != nil || !bytes.Contains(data, []byte(`"calls":[]`)) {
			t.Errorf("%s, %v", data, err)
		}
	})
}

func TestSitesAndFailures(t *testing.T) {
	t.Parallel()
	r := onRedis(t)
	job, _, err := jobs.NewStore(r.client).Create(t.Context(), jobs.New{
		Kind: tasks.KindEstimate, Input: json.RawMessage(`{"url":"https://www.sbtjapan.com/car/1"}`), Deadline: time.Minute,
	})
	r.must(err)
	_, _, err = jobs.NewStore(r.client).End(t.Context(), job, jobs.End{
		State: jobs.Failed, Error: &jobs.Error{Notice: message.New("error/fetch_timeout", nil)},
	})
	r.must(err)
	r.scrape("www.sbtjapan.com", metrics.OK, 3)
	r.scrape("sbtjapan.com", "listing_gone", 2)
	r.scrape("sbtjapan.com", "robots_forbidden", 4)
	r.scrape("beforward.jp", metrics.OK, 1)
	r.counts.Step(metrics.Step{
		Host: "sbtjapan.com", Kind: tasks.KindEstimate, Step: "scrape", Outcome: metrics.Failed, Code: "fetch_timeout", Job: job.ID,
	})
	r.counts.Step(metrics.Step{
		Host: "sbtjapan.com", Kind: tasks.KindEstimate, Step: "scrape", Outcome: metrics.Retried, Code: "fetch_timeout",
	})
	r.counts.Call(metrics.Call{To: metrics.Authority, Name: "getYom", Kind: "unavailable"})
	r.counts.Recorder().Write(t.Context())
	r.must(r.client.Set(t.Context(), "fetch:pause:{www.sbtjapan.com}", 1, time.Minute).Err())

	now := r.read()
	site := now.Sites[0]
	if site.Host != "sbtjapan.com" || site.Read != 3 || site.Gone != 2 || site.Blocked != 4 || site.Wrong != 1 || site.LastGood == nil ||
		site.MedianMS == 0 || site.PausedUntil == nil || site.Hours[23].OK != 5 || site.Hours[23].Failed != 5 {
		t.Errorf("%+v", site)
	}
	if len(now.Sites) != 2 || now.Sites[1].PausedUntil != nil {
		t.Errorf("%+v", now.Sites)
	}
	at := slices.IndexFunc(now.Failures, func(f status.Failure) bool { return f.Code == "fetch_timeout" })
	if at < 0 || len(now.Failures) != 3 {
		t.Fatalf("%+v", now.Failures)
	}
	if f := now.Failures[at]; f.Day != 1 || f.Hour != 1 || f.Job != job.ID || f.Page != "https://www.sbtjapan.com/car/1" || !f.CanRetry {
		t.Errorf("%+v", f)
	}
}

// lateCounts lets the counts of hours be read only after the marks, or after a moment when the marks
// wait for the counts; just before, it does meanwhile.
type lateCounts struct {
	redistest.Hook
	marks     chan struct{}
	meanwhile func()
}

func (h lateCounts) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, commands []redis.Cmder) error {
		read := func(name string) bool {
			return slices.ContainsFunc(commands, func(c redis.Cmder) bool { return c.Name() == "hgetall" && c.Args()[1] == name })
		}
		if read("stat:example") {
			defer close(h.marks)
		}
		if read("stat:" + time.Now().UTC().Format("2006010215")) {
			select {
			case <-h.marks:
			case <-time.After(200 * time.Millisecond):
			}
			h.meanwhile()
		}
		return next(ctx, commands)
	}
}

func TestCountedFailureHasItsExample(t *testing.T) {
	t.Parallel()
	r := onRedis(t)
	job, _, err := jobs.NewStore(r.client).Create(t.Context(), jobs.New{Kind: tasks.KindEstimate, Input: json.RawMessage(`{}`), Deadline: time.Minute})
	r.must(err)
	r.client.AddHook(lateCounts{
		Hook: func(redis.Cmder) error { return nil }, marks: make(chan struct{}),
		meanwhile: func() {
			r.counts.Step(metrics.Step{
				Host: "sbtjapan.com", Kind: tasks.KindEstimate, Step: "scrape", Outcome: metrics.Failed, Code: "fetch_timeout", Job: job.ID,
			})
			r.counts.Recorder().Write(t.Context())
		},
	})
	if now := r.read(); len(now.Failures) != 1 || now.Failures[0].Job != job.ID {
		t.Errorf("%+v", now.Failures)
	}
}

func TestBatchesOfAllKeys(t *testing.T) {
	t.Parallel()
	r := onRedis(t)
	store := batch.NewStore(r.client)
	old := r.newKey("Juma")
	for range 7 { // the first runs still, and is not among the newest of its key
		_, err := store.Create(t.Context(), batch.New{Owner: old, Rows: []batch.Row{{Number: 1, URL: "https://a.example/1"}}})
		r.must(err)
		for made := time.Now().UnixMilli(); time.Now().UnixMilli() == made; { // ids are by time
			runtime.Gosched()
		}
	}
	failed, err := store.Create(t.Context(), batch.New{Owner: r.newKey("<b>Asha"), Rows: []batch.Row{
		{Number: 1, URL: "https://a.example/1"}, {Number: 2, URL: "https://a.example/2"}, {Number: 3, URL: "https://a.example/3"},
	}})
	r.must(err)
	_, err = store.ClaimRows(t.Context(), failed.ID, 3)
	r.must(err)
	for row, code := range []string{"listing_gone", "listing_gone", "fetch_timeout"} {
		_, err := store.Fail(t.Context(), failed.ID, row, &jobs.Error{Notice: message.New("error/"+code, nil)})
		r.must(err)
	}
	now := r.read()
	if len(now.Batches) != 8 {
		t.Fatalf("%d batches, want 8: all that run, and the one that ended", len(now.Batches))
	}
	last := now.Batches[7]
	if last.ID != failed.ID || last.Reason != "listing_gone" || last.Ended == nil || last.Left() != 0 || last.Name != "<b>Asha" {
		t.Errorf("%+v", last)
	}
	if first := now.Batches[0]; first.Ended != nil || first.Left() != 1 {
		t.Errorf("%+v", first)
	}
}

// Of a webhook only the host is shown, and of a key its last characters.
func TestStatusHasNoSecrets(t *testing.T) {
	t.Parallel()
	r := onRedis(t)
	plain, key, err := keys.NewStore(r.client).Create(t.Context(), "Juma")
	r.must(err)
	r.endpoint(key.ID, "")
	text, err := json.Marshal(r.read())
	r.must(err)
	if strings.Contains(string(text), plain) || strings.Contains(string(text), "secret") {
		t.Errorf("%s", text)
	}
}

func TestWorkersByRole(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		r := newRig(t, nil, conn)
		r.beat("one", jobs.Presence{Roles: []string{"any", "ai"}, Version: "1.2.0", Started: time.Now()})
		r.beat("two", jobs.Presence{Roles: []string{"any"}})
		r.must(jobs.NewStore(r.client).Deregister(t.Context(), "two", nil))
		roles := map[string]status.Role{}
		for _, role := range r.read().Workers {
			roles[role.Role] = role
		}
		if one := roles["any"]; len(one.Workers) != 1 || one.Workers[0].Version != "1.2.0" || one.LastBeat == nil {
			t.Errorf("%+v", one)
		}
		if len(roles["ai"].Workers) != 1 || len(roles["authority"].Workers) != 0 || roles["authority"].LastBeat != nil {
			t.Errorf("%+v", roles)
		}
	})
}

func TestReadFailsWithoutRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	r := newRig(t, nil, redistest.Open(t, server.URL))
	server.Kill()
	if _, err := r.Read(t.Context()); err == nil {
		t.Error("a status was read without Redis")
	}
}

// The answers of a model and its failures are counted apart.
func TestCallsOfAModelAreCounted(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, redistest.Open(t, redistest.Start(t).URL))
	for _, kind := range []string{"", "timeout", "", "timeout", "refused"} {
		r.call(kind)
	}
	models := r.read().AI.Models
	if len(models) != 1 || models[0].Name != "large" || models[0].OK != 2 || models[0].Failed["timeout"] != 2 || models[0].Failed["refused"] != 1 {
		t.Errorf("got %+v, want 2 answers of large, 2 time-outs and 1 refusal", models)
	}
}
