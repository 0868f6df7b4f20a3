package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Secrets are stored sealed (Ring), each for its endpoint. What is in the clear, or
// sealed with an older key, is sealed with the first key when the endpoint is next
// written.

// belongs is what the secrets of an endpoint are sealed for.
func belongs(owner, endpoint string) string { return "webhook " + owner + " " + endpoint }

// SealSecret returns the stored form of a secret of an endpoint.
func (s *Store) SealSecret(owner, endpoint, value string) string {
	return s.ring.Seal(value, belongs(owner, endpoint))
}

// OpenSecret returns the secret of its stored form.
func (s *Store) OpenSecret(owner, endpoint, sealed string) (string, error) {
	value, err := s.ring.Open(sealed, belongs(owner, endpoint))
	if err != nil {
		return "", fmt.Errorf("webhook: endpoint %s: %w", endpoint, err)
	}
	return value, nil
}

// record returns what is stored of an endpoint, whose secrets it seals. One that the ring
// cannot open stays as it is.
func (s *Store) record(owner string, e *stored) ([]byte, error) {
	sealed := *e
	sealed.Secrets = make([]secret, 0, len(e.Secrets))
	for _, old := range e.Secrets {
		old.Value, _, _ = s.ring.Reseal(old.Value, belongs(owner, e.ID))
		sealed.Secrets = append(sealed.Secrets, old)
	}
	return json.Marshal(sealed)
}

// validSecrets returns the secrets that sign for an endpoint at a time.
func (s *Store) validSecrets(owner string, e stored, now time.Time) (values []string, err error) {
	for _, own := range e.Secrets {
		if !own.Until.IsZero() && !now.Before(own.Until) {
			continue
		}
		value, err := s.OpenSecret(owner, e.ID, own.Value)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return values, nil
}

// Resealed counts the endpoints that Reseal has looked at.
type Resealed struct {
	Endpoints int // all
	Changed   int // that were in the clear, or sealed with another key
	Locked    int // that no key of the ring opens
}

// Reseal seals the secrets of all endpoints of the owners with the first key of the
// ring. It may run twice, and while others read and write.
func (s *Store) Reseal(ctx context.Context, owners []string) (n Resealed, err error) {
	for _, owner := range owners {
		all, err := s.all(ctx, owner)
		if err != nil {
			return n, err
		}
		for _, e := range all {
			changed, locked := s.sealState(owner, e)
			n.Endpoints++
			if changed {
				n.Changed++
				err = s.update(ctx, owner, e.ID, func(*stored) {})
			}
			if err != nil && !errors.Is(err, ErrNotFound) { // deleted since
				return n, err
			}
			if locked {
				n.Locked++
			}
		}
	}
	return n, nil
}

// sealState says whether writing an endpoint would change how its secrets are sealed,
// and whether the ring opens not all of them.
func (s *Store) sealState(owner string, e stored) (changes, locked bool) {
	for _, own := range e.Secrets {
		_, changed, err := s.ring.Reseal(own.Value, belongs(owner, e.ID))
		changes, locked = changes || changed, locked || err != nil
	}
	return changes, locked
}
