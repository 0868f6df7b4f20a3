package webhook

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Errors of Ring.Open.
var (
	// ErrNoKey means that the ring lacks the key that sealed a secret.
	ErrNoKey = errors.New("webhook: SECRETS_KEY lacks the key of a sealed secret")
	// ErrDamaged means that a sealed secret was changed, or belongs to another record.
	ErrDamaged = errors.New("webhook: a sealed secret was changed or belongs elsewhere")
)

const (
	sealedScheme = "sealed"
	// ringKeySize is that of AES-256.
	ringKeySize = 32
	// ringKeyIDBytes is how much of a digest names a key.
	ringKeyIDBytes = 4
)

// Ring are the keys that encrypt the secrets of endpoints, so that Redis and its backups show
// none. The first key seals and all of them open, so that a key can be replaced. A nil Ring
// and one without keys leave secrets in the clear.
//
// A sealed secret is sealed:<id of the key>:<base64>, AES-256-GCM with a random nonce. It is
// bound to its endpoint: copied to another record it does not open.
type Ring struct{ keys []ringKey }

type ringKey struct {
	id   string
	aead cipher.AEAD
}

// ParseRing returns the ring of a setting: keys of 32 bytes in base64, separated by commas.
// No error shows a part of a key.
func ParseRing(setting string) (*Ring, error) {
	ring := &Ring{}
	if strings.TrimSpace(setting) == "" {
		return ring, nil
	}
	for i, text := range strings.Split(setting, ",") {
		raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
		if err != nil || len(raw) != ringKeySize {
			return nil, fmt.Errorf("key number %d is not %d bytes in base64; \"openssl rand -base64 %d\" makes one",
				i+1, ringKeySize, ringKeySize)
		}
		block, err := aes.NewCipher(raw)
		if err != nil {
			return nil, err
		}
		aead, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(append([]byte("ushuru key id "), raw...))
		id := hex.EncodeToString(sum[:ringKeyIDBytes])
		if ring.find(id) != nil {
			return nil, fmt.Errorf("key number %d is there twice", i+1)
		}
		ring.keys = append(ring.keys, ringKey{id, aead})
	}
	return ring, nil
}

// Seals reports whether the ring has a key.
func (r *Ring) Seals() bool { return r != nil && len(r.keys) > 0 }

func (r *Ring) find(id string) *ringKey {
	if r == nil {
		return nil
	}
	for i := range r.keys {
		if r.keys[i].id == id {
			return &r.keys[i]
		}
	}
	return nil
}

// Seal seals a secret for what it belongs to. Without a key it returns the secret.
func (r *Ring) Seal(secret, belongs string) string {
	if !r.Seals() {
		return secret
	}
	first := r.keys[0]
	sealed := first.aead.Seal(nil, nil, []byte(secret), []byte(belongs)) //nolint:gosec // the nonce is random
	return sealedScheme + ":" + first.id + ":" + base64.StdEncoding.EncodeToString(sealed)
}

// Open returns the secret of what Seal has returned. One that is in the clear is
// returned as it is.
func (r *Ring) Open(sealed, belongs string) (string, error) {
	text, isSealed := strings.CutPrefix(sealed, sealedScheme+":")
	if !isSealed {
		return sealed, nil
	}
	id, text, _ := strings.Cut(text, ":")
	own := r.find(id)
	if own == nil {
		return "", ErrNoKey
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return "", ErrDamaged
	}
	secret, err := own.aead.Open(nil, nil, raw, []byte(belongs))
	if err != nil {
		return "", ErrDamaged
	}
	return string(secret), nil
}

// Reseal returns a secret sealed with the first key, and whether that changes it: one in
// the clear, or sealed with another key of the ring. What the ring cannot open stays as
// it is, with the error of Open.
func (r *Ring) Reseal(sealed, belongs string) (string, bool, error) {
	if !r.Seals() || strings.HasPrefix(sealed, sealedScheme+":"+r.keys[0].id+":") {
		return sealed, false, nil
	}
	secret, err := r.Open(sealed, belongs)
	if err != nil {
		return sealed, false, err
	}
	return r.Seal(secret, belongs), true, nil
}

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
