package worker

import (
	"encoding/json"
	"testing"
	"time"

	"ushuru/pkg/cache"
	"ushuru/pkg/jobs"
	"ushuru/pkg/localtime"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

func TestAnEstimateHoldsAtMostUntilItsQuarterEndsInDarEsSalaam(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, now, then, want string }{
		{"14 days", "2026-11-02T10:00:00Z", "2026-11-02T10:00:00Z", "2026-11-16T13:00:00+03:00"},
		{"14 days, of figures known for long", "2026-11-02T10:00:00Z", "2026-10-01T10:00:00Z", "2026-11-16T13:00:00+03:00"},
		{"up to New Year", "2026-12-20T10:00:00Z", "2026-12-20T10:00:00Z", "2027-01-01T00:00:00+03:00"},
		{"the last second of the year", "2026-12-31T20:59:59Z", "2026-12-31T20:59:59Z", "2027-01-01T00:00:00+03:00"},
		{"the first of the next", "2026-12-31T21:00:00Z", "2026-12-31T21:00:00Z", "2027-01-15T00:00:00+03:00"},
		{"figures of the old year in the new one", "2026-12-31T21:00:01Z", "2026-12-31T20:59:58Z", "2027-01-01T00:00:00+03:00"},
		{"the last second of a quarter", "2026-09-30T20:59:59Z", "2026-09-30T20:59:59Z", "2026-10-01T00:00:00+03:00"},
		{"stale figures", "2026-11-02T10:00:00Z", "2026-08-02T10:00:00Z", "2026-10-01T00:00:00+03:00"},
	} {
		now, err1 := time.Parse(time.RFC3339, c.now)
		then, err2 := time.Parse(time.RFC3339, c.then)
		if got := localtime.Stamp(validUntil(now, then)); err1 != nil || err2 != nil || got != c.want {
			t.Errorf("%s: %s, want %s; %v %v", c.name, got, c.want, err1, err2)
		}
	}
}

func TestNoAnswerIsKeptPastItsValidity(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		results := cache.New(conn.Client())
		cached := &resultCache{results}
		for _, kind := range []string{tasks.KindEstimate, tasks.KindQuote} {
			for left, kept := range map[time.Duration]bool{-time.Second: false, time.Hour: true} {
				input, err := json.Marshal(map[string]string{"url": "https://cars.example/" + left.String(), "make": left.String()})
				if err != nil {
					t.Fatal(err)
				}
				job := &jobs.Job{Kind: kind, Input: input}
				until := time.Now().Add(left)
				result, err := json.Marshal(vehicle.Estimate{ValidUntil: localtime.Stamp(until)})
				if err != nil {
					t.Fatal(err)
				}
				begun := time.Now()
				if err := cached.put(t.Context(), job, result); err != nil {
					t.Fatal(err)
				}
				key, err := tasks.ResultKey(kind, input)
				if err != nil {
					t.Fatal(err)
				}
				data, err := results.Get(t.Context(), key)
				if kept != (data != nil) || err != nil {
					t.Errorf("%s, %v left: %v", kind, left, err)
				}
				life, err := conn.Client().PTTL(t.Context(), string(key)).Result()
				if err != nil || kept && (life <= 0 || begun.Add(life).After(until)) {
					t.Errorf("%s is kept for %v of %v, %v", kind, life, left, err)
				}
			}
		}
	})
}
