package webhook

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// schedule is when to try again after each failure, as the specification
// suggests: about three days in all.
var schedule = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
	10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

const (
	pollEvery = time.Second
	atOnce    = 8

	// A receiver may ask for more time, within reason.
	maxRetryAfter = 24 * time.Hour
)

// Poster sends one request to an address that a caller gave, guarded against
// addresses that are nobody's business; package fetch has one. It follows no
// redirects and reads no more of the answer than it must.
type Poster interface {
	Post(ctx context.Context, url string, header http.Header, body []byte) (status int, answer http.Header, err error)
}

// Sender sends what is due. Any number of them may run.
type Sender struct {
	Store  *Store
	Poster Poster
	Log    *slog.Logger
	// Schedule is when to try again after each failure; nil is the
	// specification's.
	Schedule []time.Duration
	// Tried is told what came of each attempt: delivered, retried, given_up or
	// gone. Nil is nobody.
	Tried func(outcome string)
}

// Run sends until ctx ends.
func (s *Sender) Run(ctx context.Context) {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for ctx.Err() == nil {
		sent, err := s.Send(ctx)
		if err != nil && ctx.Err() == nil {
			s.Log.WarnContext(ctx, "webhooks are not sent", "error", err)
		}
		if sent == atOnce && err == nil {
			continue // there may be more
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

// Send sends what is due now, and returns how many it tried.
func (s *Sender) Send(ctx context.Context) (int, error) {
	ids, err := s.Store.lease(ctx, atOnce)
	if err != nil {
		return 0, err
	}
	var group sync.WaitGroup
	errs := make([]error, len(ids))
	for i, id := range ids {
		group.Go(func() { errs[i] = s.deliver(ctx, id) })
	}
	group.Wait()
	return len(ids), errors.Join(errs...)
}

// deliver tries one delivery and writes what came of it. What cannot be
// written is tried again when the lease ends.
func (s *Sender) deliver(ctx context.Context, id string) error {
	d, err := s.Store.delivery(ctx, id)
	if errors.Is(err, ErrNotFound) || err == nil && d.State != Pending {
		return s.Store.done(ctx, id)
	}
	if err != nil {
		return err
	}
	endpoint, err := s.Store.get(ctx, d.Owner, d.Endpoint)
	switch {
	case errors.Is(err, ErrNotFound):
		return s.end(ctx, d, Failed, Attempt{At: time.Now().UTC(), Error: "the endpoint was removed"})
	case err != nil:
		return err
	case endpoint.Disabled != "":
		return s.end(ctx, d, Failed, Attempt{At: time.Now().UTC(), Error: "the endpoint is disabled"})
	}
	attempt, wait, err := s.try(ctx, d, endpoint)
	if err != nil {
		return err
	}
	log := s.Log.With("delivery", d.ID, "webhook", d.Endpoint, "event", d.Event, "status", attempt.Status, "ms", attempt.Millis)
	delays := s.schedule()
	d.Tries++
	switch {
	case attempt.Status >= 200 && attempt.Status < 300:
		s.tried("delivered")
		log.InfoContext(ctx, "webhook delivered")
		return s.end(ctx, d, Delivered, attempt)
	case attempt.Status == http.StatusGone:
		s.tried("gone")
		log.InfoContext(ctx, "webhook endpoint is gone")
		disabled := s.Store.disable(ctx, d.Owner, d.Endpoint, "it answered 410 Gone")
		return errors.Join(ignoreMissing(disabled), s.end(ctx, d, Failed, attempt))
	case d.Tries > len(delays):
		s.tried("given_up")
		log.WarnContext(ctx, "webhook given up", "error", attempt.Error)
		return s.end(ctx, d, Failed, attempt)
	}
	delay := delays[d.Tries-1]
	delay = max(delay+rand.N(delay/5+1), min(wait, maxRetryAfter)) //nolint:gosec // jitter
	s.tried("retried")
	log.InfoContext(ctx, "webhook will be sent again", "error", attempt.Error, "in", delay)
	d.Next = attempt.At.Add(delay)
	d.remember(attempt)
	return errors.Join(s.Store.write(ctx, d), s.Store.due(ctx, d.ID, d.Next))
}

func (s *Sender) tried(outcome string) {
	if s.Tried != nil {
		s.Tried(outcome)
	}
}

func (s *Sender) schedule() []time.Duration {
	if s.Schedule != nil {
		return s.Schedule
	}
	return schedule
}

// end writes the last word on a delivery.
func (s *Sender) end(ctx context.Context, d Delivery, state State, attempt Attempt) error {
	d.State, d.Next = state, time.Time{}
	d.remember(attempt)
	if err := s.Store.write(ctx, d); err != nil {
		return err
	}
	return s.Store.done(ctx, d.ID)
}

func (d *Delivery) remember(attempt Attempt) {
	d.Attempts = append(d.Attempts, attempt)
	d.Attempts = d.Attempts[max(0, len(d.Attempts)-maxAttempts):]
}

// try sends a delivery once. An error means that it was not tried.
func (s *Sender) try(ctx context.Context, d Delivery, endpoint stored) (Attempt, time.Duration, error) {
	now := time.Now()
	signature, err := Sign(endpoint.signing(now), d.ID, now, d.Payload)
	if err != nil {
		return Attempt{}, 0, err
	}
	header := http.Header{
		"Content-Type": {"application/json"}, "User-Agent": {"Ushuru-Webhooks/1.0"},
		HeaderID: {d.ID}, HeaderTimestamp: {strconv.FormatInt(now.Unix(), 10)}, HeaderSignature: {signature},
	}
	status, answer, err := s.Poster.Post(ctx, endpoint.URL, header, d.Payload)
	if ctx.Err() != nil { // we are stopping, and the receiver is not to blame
		return Attempt{}, 0, ctx.Err()
	}
	attempt := Attempt{At: now.UTC(), Status: status, Millis: time.Since(now).Milliseconds()}
	switch {
	case err != nil:
		attempt.Error = err.Error() // the public half
	case status >= 300 && status < 400:
		attempt.Error = "redirects are not followed; give the final address"
	case status < 200 || status >= 400:
		attempt.Error = "the receiver answered " + http.StatusText(status)
	}
	return attempt, retryAfter(answer), nil
}

// retryAfter is the pause that a receiver asks for, in seconds.
func retryAfter(answer http.Header) time.Duration {
	seconds, err := strconv.Atoi(answer.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(min(seconds, int(maxRetryAfter/time.Second))) * time.Second
}
