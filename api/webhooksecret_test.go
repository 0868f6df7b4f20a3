package api_test

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"ushuru/api"
	"ushuru/pkg/webhook"
)

// A secret that the API creates is in Redis only sealed, also where a repeated request
// finds it, and is the same each time.
func TestNoSecretOfAWebhookIsInTheClear(t *testing.T) {
	t.Parallel()
	ring, err := webhook.ParseRing(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	conn := embedded(t)
	a := newApp(t, conn, func(o *api.Options) { o.Webhooks = webhook.NewStore(conn.Client(), ring) })
	create := a.request(t, http.MethodPost, "/v1/webhooks", `{"url":"https://receiver.example/","events":["job.completed"]}`)
	made := a.send(t, create)
	id, _, _ := strings.Cut(strings.TrimPrefix(made.header.Get("Location"), "/v1/webhooks/"), "?")
	if made.status != http.StatusCreated || !strings.Contains(made.body, `"secret":"whsec_`) {
		t.Fatalf("%d %s", made.status, made.body)
	}
	first := a.sendNamed(t, "once", "/v1/webhooks/"+id+"/rotate")
	if again := a.sendNamed(t, "once", "/v1/webhooks/"+id+"/rotate"); first.status != http.StatusOK || again.body != first.body {
		t.Errorf("%d %s, then %s", first.status, first.body, again.body)
	}
	if text := everything(t, conn.Client()); strings.Contains(text, "whsec_") || strings.Count(text, "sealed:") != 3 {
		t.Errorf("in Redis: %s", text)
	}
}

// everything returns all that Redis holds in strings and hashes.
func everything(t *testing.T, client redis.UniversalClient) string {
	t.Helper()
	var all strings.Builder
	for _, key := range client.Keys(t.Context(), "*").Val() {
		switch client.Type(t.Context(), key).Val() {
		case "string":
			all.WriteString(client.Get(t.Context(), key).Val() + "\n")
		case "hash":
			all.WriteString(strings.Join(client.HVals(t.Context(), key).Val(), "\n") + "\n")
		}
	}
	return all.String()
}
