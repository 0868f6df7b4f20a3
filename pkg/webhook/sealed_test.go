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
