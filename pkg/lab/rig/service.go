package rig

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/client"
	"ushuru/pkg/demo"
	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/redisx"
	"ushuru/pkg/tra"
	"ushuru/tasks"
)

// StepsOfEstimate is the number of tasks of one estimate.
const StepsOfEstimate = 3

// Options of Start. Redis and Log are required.
type Options struct {
	Redis  *redisx.Conn // an empty Redis; it stays the caller's
	Log    *slog.Logger
	Pages  http.Handler // the site; nil is one of a few cars that answers at once
	Roles  []tasks.Role // of the workers; nil is those that need no AI
	Window int          // listings of batches processed concurrently; 0 is the default
}

// Service is the service in this process with a SIMULATED site and authority, and what
// measures it.
type Service struct {
	*demo.Demo

	Redis  redis.UniversalClient
	Client *client.Client
}

// Start starts the service; call Stop at the end.
func Start(ctx context.Context, o Options) (*Service, error) {
	if n, err := o.Redis.Client().DBSize(ctx).Result(); err != nil || n > 0 {
		return nil, errors.Join(errors.New("the benchmark needs an empty Redis"), err)
	}
	if o.Pages == nil {
		o.Pages = Instant(listingtest.New())
	}
	if o.Roles == nil {
		o.Roles = []tasks.Role{tasks.RoleAny, tasks.RoleAuthority}
	}
	service, err := demo.Start(ctx, demo.Options{
		Redis: o.Redis, Log: o.Log, Pages: o.Pages, Roles: o.Roles, BatchWindow: o.Window,
	})
	if err != nil {
		return nil, err
	}
	api, err := client.New(client.Options{URL: service.URL, Key: service.Key})
	if err != nil {
		service.Stop()
		return nil, err
	}
	return &Service{Demo: service, Redis: o.Redis.Client(), Client: api}, nil
}

// Cars returns the cars of the site that need no AI.
func Cars() (cars []listingtest.Car) {
	for _, car := range listingtest.Cars() {
		if car.Code != "" {
			cars = append(cars, car)
		}
	}
	return cars
}

// Listing returns the URL of the nth listing of a kind on a site. Each URL is another
// listing to the service; the site repeats its few cars.
func Listing(site, kind string, n int) string {
	cars := Cars()
	return fmt.Sprintf("%s%s?%s=%d", site, cars[n%len(cars)].Path(), kind, n)
}

// Listings returns n listings of a kind for a batch.
func Listings(site, kind string, n int) []string {
	urls := make([]string, n)
	for i := range urls {
		urls[i] = Listing(site, kind, i)
	}
	return urls
}

// Submit submits a batch of listings and returns its id.
func Submit(ctx context.Context, api *client.Client, urls []string) (id string, err error) {
	created, err := client.Send[client.Batch](ctx, api, "POST /v1/batches", map[string][]string{"urls": urls})
	if err != nil {
		return "", err
	}
	return created.ID, nil
}

// AwaitEnd polls a batch until its end and returns how many of its rows ended in which
// state. Each poll calls watch, unless that is nil.
func AwaitEnd(ctx context.Context, api *client.Client, id string, watch func()) (outcomes map[string]int, err error) {
	for {
		status, err := api.Batch(ctx, id)
		if err != nil {
			return nil, err
		}
		if watch != nil {
			watch()
		}
		if status.State != "running" {
			return status.Counts, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// RunBatch submits a batch of listings and waits for its end. It fails unless every
// listing was estimated.
func RunBatch(ctx context.Context, api *client.Client, urls []string) error {
	id, err := Submit(ctx, api, urls)
	if err != nil {
		return err
	}
	outcomes, err := AwaitEnd(ctx, api, id, nil)
	if err == nil && outcomes["succeeded"] != len(urls) {
		return fmt.Errorf("lab: not all of %d listings were estimated: %v", len(urls), outcomes)
	}
	return err
}

// Estimates requests n single estimates of new listings, one after the other, and
// returns how long each took.
func (s *Service) Estimates(ctx context.Context, kind string, n int) ([]time.Duration, error) {
	took := make([]time.Duration, 0, max(n, 0))
	for i := range n {
		each, err := s.Estimate(ctx, Listing(s.Site, kind, i))
		if err != nil {
			return nil, err
		}
		took = append(took, each)
	}
	return took, nil
}

// Estimate requests an estimate of a listing and returns how long it took.
func (s *Service) Estimate(ctx context.Context, url string) (time.Duration, error) {
	started := time.Now()
	_, err := s.Client.Estimate(ctx, client.EstimateRequest{URL: url})
	return time.Since(started), err
}

// AwaitCatalogue waits until the authority's lists are synced.
func (s *Service) AwaitCatalogue(ctx context.Context) error {
	const interval, longest = 100 * time.Millisecond, 2 * time.Minute
	store, deadline := tra.NewStore(s.Redis, tra.StoreOptions{}), time.Now().Add(longest)
	for time.Now().Before(deadline) {
		state, err := store.State(ctx)
		if err != nil || state.AsOf != nil {
			return err
		}
		time.Sleep(interval)
	}
	return errors.New("the catalogue was not synced")
}
