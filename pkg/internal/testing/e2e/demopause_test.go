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
	"ushuru/tasks"
)

// TestPauseOfASite: a site answers a page with 429 and Retry-After. The person who
// asked for it, and the next one, learn at once until when; the rows of a batch
// wait, and succeed after the pause without having asked meanwhile.
func TestPauseOfASite(t *testing.T) {
	conn := redistest.Embedded(t)
	var refusing, refused atomic.Int32
	site := listingtest.New()
	service, err := demo.Start(t.Context(), demo.Options{
		Redis: conn, Log: slog.New(slog.DiscardHandler), Roles: []tasks.Role{tasks.RoleAny, tasks.RoleAuthority},
		Pages: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if refusing.Load() == 0 || r.URL.Path == "/robots.txt" {
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
	refusing.Store(1)
	for range 2 {
		start := time.Now()
		_, err := api.Estimate(t.Context(), client.EstimateRequest{URL: service.Site + listingtest.Cars()[0].Path()})
		failure, ok := errors.AsType[*client.Error](err)
		if !ok || failure.Code != "host_busy" || time.Since(start) > 8*time.Second {
			t.Fatalf("after %s: %v", time.Since(start), err)
		}
	}
	var request client.BatchRequest
	for _, car := range listingtest.Cars()[:3] {
		request.Items = append(request.Items, client.BatchRow{URL: service.Site + car.Path()})
	}
	batch, err := api.CreateBatch(t.Context(), request)
	must(t, err)
	time.Sleep(2 * time.Second)
	refusing.Store(0)
	for start := time.Now(); batch.State != "completed"; time.Sleep(200 * time.Millisecond) {
		batch, err = api.Batch(t.Context(), batch.ID)
		must(t, err)
		if time.Since(start) > 2*time.Minute {
			t.Fatalf("the batch is %s: %v", batch.State, batch.Counts)
		}
	}
	if batch.Counts["succeeded"] != 3 || refused.Load() != 1 {
		t.Errorf("%v; the site was asked %d times during its pause", batch.Counts, refused.Load()-1)
	}
}
