package api_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"ushuru/pkg/webhook"
)

// hooked makes a webhook of a key and returns its id.
func hooked(owner string) func(*testing.T, *app) string {
	return func(t *testing.T, a *app) string {
		t.Helper()
		owner := owner
		if owner == "" {
			owner = a.keyID
		}
		hooks := webhook.NewStore(a.conn.Client(), nil)
		made, _, err := hooks.Add(t.Context(), owner, webhook.NewID(), "https://receiver.example/", []string{webhook.JobCompleted})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = hooks.Remove(t.Context(), owner, made.ID) })
		return made.ID
	}
}

func hookScenario(name, method, url string, status int, has ...string) scenario {
	return scenario{name: name, method: method, url: url, before: hooked(""), status: status, has: has}
}

func hookRequest(name, body string, status int, has ...string) scenario {
	return scenario{name: name, url: "/v1/webhooks", body: body, status: status, has: has}
}

const oneHook = "/v1/webhooks/{id}"

var webhookScenarios = slices.Concat([]scenario{
	hookRequest("http", `{"url":"http://receiver.example/","events":["job.completed"]}`, 400, `"code":"url_insecure"`),
	hookRequest("no events", `{"url":"https://receiver.example/"}`, 400, `"code":"events_invalid"`),
	hookScenario("the list", http.MethodGet, "/v1/webhooks", 200, `"id":"{id}"`),
	hookScenario("one", http.MethodGet, oneHook, 200, `{"id":"{id}","url":"https://receiver.example/","events":["job.completed"],"created":"20`, `"state":"pending"`),
	hookScenario("a new secret", http.MethodPost, oneHook+"/rotate", 200, `"id":"{id}"`, `"secret":"whsec_`),
	hookScenario("enabled", http.MethodPost, oneHook+"/enable", 200, `"id":"{id}"`),
	hookScenario("a test", http.MethodPost, oneHook+"/test", 202, `"event":"webhook.test"`, `"state":"pending"`),
	hookScenario("the log", http.MethodGet, oneHook+"/deliveries", 200, `"event":"webhook.verification"`),
	hookScenario("an unknown delivery", http.MethodPost, oneHook+"/deliveries/msg0/redeliver", 404, `"code":"webhook_not_found"`),
	hookScenario("the end", http.MethodDelete, oneHook, 204),
	{name: "without a key", url: "/v1/webhooks", keyless: true, status: 401, exact: unauthorized},
	{name: "another method", method: http.MethodPut, url: "/v1/webhooks", body: "{}", status: 405},
}, hooksOfAnother())

// hooksOfAnother asks for everything of a webhook that another key has.
func hooksOfAnother() (all []scenario) {
	for path, method := range map[string]string{
		"": http.MethodGet, "/rotate": http.MethodPost, "/enable": http.MethodPost, "/test": http.MethodPost,
		"/verify":     http.MethodPost,
		"/deliveries": http.MethodGet, "/deliveries/msg0/redeliver": http.MethodPost,
	} {
		s := hookScenario("another's"+path, method, oneHook+path, 404, `"code":"webhook_not_found"`)
		s.before = hooked("another")
		all = append(all, s)
	}
	gone := hookScenario("another's end", http.MethodDelete, oneHook, 404, `"code":"webhook_not_found"`)
	gone.before = hooked("another")
	return append(all, gone)
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

func TestTestEventIsSentOnceUnderOneKey(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	id := hooked("")(t, a)
	var bodies []string
	for range 2 {
		r := a.request(t, http.MethodPost, "/v1/webhooks/"+id+"/test", "")
		r.Header.Set("Idempotency-Key", "try")
		bodies = append(bodies, a.send(t, r).body)
	}
	a.send(t, a.request(t, http.MethodPost, "/v1/webhooks/"+id+"/test", ""))
	scenario{
		name: "asked again", method: http.MethodPost, url: "/v1/webhooks/" + id + "/verify",
		status: 202, has: []string{`"event":"webhook.verification"`, `"state":"pending"`},
	}.run(t, a)
	log := a.send(t, a.request(t, http.MethodGet, "/v1/webhooks/"+id+"/deliveries", ""))
	if bodies[0] != bodies[1] || strings.Count(log.body, `"event":"webhook.test"`) != 2 || strings.Contains(log.body, "owner") {
		t.Errorf("%s\n%s", bodies, log.body)
	}
}
