package webhooktest

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// Verify records that an endpoint has proved that it wants events. The challenge that
// waits for it is not sent.
func Verify(t testing.TB, client redis.UniversalClient, owner, endpoint string) {
	t.Helper()
	key := "webhook:{" + owner + "}"
	record, err := client.HGet(t.Context(), key, endpoint).Result()
	if err != nil {
		t.Fatal(err)
	}
	proved := strings.Replace(record, `"state":"pending"`, `"state":"verified"`, 1)
	if err := client.HSet(t.Context(), key, endpoint, proved).Err(); err != nil {
		t.Fatal(err)
	}
}

// Answer answers the challenge of a new endpoint, and reports whether the request was
// one. It returns the body of the request.
func Answer(w http.ResponseWriter, r *http.Request) (body []byte, challenged bool) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, false
	}
	var message struct {
		Type string `json:"type"`
		Data struct {
			Challenge string `json:"challenge"`
		} `json:"data"`
	}
	if json.Unmarshal(body, &message) != nil || message.Type != "webhook.verification" {
		return body, false
	}
	_, _ = io.WriteString(w, message.Data.Challenge)
	return body, true
}
