package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"ushuru/pkg/cli/clitest"
	"ushuru/pkg/testenv"
)

var faultRounds = flag.Int("fault.rounds", 1, "rolling restarts of all processes in TestFaults")

// balancer spreads requests over the APIs whose /readyz answers 200, as the balancers
// in front of a deployment do.
type balancer struct {
	*httptest.Server

	refused, cut atomic.Int64 // requests that no API took, and that got no response

	mu    sync.Mutex
	ready map[string]bool // by the address of an API
	turn  int
}

const readyInterval = 100 * time.Millisecond

func newBalancer(t *testing.T) *balancer {
	t.Helper()
	b := &balancer{ready: map[string]bool{}}
	b.Server = httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: b.next()}) },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" {
				b.refused.Add(1)
			} else {
				b.cut.Add(1)
			}
			w.WriteHeader(http.StatusBadGateway)
		},
	})
	t.Cleanup(b.Close)
	return b
}

// next returns an API that is ready.
func (b *balancer) next() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turn++
	var ready []string
	for address, ok := range b.ready {
		if ok {
			ready = append(ready, address)
		}
	}
	if len(ready) == 0 {
		return "127.0.0.1:1"
	}
	return ready[b.turn%len(ready)]
}

// follow polls an API until its process has ended.
func (b *balancer) follow(p *clitest.Process) {
	address := p.Started.Address
	for {
		ready := isReady(address)
		b.mu.Lock()
		b.ready[address] = ready
		b.mu.Unlock()
		select {
		case <-p.Over:
			b.mu.Lock()
			delete(b.ready, address)
			b.mu.Unlock()
			return
		case <-time.After(readyInterval):
		}
	}
}

func isReady(address string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/readyz", http.NoBody)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// wait waits until the balancer uses an API.
func (b *balancer) wait(t *testing.T, p *clitest.Process) {
	t.Helper()
	testenv.AwaitTrue(t, p.Started.Address+" is ready", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.ready[p.Started.Address]
	})
}

// api starts an API in a process of its own, behind the balancer.
func (f *faultRun) api(b *balancer) *clitest.Process {
	f.t.Helper()
	p, err := clitest.Start(f.t, "API listening", "api", "--allow-loopback", "--redis-url", f.url,
		"--listen", "127.0.0.1:0", "--drain-delay", "1s",
		"--key-rate", "0", "--key-jobs", "0")
	must(f.t, err)
	go b.follow(p)
	b.wait(f.t, p)
	return p
}

// roll restarts all processes in turn, as a deployment does: the new one is ready
// before the old one gets the signal to stop.
func (f *faultRun) roll(t *testing.T) {
	t.Helper()
	b := newBalancer(t)
	apis := []*clitest.Process{f.api(b), f.api(b)}
	f.base = b.URL
	f.spawnOnly()
	stop, requests := f.callers(t)
	term := func(p *clitest.Process) {
		must(t, p.Signal(syscall.SIGTERM))
		if err := p.Wait(); err != nil {
			t.Errorf("a process that got the signal to stop: %v\n%s", err, p.Tail())
		}
	}
	for range *faultRounds {
		for i, old := range apis {
			apis[i] = f.api(b)
			term(old)
		}
		for i, old := range f.processes {
			f.processes[i] = f.spawn(f.url)
			term(old)
		}
	}
	stop()
	t.Logf("%d requests, %d refused, %d cut", requests.Load(), b.refused.Load(), b.cut.Load())
	if b.refused.Load()+b.cut.Load() > 0 {
		t.Errorf("%d requests refused, %d cut", b.refused.Load(), b.cut.Load())
	}
}

// callers send requests that wait for their results, until stop.
func (f *faultRun) callers(t *testing.T) (stop func(), requests *atomic.Int64) {
	t.Helper()
	const callers = 12
	own := newLots(t, 5000, 7)
	requests = &atomic.Int64{}
	over := make(chan struct{})
	var group sync.WaitGroup
	for n := range callers {
		group.Go(func() {
			for i := n; ; i += callers {
				select {
				case <-over:
					return
				default:
				}
				requests.Add(1)
				if problem := f.call(own.urls[i%len(own.urls)]); problem != "" {
					t.Error(problem)
				}
			}
		})
	}
	return func() {
		close(over)
		group.Wait()
	}, requests
}

// call requests an estimate; the wait may end with a 504, whose job goes on. It returns
// what is wrong with the response.
func (f *faultRun) call(listing string) string {
	body := strings.NewReader(`{"url":"` + listing + `"}`)
	r, err := http.NewRequestWithContext(f.t.Context(), http.MethodPost, f.base+"/v1/estimate", body)
	must(f.t, err)
	r.Header.Set("X-Api-Key", f.key)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	got, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return "cut: " + err.Error()
	case !json.Valid(got):
		return "cut: " + string(got)
	case response.StatusCode == http.StatusGatewayTimeout && response.Header.Get("Location") != "":
	case response.StatusCode == http.StatusOK:
	case response.StatusCode == http.StatusUnprocessableEntity: // the listing is gone, or its car is not matched
	default:
		return response.Status + ": " + string(got)
	}
	return ""
}
