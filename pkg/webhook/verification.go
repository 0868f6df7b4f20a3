package webhook

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"strings"
	"time"
)

// An endpoint gets events once it has proved that it wants them, so that no caller can
// have us send signed requests to another's server. The proof is the answer to the
// event webhook.verification: it repeats the challenge of its data, as the whole body
// or as {"challenge": "…"}. An answer that repeats the request proves nothing.

// verificationEvent asks an endpoint whether it wants events. No endpoint subscribes
// to it.
const verificationEvent = "webhook.verification"

// verificationAttempts is how often an endpoint is asked after a request for it: over
// about two and a half hours.
const verificationAttempts = 5

// heldFor is how long events for an endpoint wait for its proof.
const heldFor = 4 * time.Hour

// verification is the data of a verificationEvent.
type verification struct {
	Webhook   string `json:"webhook"`
	Challenge string `json:"challenge"`
}

// Verify asks an endpoint whether it wants events, once for a subject. One that has
// proved it is not asked. It returns ErrNotFound when the key has no such endpoint.
func (s *Store) Verify(ctx context.Context, owner, endpoint, subject string, at time.Time) (Delivery, error) {
	if _, err := s.get(ctx, owner, endpoint); err != nil {
		return Delivery{}, err
	}
	return s.emit(ctx, owner, endpoint, verificationEvent, subject, at, verification{endpoint, rand.Text()})
}

// markVerified records that an endpoint has proved that it wants events. What was proved
// at another URL, which the endpoint had before, is no proof.
func (s *Store) markVerified(ctx context.Context, owner, endpoint, url string) error {
	return s.update(ctx, owner, endpoint, func(e *stored) {
		if e.URL == url {
			e.State = Verified
		}
	})
}

// proves reports whether the answer to a verificationEvent repeats its challenge.
func proves(payload json.RawMessage, answer []byte) bool {
	var sent struct {
		Data verification `json:"data"`
	}
	if json.Unmarshal(payload, &sent) != nil || sent.Data.Challenge == "" {
		return false
	}
	if string(bytes.TrimSpace(answer)) == sent.Data.Challenge {
		return true
	}
	var got struct {
		Challenge string `json:"challenge"`
	}
	err := json.Unmarshal(answer, &got)
	return err == nil && strings.TrimSpace(got.Challenge) == sent.Data.Challenge
}

// held returns how long an event waits before it is looked at again, because its
// endpoint has not proved yet that it wants events; 0 when it waits no longer.
func held(d Delivery, now time.Time) time.Duration {
	age := now.Sub(d.Created)
	if age > heldFor {
		return 0
	}
	return min(max(age, time.Second), 5*time.Minute)
}
