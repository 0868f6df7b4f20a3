package cli

import (
	"bytes"
	"strings"
	"testing"

	"ushuru/pkg/keys"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/webhook"
)

// Keys of 32 bytes.
const (
	oldSecretsKey = "b2xkb2xkb2xkb2xkb2xkb2xkb2xkb2xkb2xkb2xkb2w="
	newSecretsKey = "bmV3bmV3bmV3bmV3bmV3bmV3bmV3bmV3bmV3bmV3bmU="
)

// command runs a command line and returns its exit status and what it prints.
func command(t *testing.T, args ...string) (int, string) {
	t.Helper()
	var out bytes.Buffer
	status := Main(t.Context(), args, Streams{Out: &out, Err: &out})
	return status, out.String()
}

func TestSecretFlagsAreWarnedAbout(t *testing.T) {
	const secret = "hunter2hunter2"
	for _, test := range []struct {
		args []string
		want string // a variable; "" is no warning
	}{
		{[]string{"api", "--redis-url", "redis://:" + secret + "@127.0.0.1:1"}, "REDIS_URL"},
		{[]string{"keys", "list", "--redis-url=redis://u:" + secret + "@127.0.0.1:1"}, "REDIS_URL"},
		{[]string{"api", "--redis-url", "redis://127.0.0.1:1", "--operator-password", secret}, "OPERATOR_PASSWORD"},
		{[]string{"api", "--redis-url", "redis://127.0.0.1:1", "--secrets-key", oldSecretsKey}, "SECRETS_KEY"},
		{[]string{"worker", "--redis-url", "redis://127.0.0.1:1", "--authority-proxy", "http://u:" + secret + "@proxy:1"}, "AUTHORITY_PROXY"},
		{[]string{"worker", "--redis-url", "redis://127.0.0.1:1", "--authority-proxy", "http://proxy:1"}, ""},
		{[]string{"worker", "--redis-url", "redis://127.0.0.1:1", "--ai-model", "m", "--ai-api-key", secret}, "AI_API_KEY"},
		{[]string{"estimate", "--timeout", "50ms", "--url", "http://127.0.0.1:1", "--key", secret, "http://127.0.0.1:1/"}, "USHURU_KEY"},
	} {
		status, out := command(t, test.args...)
		if warned := strings.Contains(out, "stands in the process list"); status == 0 || warned != (test.want != "") ||
			warned && !strings.Contains(out, "set "+test.want+" instead") || strings.Contains(out, secret) {
			t.Errorf("%v: status %d, %s", test.args, status, out)
		}
	}
	t.Setenv("REDIS_URL", "redis://:"+secret+"@127.0.0.1:1")
	t.Setenv("OPERATOR_PASSWORD", secret)
	if _, out := command(t, "api"); strings.Contains(out, "process list") || strings.Contains(out, secret) {
		t.Errorf("of variables: %s", out)
	}
}

func TestProductionNeedsASecretsKey(t *testing.T) {
	t.Setenv("USHURU_ENV", "production")
	t.Setenv("REDIS_URL", "redis://127.0.0.1:1") // nothing listens there
	for _, test := range []struct {
		args    []string
		refused bool
	}{
		{[]string{"api"}, true},
		{[]string{"serve"}, true},
		{[]string{"worker"}, true},
		{[]string{"worker", "--roles", "any,ai"}, true},
		{[]string{"worker", "--roles", "authority"}, false}, // it sends no events
		{[]string{"worker", "--roles", "ai"}, false},
	} {
		want := 1 // nothing listens at the address of Redis
		if test.refused {
			want = 2
		}
		if status, out := command(t, test.args...); status != want || strings.Contains(out, "set SECRETS_KEY") != test.refused {
			t.Errorf("%v: status %d, want %d, %s", test.args, status, want, out)
		}
	}
	for _, key := range []string{"short", oldSecretsKey + "," + oldSecretsKey} {
		t.Setenv("SECRETS_KEY", key)
		if status, out := command(t, "api"); status != 2 || !strings.Contains(out, "SECRETS_KEY") || strings.Contains(out, key) {
			t.Errorf("status %d, %s", status, out)
		}
	}
}

func TestProductionRefusesAnOpenRedis(t *testing.T) {
	t.Setenv("USHURU_ENV", "production")
	t.Setenv("SECRETS_KEY", oldSecretsKey)
	t.Setenv("REDIS_URL", "redis://redis.invalid:6379")
	for _, args := range [][]string{{"api"}, {"worker"}, {"keys", "list"}} {
		status, out := command(t, args...)
		if status != 1 || !strings.Contains(out, "password") || !strings.Contains(out, "rediss://") {
			t.Errorf("%v: status %d, %s", args, status, out)
		}
	}
	t.Setenv("REDIS_URL", "redis://ushuru:password@redis.invalid:6379") // it is then looked for, and there is none
	if status, out := command(t, "keys", "list"); status != 1 || strings.Contains(out, "rediss://") {
		t.Errorf("status %d, %s", status, out)
	}
}

// The rotation of the key of the secrets, as the documents describe it.
func TestSecretsAreSealedAgainWithANewKey(t *testing.T) {
	server := redistest.Start(t)
	t.Setenv("REDIS_URL", server.URL)
	client := redistest.Open(t, server.URL).Client()
	_, owner, err := keys.NewStore(client).Create(t.Context(), "rotation")
	must(t, err)
	id := webhook.NewID()
	_, secret, err := webhook.NewStore(client, nil).Add(t.Context(), owner.ID, id, "https://hooks.example/", nil)
	must(t, err)
	hasSecret := func() bool {
		return strings.Contains(client.HGet(t.Context(), "webhook:{"+owner.ID+"}", id).Val(), secret)
	}
	if !hasSecret() {
		t.Fatal("the test finds no secret in the clear")
	}
	reseal := func(key, want string) {
		t.Helper()
		t.Setenv("SECRETS_KEY", key)
		if status, out := command(t, "webhooks", "reseal"); status != 0 || !strings.Contains(out, want) || hasSecret() {
			t.Fatalf("status %d, %s", status, out)
		}
	}
	reseal(oldSecretsKey, "1 webhooks, 1 sealed") // in the clear until then
	reseal(newSecretsKey+","+oldSecretsKey, "1 webhooks, 1 sealed")
	reseal(newSecretsKey, "1 webhooks, 0 sealed") // the old key is not needed any more

	t.Setenv("SECRETS_KEY", oldSecretsKey) // which opens nothing now
	if status, out := command(t, "webhooks", "reseal"); status != 1 || !strings.Contains(out, "no key of SECRETS_KEY opens") {
		t.Errorf("status %d, %s", status, out)
	}
}

// Without PAGE_URL a request's Host would stand in what visitors share. config check says the same.
func TestProductionNeedsTheAddressOfItsPages(t *testing.T) {
	t.Setenv("USHURU_ENV", "production")
	t.Setenv("REDIS_URL", "redis://127.0.0.1:1") // nothing listens there
	t.Setenv("SECRETS_KEY", oldSecretsKey)
	for _, test := range []struct {
		args    []string
		refused bool
	}{
		{[]string{"api", "--page"}, true},
		{[]string{"serve", "--page"}, true},
		{[]string{"api"}, false},
		{[]string{"api", "--page", "--page-url", "https://ushuru.example"}, false},
	} {
		if _, out := command(t, test.args...); strings.Contains(out, "set PAGE_URL") != test.refused {
			t.Errorf("%v: got %s, want the refusal: %t", test.args, out, test.refused)
		}
	}
	t.Setenv("PAGE", "true")
	if status, out := command(t, "config", "check", "api", "--offline"); status != 2 || !strings.Contains(out, "set PAGE_URL") {
		t.Errorf("config check: got %d, %s, want 2 and the same sentence", status, out)
	}
}
