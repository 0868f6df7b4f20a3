package api_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ushuru/api"
	"ushuru/pkg/redisx/redistest"
)

// BenchmarkCachedEstimate compares a cache hit with the least that could send
// the same bytes: a bare handler that does one GET.
func BenchmarkCachedEstimate(b *testing.B) {
	conn := redistest.Open(b, redistest.Start(b).URL)
	a := newApp(b, conn, func(o *api.Options) {
		o.Log = slog.New(slog.NewJSONHandler(io.Discard, nil)) //nolint:sloglint // a line costs what it costs in production
	})
	key := estimateKey("/1")
	if err := a.cache.Put(b.Context(), key, estimateOf(site+"/1"), time.Now().Add(time.Hour)); err != nil {
		b.Fatal(err)
	}
	plain := "bench:" + string(key) // the bytes as they are sent
	if err := conn.Client().Set(b.Context(), plain, []byte(estimateOf(site+"/1")), time.Hour).Err(); err != nil {
		b.Fatal(err)
	}
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, err := conn.Client().Get(r.Context(), plain).Bytes()
		if err != nil {
			b.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(data)
	}))
	defer bare.Close()
	b.Run("bare", func(b *testing.B) { hammer(b, bare.URL, a.key) })
	b.Run("api", func(b *testing.B) { hammer(b, a.URL, a.key) })
}

func hammer(b *testing.B, url, key string) {
	b.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}
	defer client.CloseIdleConnections()
	b.ReportAllocs()
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			body := strings.NewReader(`{"url":"https://cars.example/1"}`)
			r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url+"/v1/estimate", body)
			if err != nil {
				b.Error(err)
				return
			}
			r.Header.Set("X-Api-Key", key)
			response, err := client.Do(r)
			if err != nil {
				b.Error(err)
				return
			}
			n, err := io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
			if err != nil || n < 1000 || response.StatusCode != http.StatusOK {
				b.Errorf("%s, %d bytes, %v", response.Status, n, err)
			}
		}
	})
}
