package soak

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/lab/rig"
	"ushuru/pkg/redisx/redistest"
)

// steady are readings of a service that only swings.
func steady() []reading {
	all := make([]reading, tenths)
	for i := range all {
		all[i] = reading{
			heap: 20*megabyte + int64(i%3)*megabyte/4, goroutines: 100 + i%5, redis: 5*megabyte + int64(i%2)*megabyte/8, count: 400,
			keys: []rig.Keys{{Pattern: "asynq:queues", Count: 1, Bytes: 200, Lasting: 1}, {Pattern: "job:*", Count: 50, Longest: time.Hour}},
		}
	}
	return all
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(i int, r *reading)
		want   string
	}{
		"nothing grows": {func(int, *reading) {}, ""},
		"what the first tenth brings is no leak": {func(i int, r *reading) {
			if i > 0 {
				r.heap -= megabyte
			}
		}, ""},
		"20 bytes of heap for each of 100,000":  {func(i int, r *reading) { r.heap += int64(i) * 10_000 * 20 }, "the heap"},
		"a goroutine for each thousand":         {func(i int, r *reading) { r.goroutines += i * 10 }, "goroutines"},
		"20 bytes of Redis for each of 100,000": {func(i int, r *reading) { r.redis += int64(i) * 10_000 * 20 }, "Redis"},
		"keys":                                  {func(i int, r *reading) { r.count += i * 20 }, "keys"},
		"one more key that lasts": {func(i int, r *reading) {
			if i == tenths-1 {
				r.keys = append(r.keys, rig.Keys{Pattern: "left:*", Count: 1, Lasting: 1})
			}
		}, "keys left:* without a lifetime from 0 to 1"},
		"a key that lasts and holds more": {func(i int, r *reading) { r.keys[0].Bytes += int64(i) * 1000 }, "from 200 to 9200 bytes"},
	} {
		all := steady()
		for i := range all {
			test.change(i, &all[i])
		}
		got := strings.Join(growth(all), "; ")
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestSoakReadsEachTenth(t *testing.T) {
	var out bytes.Buffer
	numbers, _, err := Run(t.Context(), &out, Options{
		Redis: redistest.Open(t, redistest.Start(t).URL), Estimates: 100, Listings: 5, Callers: 4, Progress: io.Discard,
	})
	if err != nil || len(numbers) != 3 || strings.Count(out.String(), "goroutines, Redis") != tenths+1 ||
		!strings.Contains(out.String(), "verdict: ") {
		t.Errorf("%v, %s", err, out.String())
	}
}
