package e2e

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"ushuru/pkg/cli/clitest"
	"ushuru/pkg/keys"
	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/tra/tratest"
)

// settings of a service under attack. The zero value is the service with its
// default limits; in the short form it may call the authority more often.
type settings struct {
	api, worker []string // more arguments of the two commands
	env         []string // more variables of their environment
	redis       []redistest.Option
	workers     int           // 0: one
	latency     time.Duration // of a call to the authority; 0: 20 ms
}

// service is the real program: Redis, an API and workers, each a process of its
// own, and in this process the simulated authority and sites.
type underAttack struct {
	t         *testing.T
	redis     *redistest.Server
	conn      *redisx.Conn // of the test
	authority *tratest.Server
	api       *clitest.Process
	workers   []*clitest.Process
	base      string // URL of the API
	sites     int    // how many addresses of sites are taken
	callers   int    // how many addresses of callers are
	keys      int    // how many are created
}

func attacked(t *testing.T, o settings) *underAttack {
	t.Helper()
	s := &underAttack{t: t, redis: redistest.Start(t, o.redis...), authority: tratest.Start(t, tratest.Options{})}
	s.conn = redistest.Open(t, s.redis.URL)
	latency := o.latency
	if latency == 0 {
		latency = 20 * time.Millisecond
	}
	s.authority.SetFaults(tratest.Faults{Latency: tratest.Duration(latency)})
	var err error
	s.api, err = clitest.StartProgram(t, "ushuru", o.env, "API listening", append([]string{
		"api", "--allow-loopback", "--redis-url", s.redis.URL,
		"--listen", "127.0.0.1:0", "--drain-delay", "0s",
		"--trusted-proxies", "192.0.2.1/32", // no caller here is one
	}, o.api...)...)
	must(t, err)
	s.base = "http://" + s.api.Started.Address
	for range max(1, o.workers) {
		worker, err := clitest.StartProgram(t, "ushuru", o.env, "worker started", append([]string{
			"worker", "--allow-loopback", "--redis-url", s.redis.URL,
			"--authority-url", s.authority.URL, "--authority-rate", pick("5", "100"),
		}, o.worker...)...)
		must(t, err)
		s.workers = append(s.workers, worker)
	}
	return s
}

// address returns an address for a caller, which no other has.
func (s *underAttack) address() net.IP {
	s.callers++
	return net.IPv4(127, 0, 2, byte(s.callers))
}

// addresses returns as many.
func (s *underAttack) addresses(n int) (list []net.IP) {
	for range n {
		list = append(list, s.address())
	}
	return list
}

// key creates an API key.
func (s *underAttack) key(name string) string {
	s.t.Helper()
	s.keys++ // no two keys have one name
	key, _, err := keys.NewStore(s.conn.Client()).Create(s.t.Context(), fmt.Sprint(name, " ", s.keys))
	must(s.t, err)
	return key
}

// serve serves a site of its own loopback address until the test ends, and
// returns its URL: what is counted by address counts it alone.
func (s *underAttack) serve(handler http.Handler) string {
	s.t.Helper()
	s.sites++
	host := net.IPv4(127, 0, 1, byte(s.sites)).String()
	listener, err := (&net.ListenConfig{}).Listen(s.t.Context(), "tcp", net.JoinHostPort(host, "0"))
	must(s.t, err)
	server := httptest.NewUnstartedServer(handler)
	must(s.t, server.Listener.Close())
	server.Listener = listener
	server.Start()
	s.t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

// listings serves the demo site and returns its URL.
func (s *underAttack) listings() string { return s.serve(listingtest.New()) }

// drip is a site that sends one byte of a page every second, without an end.
func drip() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		for {
			if _, err := w.Write([]byte(" ")); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			if !sleep(r.Context(), time.Second) {
				return
			}
		}
	})
}

// sleep reports whether the time passed before ctx was done.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
