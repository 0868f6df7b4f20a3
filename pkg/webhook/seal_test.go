package webhook_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/webhook"
	"ushuru/pkg/webhook/webhooktest"
)

const secret = "whsec_c2VjcmV0"

// keyOf returns the setting of a key of equal bytes.
func keyOf(b byte) string { return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{b}, 32)) }

func ring(t *testing.T, keys ...string) *webhook.Ring {
	t.Helper()
	r, err := webhook.ParseRing(strings.Join(keys, ", "))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSealedSecretOpensOnlyWhereItBelongs(t *testing.T) {
	r := ring(t, keyOf(1))
	sealed := r.Seal(secret, "a")
	if strings.Contains(sealed, "whsec_") || strings.Contains(sealed, "c2VjcmV0") || sealed == r.Seal(secret, "a") {
		t.Errorf("sealed as %s", sealed)
	}
	if got, err := r.Open(sealed, "a"); err != nil || got != secret {
		t.Errorf("%q, %v", got, err)
	}
	for name, test := range map[string]struct {
		sealed, belongs string
		ring            *webhook.Ring
		want            error
	}{
		"elsewhere":   {sealed, "b", r, webhook.ErrDamaged},
		"another key": {sealed, "a", ring(t, keyOf(2)), webhook.ErrNoKey},
		"no key":      {sealed, "a", nil, webhook.ErrNoKey},
		"changed":     {sealed[:len(sealed)-8] + "AAAAAAA=", "a", r, webhook.ErrDamaged},
		"cut":         {sealed[:20], "a", r, webhook.ErrDamaged},
		"no base64":   {sealed[:16] + ":*", "a", r, webhook.ErrDamaged},
	} {
		if got, err := test.ring.Open(test.sealed, test.belongs); !errors.Is(err, test.want) || got != "" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// A key is replaced in three steps, and no secret is unreadable in between.
func TestKeysAreReplaced(t *testing.T) {
	older := ring(t, keyOf(1)).Seal(secret, "a")
	both := ring(t, keyOf(2), keyOf(1))
	if got, err := both.Open(older, "a"); err != nil || got != secret {
		t.Fatal(got, err)
	}
	sealed, changed, err := both.Reseal(older, "a")
	if err != nil || !changed {
		t.Fatal(changed, err)
	}
	if got, err := ring(t, keyOf(2)).Open(sealed, "a"); err != nil || got != secret {
		t.Error(got, err)
	}
	if again, changed, err := both.Reseal(sealed, "a"); changed || err != nil || again != sealed {
		t.Error("sealed twice", err)
	}
	if kept, changed, err := ring(t, keyOf(3)).Reseal(sealed, "a"); changed || !errors.Is(err, webhook.ErrNoKey) || kept != sealed {
		t.Error("changed what it cannot open", err)
	}
}

func TestSecretsInTheClearAreReadAndSealed(t *testing.T) {
	for _, r := range []*webhook.Ring{nil, ring(t)} {
		if got, err := r.Open(r.Seal(secret, "a"), "a"); err != nil || got != secret || r.Seal(secret, "a") != secret || r.Seals() {
			t.Error(got, err)
		}
	}
	sealed, changed, err := ring(t, keyOf(1)).Reseal(secret, "a")
	if err != nil || !changed || !strings.HasPrefix(sealed, "sealed:") {
		t.Error(sealed, err)
	}
}

func TestKeysAreChecked(t *testing.T) {
	for _, setting := range []string{
		"short", "c2hvcnQ=", keyOf(1) + ",", keyOf(1) + "," + keyOf(1), strings.Repeat("s3cret", 8),
	} {
		if _, err := webhook.ParseRing(setting); err == nil || strings.Contains(err.Error(), setting) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", setting, err)
		}
	}
}

// ringOf returns a ring with keys of equal bytes.
func ringOf(t *testing.T, keys ...byte) *webhook.Ring {
	t.Helper()
	settings := make([]string, 0, len(keys))
	for _, key := range keys {
		settings = append(settings, base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{key}, 32)))
	}
	ring, err := webhook.ParseRing(strings.Join(settings, ","))
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

// inRedis returns everything that Redis holds of the endpoints of the owner.
func inRedis(t *testing.T, client redis.UniversalClient) string {
	t.Helper()
	return strings.Join(client.HVals(t.Context(), "webhook:{"+owner+"}").Val(), "\n")
}

func TestSecretsAreSealedAtRest(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		to := receive(t, http.StatusOK)
		s := newStage(t, conn.Client(), to.URL) // an earlier version, which sealed nothing
		if !strings.Contains(inRedis(t, s.client), s.secret) {
			t.Fatal("the test finds no secret in the clear")
		}
		sealing := webhook.NewStore(s.client, ringOf(t, 1))
		s.sender.Store = sealing
		s.emit(t, webhook.BatchCompleted, "batch1") // what is in the clear signs
		s.send(t)
		if err := sealing.Enable(t.Context(), owner, s.endpoint.ID); err != nil { // and is sealed when it is written
			t.Fatal(err)
		}
		fresh := webhook.NewSecret()
		if _, err := sealing.Rotate(t.Context(), owner, s.endpoint.ID, fresh); err != nil {
			t.Fatal(err)
		}
		_, own, err := sealing.Add(t.Context(), owner, webhook.NewID(), to.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		if text := inRedis(t, s.client); strings.Contains(text, "whsec_") || strings.Count(text, "sealed:") != 3 ||
			!strings.HasPrefix(own, "whsec_") {
			t.Errorf("%s", text)
		}
		s.emit(t, webhook.BatchCompleted, "batch2")
		s.send(t)
		events := slices.DeleteFunc(to.all(), func(r received) bool { return strings.Contains(r.body, "webhook.verification") })
		for i, request := range events {
			for _, secret := range []string{s.secret, fresh}[:i+1] {
				if err := webhooktest.CheckSignature(secret, request.id, request.at, request.signature, []byte(request.body), time.Now()); err != nil {
					t.Errorf("request %d: %v", i, err)
				}
			}
		}
		if len(events) != 2 {
			t.Errorf("%d events", len(events))
		}
	})
}

// Without the key nothing is sent unsigned and nothing is lost: the delivery waits for it.
func TestDeliveryWaitsForTheKeyOfItsSecret(t *testing.T) {
	t.Parallel()
	to := receive(t, http.StatusOK)
	s := newStage(t, embedded(t), to.URL)
	sealing := webhook.NewStore(s.client, ringOf(t, 1))
	if _, err := sealing.Reseal(t.Context(), []string{owner}); err != nil {
		t.Fatal(err)
	}
	s.emit(t, webhook.BatchCompleted, "batch1")
	for _, ring := range []*webhook.Ring{nil, ringOf(t, 2)} {
		s.sender.Store = webhook.NewStore(s.client, ring)
		err := s.sender.ProcessTask(t.Context(), s.task(t))
		if err == nil || webhook.IsFailure(err) || webhook.RetryDelay(0, err, nil) < 30*time.Second || len(to.all()) != 0 {
			t.Fatalf("%v, %d requests", err, len(to.all()))
		}
		if n, err := s.sender.Store.Reseal(t.Context(), []string{owner}); err != nil || n.Changed != 0 || ring.Seals() != (n.Locked == 1) {
			t.Errorf("%+v, %v", n, err)
		}
	}
	s.sender.Store = webhook.NewStore(s.client, ringOf(t, 2, 1))
	s.send(t)
	if log := s.deliveries(t); len(to.all()) != 1 || log[0].State != webhook.Delivered || log[0].Tries != 1 {
		t.Errorf("%d requests; %+v", len(to.all()), log)
	}
}

// Who can write to Redis cannot have his endpoint signed with another's secret.
func TestSecretOfAnotherEndpointDoesNotOpen(t *testing.T) {
	t.Parallel()
	client := embedded(t)
	store := webhook.NewStore(client, ringOf(t, 1))
	mine, theirs := webhook.NewID(), webhook.NewID()
	sealed := store.SealSecret("them", theirs, webhook.NewSecret())
	for _, stolen := range []string{mine, theirs} {
		if _, err := store.OpenSecret(owner, stolen, sealed); !errors.Is(err, webhook.ErrDamaged) {
			t.Errorf("opened: %v", err)
		}
	}
	if _, err := store.OpenSecret("them", theirs, sealed); err != nil {
		t.Error(err)
	}
}
