package await

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/jobs"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
	"ushuru/pkg/tra"
	"ushuru/tasks"
)

// TestCallersDoNotQueueWhileRedisIsAway: however many want to know what Redis does not answer, of
// whichever sites, it is asked once in a second.
func TestCallersDoNotQueueWhileRedisIsAway(t *testing.T) {
	t.Parallel()
	var tries atomic.Int64
	client := redis.NewClient(&redis.Options{MaxRetries: -1, DialerRetries: 1, Dialer: func(context.Context, string, string) (net.Conn, error) {
		tries.Add(1)
		return nil, io.ErrUnexpectedEOF
	}})
	defer func() { _ = client.Close() }()
	h := &holds{redis: client}
	var all sync.WaitGroup
	begun := time.Now()
	for i := range 200 {
		all.Go(func() {
			host := fmt.Sprintf("%d.example", i)
			if len(h.pausedQueues(t.Context())) > 0 || h.paces(t.Context(), host)[host].Pause != 0 {
				t.Error("what Redis does not answer holds something up")
			}
		})
	}
	all.Wait()
	// The pool may dial twice for one command.
	if got, want := tries.Load(), 2+2*int64(time.Since(begun)/lookInterval); got > want || got == 0 {
		t.Errorf("200 callers: got %d tries, want at most %d", got, want)
	}
}

// TestSitesOfOneCallAreAllKnown, also when they are more than are remembered.
func TestSitesOfOneCallAreAllKnown(t *testing.T) {
	t.Parallel()
	client := redistest.Embedded(t).Client()
	h := &holds{redis: client}
	var hosts []string
	for i := range maxSites {
		hosts = append(hosts, fmt.Sprintf("%d.example", i))
	}
	if err := client.Set(t.Context(), "fetch:pause:{0.example}", 1, time.Hour).Err(); err != nil {
		t.Fatal(err)
	}
	h.paces(t.Context(), hosts[:200]...)
	for _, more := range []int{1, maxSites} {
		hosts = append(hosts, fmt.Sprintf("more%d.example", more))
		got := h.paces(t.Context(), hosts...)
		if len(got) != len(hosts) || got["0.example"].Pause < 59*time.Minute {
			t.Errorf("got %d of %d sites, the first with the pause %v, want its hour", len(got), len(hosts), got["0.example"].Pause)
		}
		if len(h.sites) > maxSites {
			t.Errorf("got %d sites in memory, want at most %d", len(h.sites), maxSites)
		}
	}
}

// TestAnOutageIsFeltOnceItHasLasted: workers end the jobs of known vehicles first.
func TestAnOutageIsFeltOnceItHasLasted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var outage tra.Outage
		work := &Work{
			options: Options{Outages: tra.NewOutages(func(context.Context) (tra.Status, error) { return tra.Status{Outage: outage}, nil })},
			holds:   holds{read: time.Now().Add(time.Hour)}, // no queue is paused
		}
		job := &jobs.Job{State: jobs.Running, Kind: tasks.KindQuote, Steps: map[string]jobs.Step{tasks.StepCalculate: {State: jobs.StepReady}}}
		if got := work.waitOf(t.Context(), job); got.what != waitingForWorker || got.isFelt {
			t.Errorf("before the outage got %+v, want that it waits for a worker", got)
		}
		outage = tra.Outage{Reason: tra.ReasonNoWorker}
		for _, c := range []struct {
			after  time.Duration
			isFelt bool
		}{{time.Second, false}, {outageGrace - 2*time.Second, false}, {outageGrace, true}} {
			testenv.Pass(c.after)
			if got := work.waitOf(t.Context(), job); got.what != WaitingForAuthority || got.isFelt != c.isFelt {
				t.Errorf("%s later got %+v, want that callers learn of the outage: %t", c.after, got, c.isFelt)
			}
		}
	})
}
