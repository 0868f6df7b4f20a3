package e2e

import (
	"errors"
	"log/slog"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"ushuru/pkg/client"
	"ushuru/pkg/demo"
	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
	"ushuru/tasks"
)

// TestPauseOfASite: a site answers a page with 429 and Retry-After. The person who
// asked for it, and the next one, learn at once until when; the rows of a batch
// wait, and succeed after the pause without having asked meanwhile.
func TestPauseOfASite(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	conn := redistest.Embedded(t)
	const pause = 18 * time.Second
	var refused atomic.Int32
	var until atomic.Int64 // the end of the pause; 0 before it
	site := listingtest.New()
	service, err := demo.Start(t.Context(), demo.Options{
		Redis: conn, Log: slog.New(slog.DiscardHandler), Roles: []tasks.Role{tasks.RoleAny, tasks.RoleAuthority},
		Pages: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/robots.txt" {
				until.CompareAndSwap(0, time.Now().Add(pause).UnixNano())
			}
			if r.URL.Path == "/robots.txt" || time.Now().UnixNano() > until.Load() {
				site.ServeHTTP(w, r)
				return
			}
			refused.Add(1)
			w.Header().Set("Retry-After", "18")
			w.WriteHeader(http.StatusTooManyRequests)
		}),
	})
	must(t, err)
	t.Cleanup(service.Stop)
	api, err := client.New(client.Options{URL: service.URL, Key: service.Key})
	must(t, err)
	for range 2 {
		start := time.Now()
		_, err := api.Estimate(t.Context(), client.EstimateRequest{URL: service.Site + listingtest.Cars()[0].Path()})
		failure, ok := errors.AsType[*client.Error](err)
		if !ok || failure.Code != "host_busy" || time.Since(start) > 15*time.Second {
			t.Fatalf("after %s: %v", time.Since(start), err)
		}
	}
	var urls []string
	for _, car := range listingtest.Cars()[:3] {
		urls = append(urls, service.Site+car.Path())
	}
	batch, err := client.Send[client.Batch](t.Context(), api, "POST /v1/batches", map[string][]string{"urls": urls})
	must(t, err)
	testenv.AwaitFor(t, 2*time.Minute, "the end of the batch", func() (any, bool) {
		batch, err = api.Batch(t.Context(), batch.ID)
		must(t, err)
		return batch.Counts, batch.State == "completed"
	})
	if batch.Counts["succeeded"] != 3 || refused.Load() != 1 {
		t.Errorf("%v; the site was asked %d times during its pause", batch.Counts, refused.Load()-1)
	}
}
