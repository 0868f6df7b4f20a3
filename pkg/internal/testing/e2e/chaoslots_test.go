package e2e

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"ushuru/pkg/listing/listingtest"
)

// lots are listings on a SIMULATED site, each with a car of its own.
type lots struct {
	site *unreliable
	urls []string
}

// newLots makes n listings: cars of the demo, each in the years that the
// authority may have, those that make one vehicle next to each other; and some
// that fail permanently.
func newLots(t *testing.T, n int, seed uint64) *lots {
	t.Helper()
	const firstYear, years, goneEvery = 2012, 12, 50
	models := listingtest.Cars()
	vehicles := len(models) * years
	cars := make([]listingtest.Car, n)
	for i := range cars {
		vehicle := i * vehicles / n
		car := models[vehicle%len(models)]
		car.ID, car.Ref = 9_200_000+i, fmt.Sprintf("SM%06d", 200_000+i)
		car.YearsOld, car.Manufacture = 0, ""
		car.Registration = fmt.Sprintf("%d/%d", firstYear+vehicle/len(models), 1+i%12)
		car.Price, car.Mileage = 1500+7*i, 30_000+11*i
		car.Total = 0
		cars[i] = car
	}
	l := &lots{site: &unreliable{inner: listingtest.Of(cars), seed: seed}}
	server := httptest.NewServer(l.site)
	t.Cleanup(server.Close)
	for i, car := range cars {
		path := car.Path()
		if i%goneEvery == goneEvery-1 {
			path = fmt.Sprintf("/gone?lot=%d", i)
		}
		l.urls = append(l.urls, server.URL+path)
	}
	return l
}

// body is the request that submits them.
func (l *lots) body() ([]byte, error) { return json.Marshal(map[string][]string{"urls": l.urls}) }

// unreliable is a site of which a share of the requests fails: half of them
// with an error, half with a connection that breaks. Not with 503 or 429: a
// site that sends those gets no requests for a while, as intended.
//
// The seed alone decides whether the nth request for a page fails, and so how
// often each listing must be retried.
type unreliable struct {
	inner    http.Handler
	seed     uint64
	requests atomic.Int64

	mu    sync.Mutex
	share float64
	times map[string]uint64 // requests by path
}

// fail makes a share of the requests fail from now on, and resets the counters.
func (u *unreliable) fail(share float64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.share, u.times = share, map[string]uint64{}
	u.requests.Store(0)
}

func (u *unreliable) draw(path string) float64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.share == 0 {
		return 1
	}
	u.times[path]++
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(path))
	return rand.New(rand.NewPCG(u.seed+u.times[path], hash.Sum64())).Float64() / u.share
}

func (u *unreliable) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	u.requests.Add(1)
	switch drawn := u.draw(r.URL.RequestURI()); {
	case drawn < 0.5:
		http.Error(w, "SIMULATED failure", http.StatusInternalServerError)
	case drawn < 1:
		panic(http.ErrAbortHandler)
	default:
		u.inner.ServeHTTP(w, r)
	}
}
