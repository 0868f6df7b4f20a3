package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"ushuru/pkg/webhook"
)

// hooked makes a webhook of the tests' key and returns its id.
func hooked(t *testing.T, a *app) string {
	t.Helper()
	hooks := webhook.NewStore(a.conn.Client(), nil)
	made, _, err := hooks.Add(t.Context(), a.keyID, webhook.NewID(), "https://receiver.example/", []string{webhook.JobCompleted})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = hooks.Remove(t.Context(), a.keyID, made.ID) })
	return made.ID
}

func hookScenario(name, method, url string, status int, has ...string) scenario {
	return scenario{name: name, method: method, url: url, before: hooked, status: status, has: has}
}

const oneHook = "/v1/webhooks/{id}"

var webhookScenarios = []scenario{
	hookScenario("the list", http.MethodGet, "/v1/webhooks", 200, `"id":"{id}"`),
	hookScenario("a test", http.MethodPost, oneHook+"/test", 202, `"event":"webhook.test"`, `"state":"pending"`),
	{name: "another method", method: http.MethodPut, url: "/v1/webhooks", body: "{}", status: 405},
}

func TestASecretIsShownOnce(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	body := `{"url":"https://receiver.example/hook","events":["batch.completed","job.completed","job.completed"]}`
	type secretOnce struct {
		ID     string `json:"id"`
		Secret string `json:"secret"`
	}
	create := func(key string) (made secretOnce) {
		r := a.request(t, http.MethodPost, "/v1/webhooks", body)
		if key != "" {
			r.Header.Set("Idempotency-Key", key)
		}
		got := a.send(t, r)
		if err := json.Unmarshal([]byte(got.body), &made); err != nil || got.status != 201 || got.header.Get("Location") != "/v1/webhooks/"+made.ID {
			t.Fatal(err, got)
		}
		return made
	}
	made := create("")
	if !strings.HasPrefix(made.Secret, "whsec_") {
		t.Errorf("%+v", made)
	}
	for _, path := range []string{"", "/" + made.ID} {
		s := scenario{url: "/v1/webhooks" + path, status: 200, has: []string{`"events":["batch.completed","job.completed"]`}}
		s.hasNot = []string{made.Secret, "secret"}
		s.run(t, a)
	}
	if first, again := create("once"), create("once"); first != again || first == made {
		t.Errorf("%+v, then %+v", first, again)
	}
}
