package e2e

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"ushuru/pkg/tra/tratest"
)

// front is a proxy before the SIMULATED authority. It records which worker got
// which calculation: each process has its own address.
type front struct {
	authority *tratest.Simulator

	mu      sync.Mutex
	total   int
	answers map[string][]calculationAnswer // by vehicle
}

// calculationAnswer is a calculation that the authority made.
type calculationAnswer struct {
	worker string
	at     time.Time
}

func newFront(t *testing.T, seed uint64) *front {
	t.Helper()
	authority, err := tratest.New(tratest.Options{Seed: seed, Faults: tratest.Faults{ErrorRate: upstreamErrors}})
	must(t, err)
	return &front{authority: authority, answers: map[string][]calculationAnswer{}}
}

// address of the authority for one worker, under the address of the front.
func (*front) address(base, worker string) string { return base + "/" + worker + tratest.Path }

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	worker, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	status := &statusWriter{ResponseWriter: w}
	http.StripPrefix("/"+worker, f.authority).ServeHTTP(status, r)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.total++
	if strings.HasSuffix(path, "getVehicleDetails") && status.code < http.StatusMultipleChoices {
		vehicle := r.URL.RawQuery
		f.answers[vehicle] = append(f.answers[vehicle], calculationAnswer{worker, time.Now()})
	}
}

// statusWriter records the status; 0 is that of a body without one.
type statusWriter struct {
	http.ResponseWriter

	code int
}

func (w *statusWriter) WriteHeader(code int) {
	w.code = code
	w.ResponseWriter.WriteHeader(code)
}

func (f *front) requests() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.total
}

func (f *front) vehicles() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.answers)
}

func (f *front) calculations() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, answers := range f.answers {
		n += len(answers)
	}
	return n
}

// storing is the time within which a worker stores the authority's answer in
// Redis, and for which its lock keeps other workers from the same call while
// Redis cannot be reached.
const storing = 5 * time.Second

// onceEach checks that the authority calculated each vehicle once. One more
// for each worker that was killed between the authority's answer and the
// moment when Redis had it is correct: no other process knows the answer.
// away is the longest time for which Redis was down.
func (f *front) onceEach(t *testing.T, deaths map[string]time.Time, away time.Duration) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for vehicle, answers := range f.answers {
		for i, lost := range answers[:len(answers)-1] {
			next := answers[i+1]
			death, died := deaths[lost.worker]
			after := death.Sub(lost.at).Round(time.Millisecond)
			switch {
			case died && after < storing+away && !next.at.Before(death):
				t.Logf("%s was killed %v after it got the calculation of %s", lost.worker, after, vehicle)
			case away > storing:
				t.Logf("%s lost the calculation of %s while Redis was away", lost.worker, vehicle)
			default:
				t.Errorf("%s was calculated for %s (killed: %t, %v later), and %v later for %s",
					vehicle, lost.worker, died, after, next.at.Sub(lost.at), next.worker)
			}
		}
	}
}
