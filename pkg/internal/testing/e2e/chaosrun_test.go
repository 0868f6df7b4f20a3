package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ushuru/pkg/cli/clitest"
	"ushuru/pkg/client"
	"ushuru/pkg/keys"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/webhook"
	"ushuru/pkg/webhook/webhooktest"
)

// chaos is the service in processes of its own, of which one after the other
// is killed.
type chaos struct {
	t      *testing.T
	lots   *lots
	redis  *redistest.Server
	front  *front
	random *rand.Rand
	key    string

	authority string                      // address of the front
	processes map[string]*clitest.Process // by name: worker3, api1
	names     int
	killed    map[string]int       // by kind
	deaths    map[string]time.Time // by name
	away      time.Duration        // the longest time for which Redis was down

	mu   sync.Mutex
	apis []string // addresses of those that run
}

const (
	chaosWorkers, chaosAPIs = 3, 2
	minPause, maxPause      = 500 * time.Millisecond, 3 * time.Second // between two kills
)

func newChaos(t *testing.T, l *lots, seed uint64, redis *redistest.Server) *chaos {
	t.Helper()
	c := &chaos{
		t: t, lots: l, redis: redis, front: newFront(t, seed), random: rand.New(rand.NewPCG(seed, 2)),
		processes: map[string]*clitest.Process{}, killed: map[string]int{}, deaths: map[string]time.Time{},
	}
	server := httptest.NewServer(c.front)
	t.Cleanup(server.Close)
	c.authority = server.URL
	conn, err := redisx.Open(t.Context(), redisx.Options{URL: redis.URL})
	must(t, err)
	defer func() { _ = conn.Close() }()
	c.key, _, err = keys.NewStore(conn.Client()).Create(t.Context(), "chaos")
	must(t, err)
	for range chaosWorkers {
		c.start("worker")
	}
	for range chaosAPIs {
		c.start("api")
	}
	return c
}

// start starts one more process, and again while it ends by itself, as a
// supervisor does: Redis may be down when it starts.
func (c *chaos) start(kind string) {
	c.t.Helper()
	const timeout = time.Minute
	for start := time.Now(); ; {
		name, p, err := c.tryStart(kind)
		if err != nil && time.Since(start) > timeout {
			c.t.Fatal(err)
		}
		if err != nil {
			continue
		}
		c.processes[name] = p
		if kind == "api" {
			c.mu.Lock()
			c.apis = append(c.apis, p.Started.Address)
			c.mu.Unlock()
		}
		return
	}
}

func (c *chaos) tryStart(kind string) (name string, p *clitest.Process, err error) {
	c.t.Helper()
	c.names++
	name = fmt.Sprint(kind, c.names)
	if kind == "api" {
		p, err = clitest.Start(c.t, "API listening", "api", "--allow-loopback", "--redis-url", c.redis.URL, "--listen", "127.0.0.1:0")
		return name, p, err
	}
	p, err = clitest.Start(c.t, "worker started", "worker", "--allow-loopback", "--redis-url", c.redis.URL,
		"--authority-url", c.front.address(c.authority, name), "--authority-rate", "0", "--fetch-rate", "0",
		"--roles", "any,authority")
	return name, p, err
}

// kill kills a random process of a kind and starts another one.
func (c *chaos) kill(kind string) {
	c.t.Helper()
	names := slices.Sorted(maps.Keys(c.processes))
	names = slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, kind) })
	name := names[c.random.IntN(len(names))]
	victim := c.processes[name]
	select {
	case <-victim.Over:
		c.t.Errorf("%s ended by itself:\n%s", name, victim.Tail())
	default:
	}
	victim.Kill()
	c.deaths[name] = time.Now()
	c.killed[kind]++
	delete(c.processes, name)
	c.mu.Lock()
	c.apis = slices.DeleteFunc(c.apis, func(address string) bool { return address == victim.Started.Address })
	c.mu.Unlock()
	c.start(kind)
}

// RoundTrip sends a request to one of the APIs that run, as a balancer would.
func (c *chaos) RoundTrip(r *http.Request) (*http.Response, error) {
	c.mu.Lock()
	address := c.apis[rand.IntN(len(c.apis))]
	c.mu.Unlock()
	r = r.Clone(r.Context())
	r.URL.Host = address
	return http.DefaultTransport.RoundTrip(r)
}

// run submits the lots and kills processes until their batch has ended.
func (c *chaos) run(limit time.Duration) *results {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), limit)
	defer cancel()
	api, err := client.New(client.Options{URL: "http://balancer", Key: c.key, Transport: c})
	must(c.t, err)
	to, came := receiver(c.t)
	s := stack{t: c.t, base: "http://" + c.apis[0], key: c.key}
	var hook struct{ ID, Secret string }
	s.postInto("/v1/webhooks", `{"url":"`+to+`","events":["batch.completed"]}`, &hook)
	// A client that was never answered takes a refused connection for a wrong URL; one
	// that was knows that the API restarts.
	_, err = api.TRAStatus(ctx)
	must(c.t, err)

	var (
		got    *results
		failed error
		done   atomic.Int64
		ended  = make(chan struct{})
	)
	go func() {
		defer close(ended)
		got, failed = submitLots(ctx, api, c.lots, &done)
	}()
	c.killUntil(ended, &done)
	if failed != nil {
		for name, p := range c.processes {
			c.t.Logf("%s:\n%s", name, p.Tail())
		}
		c.t.Fatal(failed)
	}
	got.deliveries = awaitWebhook(c.t, came, hook.Secret, got.batch)
	return got
}

// killUntil kills processes until the batch has ended: an API while the batch is
// submitted, then random processes, and Redis at two random points of the
// progress of the batch.
func (c *chaos) killUntil(ended <-chan struct{}, done *atomic.Int64) {
	c.t.Helper()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	n := len(c.lots.urls)
	redisAt := []int{n/10 + c.random.IntN(n/4), n/2 + c.random.IntN(n/4)}
	next := time.Now().Add(rand.N(50 * time.Millisecond))
	kind := "api"
	for {
		select {
		case <-ended:
			return
		case <-poll.C:
		}
		switch {
		case len(redisAt) > 0 && int(done.Load()) >= redisAt[0]:
			redisAt = redisAt[1:]
			start := time.Now()
			c.redis.Restart() // which kills it first
			c.killed["redis"]++
			c.away = max(c.away, time.Since(start))
		case time.Now().After(next):
			c.kill(kind)
			next = time.Now().Add(minPause + time.Duration(c.random.Int64N(int64(maxPause-minPause))))
			if kind = "worker"; c.random.IntN(3) == 0 {
				kind = "api"
			}
		}
	}
}

// awaitWebhook waits for the webhook of a batch and returns how often it has
// arrived: at least once, each time with the same signed body.
func awaitWebhook(t *testing.T, came <-chan received, secret string, b client.Batch) (times int) {
	t.Helper()
	// asynq sends a delivery of a killed worker again after one to two minutes.
	const timeout = 150 * time.Second
	var first string
	for wait := timeout; ; wait = 0 {
		var got received
		select {
		case got = <-came:
		case <-time.After(wait):
			if times == 0 {
				t.Errorf("no webhook came")
			}
			return times
		}
		times++
		h := got.header
		err := webhooktest.CheckSignature(secret, h.Get(webhook.HeaderID), h.Get(webhook.HeaderTimestamp), h.Get(webhook.HeaderSignature),
			got.body, time.Now())
		var message struct {
			Type string       `json:"type"`
			Data client.Batch `json:"data"`
		}
		if err := errors.Join(err, json.Unmarshal(got.body, &message)); err != nil || message.Type != webhook.BatchCompleted ||
			message.Data.ID != b.ID || message.Data.State != b.State || !maps.Equal(some(message.Data), some(b)) {
			t.Errorf("webhook %v, %s; the batch is %+v", err, got.body, b)
		}
		if id := h.Get(webhook.HeaderID); first == "" {
			first = id
		} else if id != first {
			t.Errorf("the webhook came under the ids %s and %s", first, id)
		}
	}
}
