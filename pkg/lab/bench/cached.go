package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"ushuru/pkg/app"
	"ushuru/pkg/lab/rig"
	"ushuru/pkg/redisx"
)

const (
	cachedRounds = 9 // of each side, taking turns
	bareKey      = "bench:cached"
	minCached    = 500 // bytes of the least estimate
)

// CachedOptions of Cached.
type CachedOptions struct {
	Redis    *redisx.Conn // an empty Redis
	Requests int          // in each round
	Callers  int          // at the same time
}

// Cached compares cached estimates with the least that could send the same
// bytes: a bare handler that does one GET. Both sides are asked over HTTP from
// this process and take turns, so that other load on the machine hits both. A
// line of the log is encoded for every answer of the API, as in production.
func Cached(ctx context.Context, out io.Writer, o CachedOptions) ([]rig.Number, error) {
	service, err := rig.Start(ctx, rig.Options{
		Redis: o.Redis,
		Log:   slog.New(slog.NewJSONHandler(io.Discard, nil)), //nolint:sloglint // a line costs what it costs in production
	})
	if err != nil {
		return nil, err
	}
	defer service.Stop()
	bench, err := newCachedBench(ctx, service, o)
	if err != nil {
		return nil, err
	}
	defer bench.client.CloseIdleConnections()
	stop, err := bench.startBare(ctx, service.Redis)
	if err != nil {
		return nil, err
	}
	defer stop()
	return bench.measure(ctx, out, service.Redis)
}

// cachedBench asks for one cached estimate again and again.
type cachedBench struct {
	CachedOptions

	client    *http.Client
	api, bare string // URLs
	key       string // API key
	body      []byte // of the request
	answer    []byte // the cached estimate
}

func newCachedBench(ctx context.Context, service *rig.Service, o CachedOptions) (*cachedBench, error) {
	o.Callers, o.Requests = max(o.Callers, 1), max(o.Requests, 1)
	body, err := json.Marshal(map[string]string{"url": rig.Listing(service.Site, "cached", 0)})
	if err != nil {
		return nil, err
	}
	b := &cachedBench{
		CachedOptions: o, api: service.URL + "/v1/estimate", key: service.Key, body: body,
		client: &http.Client{Transport: &http.Transport{
			MaxIdleConnsPerHost: o.Callers, DisableCompression: true, // the bare handler packs nothing either
		}, Timeout: time.Minute},
	}
	for range 2 { // the first is calculated, the second is cached
		if b.answer, err = b.post(ctx, b.api); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// startBare serves the cached bytes with one GET.
func (b *cachedBench) startBare(ctx context.Context, client redis.UniversalClient) (stop func(), err error) {
	if err := client.Set(ctx, bareKey, b.answer, time.Hour).Err(); err != nil {
		return nil, err
	}
	listener, err := app.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	b.bare = "http://" + listener.Addr().String() + "/v1/estimate"
	return app.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, err := client.Get(r.Context(), bareKey).Bytes()
		if err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(data)
	}), func(error) {}), nil
}

// cachedRound has the figures of one round.
type cachedRound struct {
	perSecond  float64
	roundTrips float64 // GETs of Redis for each answer
}

func (b *cachedBench) measure(ctx context.Context, out io.Writer, client redis.UniversalClient) ([]rig.Number, error) {
	var bare, ours []cachedRound
	ratios := make([]float64, 0, cachedRounds)
	for i := range cachedRounds + 1 {
		first, err := b.round(ctx, b.bare, client)
		if err != nil {
			return nil, err
		}
		second, err := b.round(ctx, b.api, client)
		if err != nil {
			return nil, err
		}
		if i == 0 { // it opened the connections
			continue
		}
		bare, ours = append(bare, first), append(ours, second)
		ratios = append(ratios, second.perSecond/first.perSecond)
	}
	slices.Sort(ratios)
	median := func(rounds []cachedRound) cachedRound {
		slices.SortFunc(rounds, func(a, b cachedRound) int { return int(a.perSecond - b.perSecond) })
		return rounds[len(rounds)/2]
	}
	_, err := fmt.Fprintf(out, `answer:           %d bytes, %d callers, %d rounds of %d requests for each side
bare handler:     %6.0f /s, %.2f GETs for each answer
cached estimates: %6.0f /s, %.2f GETs for each answer
ratio:            %6.2f (median; %.2f to %.2f)
`, len(b.answer), b.Callers, cachedRounds, b.Requests,
		median(bare).perSecond, median(bare).roundTrips, median(ours).perSecond, median(ours).roundTrips,
		ratios[len(ratios)/2], ratios[0], ratios[len(ratios)-1])
	perSecond := func(n float64) rig.Value { return rig.Value{N: n, Unit: "requests/s"} }
	const share = 0.7
	number := rig.Number{
		Name:     fmt.Sprintf("cached estimates, %d callers", b.Callers),
		Baseline: perSecond(median(bare).perSecond).As("bare handler: one GET of Redis, the same bytes"),
		Aim:      rig.Aim{AtLeast: share, Ratio: true},
	}
	number.Measured = perSecond(number.Baseline.N * ratios[len(ratios)/2]) // the median of the ratios of the rounds
	return []rig.Number{number}, err
}

// round asks one side.
func (b *cachedBench) round(ctx context.Context, url string, client redis.UniversalClient) (r cachedRound, err error) {
	before, err := countGets(ctx, client)
	if err != nil {
		return r, err
	}
	var sent atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	start := time.Now()
	for range b.Callers {
		group.Go(func() error {
			for sent.Add(1) <= int64(b.Requests) {
				got, err := b.post(ctx, url)
				if err != nil {
					return err
				}
				if !bytes.Equal(got, b.answer) {
					return errors.New("lab: another answer than the cached one")
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return r, err
	}
	r.perSecond = float64(b.Requests) / time.Since(start).Seconds()
	after, err := countGets(context.WithoutCancel(ctx), client)
	r.roundTrips = float64(after-before) / float64(b.Requests)
	return r, err
}

func (b *cachedBench) post(ctx context.Context, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(b.body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("X-Api-Key", b.key)
	response, err := b.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err == nil && (response.StatusCode != http.StatusOK || len(answer) < minCached) {
		err = fmt.Errorf("lab: %s, %d bytes", response.Status, len(answer))
	}
	return answer, err
}

// countGets returns how many GETs Redis has answered.
func countGets(ctx context.Context, client redis.UniversalClient) (n int64, err error) {
	info, err := client.Info(ctx, "commandstats").Result()
	if err != nil {
		return 0, err
	}
	field := rig.InfoField(info, "cmdstat_get")
	if field == "" {
		return 0, nil
	}
	_, err = fmt.Sscanf(field, "calls=%d,", &n)
	return n, err
}
