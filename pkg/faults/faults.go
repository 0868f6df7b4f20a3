// Package faults holds what simulators with faults on demand share: which
// requests fail, and the controls under /_sim/.
package faults

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"
)

// Duration is a time.Duration whose JSON form is text: "250ms".
type Duration time.Duration

// UnmarshalText parses what time.ParseDuration does, except negative values.
func (d *Duration) UnmarshalText(text []byte) error {
	value, err := time.ParseDuration(string(text))
	if err == nil && value < 0 {
		err = fmt.Errorf("negative duration %s", text)
	}
	*d = Duration(value)
	return err
}

// MarshalText writes the same form.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// Wait waits and returns true, or returns false when ctx ends first.
func (d Duration) Wait(ctx context.Context) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(time.Duration(d))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Dice decide which requests fail. Equal seeds give equal decisions.
type Dice struct {
	limited bool
	left    int
	random  *rand.Rand
}

// NewDice returns Dice that make a number of requests fail; 0 means no limit.
func NewDice(requests int, seed uint64) *Dice {
	return &Dice{limited: requests > 0, left: requests, random: rand.New(rand.NewPCG(seed, 0xfa17))}
}

// Strike reports whether one more request may fail, and counts it.
func (d *Dice) Strike() bool {
	if d.limited && d.left == 0 {
		return false
	}
	d.left--
	return true
}

// Delay returns the latency plus a uniform random part of the jitter.
func (d *Dice) Delay(latency, jitter Duration) Duration {
	if jitter > 0 {
		latency += Duration(d.random.Int64N(int64(jitter)))
	}
	return latency
}

// Status returns the status of a failing request, or 0 for one that succeeds.
// With a rate, that share of the requests fails, by default with 503.
func (d *Dice) Status(rate float64, status int) int {
	switch {
	case rate <= 0:
		return status
	case d.random.Float64() < rate:
		return cmp.Or(status, http.StatusServiceUnavailable)
	}
	return 0
}

// Control adds the controls: GET /_sim/requests shows what was counted, POST
// /_sim/faults replaces the faults, POST /_sim/reset resets the counters and the faults.
func Control[Counts, Faults any](mux *http.ServeMux, counts func() Counts, set func(Faults), reset func()) {
	mux.HandleFunc("GET /_sim/requests", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(counts())
	})
	mux.HandleFunc("POST /_sim/faults", func(w http.ResponseWriter, r *http.Request) {
		var faults Faults
		decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&faults); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		set(faults)
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("POST /_sim/reset", func(w http.ResponseWriter, _ *http.Request) {
		reset()
		w.WriteHeader(http.StatusNoContent)
	})
}
