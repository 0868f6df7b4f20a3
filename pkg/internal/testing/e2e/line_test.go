package e2e

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"ushuru/pkg/app"
	"ushuru/pkg/lab/rig"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
	"ushuru/tasks"
)

// roundTrip is that of the line to Tanzania: 150 ms each way.
const roundTrip = 300 * time.Millisecond

// A line to Tanzania of 150 ms each way lies before Redis, as an ordinary worker there
// has it, or before the proxy there. Sixty people who ask at once for new vehicles all
// get their estimates, and a single one does not wait for more than the line.
func TestEstimatesOverALongLine(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	for name, test := range map[string]struct {
		start func(t *testing.T, s *stack, redisURL string)
		most  time.Duration // of a cold estimate
	}{
		"worker in Tanzania": {workFarFromRedis, 6 * time.Second},
		// Three calls and four round trips; a call of the simulator takes no time.
		"proxy in Tanzania": {workFarFromTRA, 7*roundTrip + time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t)
			s := newStack(t, redistest.Open(t, server.URL))
			site, cars, err := rig.Vehicles()
			must(t, err)
			pages := httptest.NewServer(site)
			t.Cleanup(pages.Close)
			test.start(t, s, server.URL)
			s.post(pages.URL + cars[0]).estimate(t) // the catalogue is fetched
			began := time.Now()
			s.post(pages.URL + cars[1]).estimate(t)
			took := time.Since(began)
			t.Logf("a cold estimate takes %v", took.Round(time.Millisecond))
			if took > test.most {
				t.Errorf("a cold estimate took %v, want at most %v", took, test.most)
			}
			began = time.Now()
			var people sync.WaitGroup
			for _, car := range cars[2:62] {
				people.Go(func() {
					if got := s.post(pages.URL + car); got.status != http.StatusOK {
						t.Errorf("%s: %d %s, want 200", car, got.status, got.body)
					}
				})
			}
			people.Wait()
			t.Logf("sixty new vehicles take %v", time.Since(began).Round(time.Millisecond))
		})
	}
}

func workFarFromRedis(t *testing.T, s *stack, redisURL string) {
	t.Helper()
	s.work(tasks.RoleAny)
	line := redistest.Proxy(t, strings.TrimPrefix(redisURL, "redis://"))
	line.Delay(roundTrip)
	far := *s
	far.conn = redistest.Open(t, line.URL)
	far.work(tasks.RoleAuthority)
}

func workFarFromTRA(t *testing.T, s *stack, _ string) {
	t.Helper()
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(*httputil.ProxyRequest) {}}) // the request names its target
	t.Cleanup(proxy.Close)
	address, err := url.Parse(proxy.URL)
	must(t, err)
	line := redistest.Proxy(t, address.Host)
	line.Delay(roundTrip)
	options := s.workerOptions(tasks.Roles...)
	options.Authority.Proxy = "http://" + line.Addr
	s.start(app.Options{Worker: options})
}
