package cache_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/cache"
)

func newCache(t *testing.T) (*cache.Cache, *miniredis.Miniredis) {
	t.Helper()
	server := miniredis.RunT(t)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr(), MaxRetries: -1})
	t.Cleanup(func() { _ = rdb.Close() })
	return cache.New(rdb), server
}

func TestHitSaysCachedAndIsOtherwiseTheSameBytes(t *testing.T) {
	for _, c := range []struct{ name, response, want string }{
		{
			"in the middle", `{"car":{"cached":false},"cached":false,"warnings":["cached"]}`,
			`{"car":{"cached":false},"cached":true,"warnings":["cached"]}`,
		},
		{"last", `{"url":"https://a.example/?a=1&b=2","cached":false}`, `{"url":"https://a.example/?a=1&b=2","cached":true}`},
		{"with spaces", "{ \"cached\" : false }\n", "{ \"cached\" : true }\n"},
		{"true already", `{"cached":true,"n":1.50}`, `{"cached":true,"n":1.50}`},
		{"a value called cached", `{"a":"cached","cached":false}`, `{"a":"cached","cached":true}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			store, _ := newCache(t)
			key := cache.EstimateKey("https://cars.example/1")
			if err := store.Put(t.Context(), key, []byte(c.response), time.Now().Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
			got, err := store.Get(t.Context(), key)
			if err != nil || string(got) != c.want {
				t.Errorf("Get = %s, %v; want %s", got, err, c.want)
			}
		})
	}
}

func TestResponseWithoutFlagIsRefused(t *testing.T) {
	store, server := newCache(t)
	for _, response := range []string{
		``, `null`, `[{"cached":false}]`, `{}`, `{"car":{"cached":false}}`, `{"cached":"false"}`, `{"a":`, `{"cached"`, `{a}`,
	} {
		err := store.Put(t.Context(), "cache:estimate:x", []byte(response), time.Now().Add(time.Hour))
		if !errors.Is(err, cache.ErrNoFlag) {
			t.Errorf("Put(%s) = %v, want ErrNoFlag", response, err)
		}
	}
	if keys := server.Keys(); len(keys) != 0 {
		t.Errorf("cached %v", keys)
	}
}

func TestMissAndExpiry(t *testing.T) {
	store, server := newCache(t)
	key := cache.EstimateKey("https://cars.example/1")
	if data, err := store.Get(t.Context(), key); err != nil || data != nil {
		t.Errorf("empty cache: got %s, %v, want nothing", data, err)
	}
	if err := store.Put(t.Context(), key, []byte(`{"cached":false}`), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if left := server.TTL(string(key)); left <= 59*time.Minute || left > time.Hour {
		t.Errorf("lives %v, want an hour", left)
	}
	server.FastForward(time.Hour)
	if data, err := store.Get(t.Context(), key); err != nil || data != nil {
		t.Errorf("after expiry: got %s, %v, want nothing", data, err)
	}
	if err := store.Put(t.Context(), key, []byte(`{"cached":false}`), time.Now()); err != nil {
		t.Fatal(err)
	}
	if server.Exists(string(key)) {
		t.Error("an expired response was cached")
	}
}

func TestKeysNameTheURL(t *testing.T) {
	// printf https://example.com | sha256sum
	const want = "cache:estimate:100680ad546ce6a577f42f52df33b4cfdca756859e664b8d7de329b150d09ce9"
	if key := cache.EstimateKey("https://example.com"); key != want {
		t.Errorf("key %s, want %s", key, want)
	}
}

func TestEstimateExpiry(t *testing.T) {
	eat := time.FixedZone("EAT", 3*60*60)
	newYear := time.Date(2027, 1, 1, 0, 0, 0, 0, eat)
	for _, c := range []struct {
		name      string
		now, want time.Time
	}{
		{"early in the quarter", time.Date(2026, 10, 5, 12, 0, 0, 0, eat), time.Date(2026, 10, 19, 12, 0, 0, 0, eat)},
		{"exactly 14 days before", time.Date(2026, 12, 18, 0, 0, 0, 0, eat), newYear},
		{"in its last days", time.Date(2026, 12, 31, 23, 59, 0, 0, eat), newYear},
		{"in another zone", time.Date(2026, 12, 31, 20, 59, 0, 0, time.UTC), newYear},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := cache.EstimateExpiry(c.now, newYear); !got.Equal(c.want) {
				t.Errorf("EstimateExpiry = %v, want %v", got, c.want)
			}
		})
	}
}

func TestRedisDownIsNotAMiss(t *testing.T) {
	store, server := newCache(t)
	server.Close()
	if _, err := store.Get(t.Context(), "cache:estimate:x"); err == nil {
		t.Errorf("Get = %v, want the error of Redis", err)
	}
	if err := store.Put(t.Context(), "cache:estimate:x", []byte(`{"cached":false}`), time.Now().Add(time.Hour)); err == nil {
		t.Error("Put succeeded without Redis")
	}
}

// What is put again and again counts once against the bytes of an API key, and the last
// value is the one that is kept.
func TestPutOftenCountsOnce(t *testing.T) {
	store, server := newCache(t)
	owned, other := store.For("ann"), "cache:listing:other"
	const key = "cache:listing:sheet"
	expiry := time.Now().Add(time.Hour)
	bytesOf := func() (counted int) {
		fields, _ := server.HKeys("bytes:{ann}")
		for _, field := range fields {
			n, err := strconv.Atoi(server.HGet("bytes:{ann}", field))
			if err != nil {
				t.Fatal(err)
			}
			counted += n
		}
		return counted
	}
	first := 0
	for i, value := range []string{"one", "one", "two", "one"} {
		if err := owned.PutOften(t.Context(), key, []byte(value), expiry); err != nil {
			t.Fatal(err)
		}
		if got, err := store.Get(t.Context(), key); err != nil || string(got) != value {
			t.Errorf("after %d: %s, %v", i, got, err)
		}
		if first == 0 {
			first = bytesOf()
		}
		if now := bytesOf(); now == 0 || now != first {
			t.Errorf("after %d: %d bytes, first %d", i, now, first)
		}
	}
	sent := server.CommandCount()
	if err := owned.PutOften(t.Context(), key, []byte("one"), expiry); err != nil || server.CommandCount() != sent {
		t.Errorf("the same was sent again: %v", err)
	}
	if err := owned.PutOften(t.Context(), cache.Key(other), []byte("one"), time.Now()); err != nil || server.Exists(other) {
		t.Errorf("what has expired was put: %v", err)
	}
	server.Close()
	if err := owned.PutOften(t.Context(), cache.Key(other), []byte("one"), expiry); err == nil {
		t.Error("no error without Redis")
	}
}
