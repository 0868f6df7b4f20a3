package api_test

import (
	"errors"
	"testing"

	"ushuru/pkg/keys"
)

// unauthorized begins with what the contract says.
const unauthorized = `{"error":"Invalid or missing API key","code":"api_key_invalid","retryable":false}`

var bearerChallenge = map[string]string{"WWW-Authenticate": `Bearer realm="Ushuru"`, "Cache-Control": "no-store"}

// unknownKey is well formed and was never issued.
const unknownKey = "ush_000000000000000000000000000000002wjyrI"

func refused(name, url string, headers map[string]string) scenario {
	return scenario{
		name: name, url: url, headers: headers, keyless: true,
		status: 401, exact: unauthorized, want: bearerChallenge,
	}
}

func admitted(name string, headers map[string]string) scenario {
	return scenario{name: name, url: "/v1/tra-status", headers: headers, keyless: true, status: 200}
}

var authScenarios = []scenario{
	refused("no key", "/v1/tra-status", nil),
	refused("no key on an unknown path", "/v1/nowhere", nil),
	refused("no key on the prefix", "/v1/", nil),
	refused("no key on a path to be cleaned", "/v1/../healthz", nil),
	refused("malformed key in x-api-key", "/v1/tra-status", map[string]string{"x-api-key": "ush_123"}),
	refused("malformed key as bearer", "/v1/tra-status", map[string]string{"Authorization": "Bearer ush_123"}),
	refused("empty bearer", "/v1/tra-status", map[string]string{"Authorization": "Bearer"}),
	refused("unknown key in x-api-key", "/v1/tra-status", map[string]string{"x-api-key": unknownKey}),
	refused("unknown key as bearer", "/v1/tra-status", map[string]string{"Authorization": "Bearer " + unknownKey}),
	refused("key in another scheme", "/v1/tra-status", map[string]string{"Authorization": "Basic {key}"}),
	refused("key without scheme", "/v1/tra-status", map[string]string{"Authorization": "{key}"}),
	refused("two keys, the bearer good", "/v1/tra-status", map[string]string{
		"Authorization": "Bearer {key}", "x-api-key": unknownKey,
	}),
	refused("two keys, x-api-key good", "/v1/tra-status", map[string]string{
		"Authorization": "Bearer " + unknownKey, "x-api-key": "{key}",
	}),
	refused("key in the query", "/v1/tra-status?api_key={key}", nil),
	admitted("x-api-key", map[string]string{"x-api-key": "{key}"}),
	admitted("bearer", map[string]string{"Authorization": "Bearer {key}"}),
	admitted("bearer in any case", map[string]string{"Authorization": "bEARER  {key}"}),
	admitted("x-api-key beside another scheme", map[string]string{"Authorization": "Basic dXNlcjpwYXNz", "x-api-key": "{key}"}),
	admitted("x-api-key beside an empty bearer", map[string]string{"Authorization": "Bearer ", "x-api-key": "{key}"}),
	admitted("x-api-key beside a lonely word", map[string]string{"Authorization": "Bearer", "x-api-key": "{key}"}),
	admitted("bearer beside an empty x-api-key", map[string]string{"Authorization": "Bearer {key}", "x-api-key": ""}),
	admitted("the same key twice", map[string]string{"Authorization": "Bearer {key}", "x-api-key": "{key}"}),
	{name: "unknown path with a key", url: "/v1/nowhere", status: 404, has: []string{`"code":"not_found"`}},
	{
		name: "refused before the body is read", method: "POST", url: "/v1/estimate", keyless: true, body: "{",
		status: 401, exact: unauthorized,
	},
}

func TestRevokedKeyIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	admitted("before", nil).with("x-api-key", a.key).run(t, a)
	if err := a.keys.Revoke(t.Context(), a.keyID); err != nil {
		t.Fatal(err)
	}
	refused("in x-api-key", "/v1/tra-status", map[string]string{"x-api-key": a.key}).run(t, a)
	refused("as bearer", "/v1/tra-status", map[string]string{"Authorization": "Bearer " + a.key}).run(t, a)
}

// TestUnknownKeyIsWellFormed keeps the scenarios above honest: the key must
// be refused by the look-up, not by its shape.
func TestUnknownKeyIsWellFormed(t *testing.T) {
	t.Parallel()
	conn := embedded(t)
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := keys.NewStore(conn.Client()).Verify(t.Context(), unknownKey)
	if err == nil || errors.Is(err, keys.ErrInvalid) {
		t.Errorf("without Redis: %v; the key is refused for its shape", err)
	}
}

func (s scenario) with(header, value string) scenario {
	s.headers = map[string]string{header: value}
	return s
}
