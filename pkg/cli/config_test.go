package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/golden"
	"ushuru/pkg/keys"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/webhook"
)

// runWith runs a command line and returns its status and what it prints.
func runWith(t *testing.T, args ...string) (status int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status = Main(t.Context(), args, Streams{In: strings.NewReader(""), Out: &stdout, Err: &stderr})
	return status, stdout.String(), stderr.String()
}

// Every number, duration and size that comes from the environment has a range, and what is
// outside is refused before anything starts.
func TestSettingsOutOfRangeAreRefused(t *testing.T) {
	checked := map[string]bool{}
	for _, command := range []string{"serve", "api", "worker"} {
		for _, flag := range flagsOf(t, command) {
			if !flag.Target.CanInt() || len(flag.Envs) == 0 {
				continue
			}
			name, bounds := flag.Envs[0], flag.Tag.Get(tagRange)
			if bounds == "" {
				t.Errorf("%s has no range", name)
				continue
			}
			if err := checkRange(flag, bounds); err != nil {
				t.Errorf("the default: %v", err)
			}
			checked[name] = true
			below, above := "-5", "9000000000000000000"
			if strings.HasSuffix(flag.Target.Type().String(), "Duration") {
				below, above = "-5s", "999999h"
			}
			for _, value := range []string{below, above} {
				t.Setenv(name, value)
				status, _, errs := runWith(t, "config", "check", command, "--offline")
				if status != console.ExitUsage || !strings.Contains(errs, name) && !strings.Contains(errs, flag.Name) {
					t.Errorf("%s=%s: status %d, %s", name, value, status, errs)
				}
			}
			t.Setenv(name, "")
		}
	}
	if !checked["AUTHORITY_RATE"] || len(checked) < 14 {
		t.Errorf("%d settings are checked", len(checked))
	}
}

func TestBadSettingsAreRefused(t *testing.T) {
	for name, value := range map[string]string{
		"AUTHORITY_URL": "ftp://tra", "AUTHORITY_CA_FILE": "no such file", "COST_TABLES": "no such file", "SECRETS_KEY": "short",
		"SHEET_HOSTS": "http://x/", "ROLES": "none", "DENY_NETS": "10.0.0.0/99", "USER_AGENT": "a\nb", "OPERATOR_PASSWORD": "short",
		"LISTEN_ADDR": "here", "TRUSTED_PROXIES": "all", "PAGE_URL": "x", "PORT": "99999",
		"ADMIN_ADDR": "127.0.0.1:70000", "KEY_BYTES": "192", "OTEL_EXPORTER_OTLP_ENDPOINT": "collector",
		"REDIS_URL": "http://127.0.0.1", "AUTHORITY_PROXY": "ftp://proxy", "AI_MODEL": "a,,b", "WAIT_MAX": "25", "KEY_RATE": "many",
		"USHURU_ENV": "test", "LOG_LEVEL": "loud", "PAGE": "perhaps", "SECRETS_KEY_FILE": "no such file", "CONCURRENCY": "0",
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			status, out, errs := runWith(t, "config", "check", "serve")
			if status != console.ExitUsage {
				t.Errorf("status %d: %s%s", status, out, errs)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // a start that is not refused ends then
			defer cancel()
			var refusal bytes.Buffer
			started := Main(ctx, []string{"serve"}, Streams{In: strings.NewReader(""), Out: io.Discard, Err: &refusal})
			if started != console.ExitUsage && name != "REDIS_URL" || started == 0 || !strings.Contains(refusal.String(), lastLine(errs)+"\n") {
				t.Errorf("the check says %q, and a start with status %d %q", lastLine(errs), started, &refusal)
			}
		})
	}
	if status, _, errs := runWith(t, "config", "check", "serve", "--offline"); status != 0 {
		t.Errorf("the defaults are refused: %s", errs)
	}
	for _, process := range []string{"api", "worker"} { // which have no Redis of their own
		status, _, errs := runWith(t, "config", "check", process, "--offline")
		if status != console.ExitUsage || !strings.Contains(errs, "set REDIS_URL") {
			t.Errorf("%s without REDIS_URL: status %d, %q, want %d and what to set", process, status, errs, console.ExitUsage)
		}
	}
}

// lastLine returns the last line of an output: the error, after what is logged.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

func TestSecretFromAFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(name, []byte("from the file 12\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OPERATOR_PASSWORD_FILE", name)
	var root commands
	parser, err := newParser(&root)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse([]string{"api"}); err != nil || root.API.OperatorPassword != "from the file 12" {
		t.Errorf("%q, %v", string(root.API.OperatorPassword), err)
	}
	status, out, errs := runWith(t, "config", "print", "api")
	if status != 0 || !strings.Contains(out, "file "+name) || strings.Contains(out+errs, "from the file") {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
	t.Setenv("OPERATOR_PASSWORD", "from the environment")
	if status, _, errs := runWith(t, "config", "check", "api", "--offline"); status != console.ExitUsage || !strings.Contains(errs, "both set") {
		t.Errorf("both are taken: %d %s", status, errs)
	}
	t.Setenv("OPERATOR_PASSWORD", "")
	for _, bad := range []string{name + ".no", filepath.Dir(name)} {
		t.Setenv("OPERATOR_PASSWORD_FILE", bad)
		if status, _, errs := runWith(t, "config", "check", "api", "--offline"); status != console.ExitUsage {
			t.Errorf("%s: status %d %s", bad, status, errs)
		}
	}
}

// secretName matches the names of what must be secret.
var secretName = regexp.MustCompile(`(^|_)(PASSWORD|SECRET|SECRETS|TOKEN|KEY|HEADERS|CREDENTIALS|PROXY)$|_KEY$|^REDIS_URL$`)

// Every setting that the table calls secret is printed nowhere, whether it is set in the
// environment or in a file, accepted or refused; of a setting that is a URL no password is.
// What is named like a secret is one.
func TestNoSecretOfTheTableIsPrinted(t *testing.T) {
	checked := 0
	for _, flag := range flagsOf(t, "serve") { // which has all settings
		if len(flag.Envs) == 0 {
			continue
		}
		name := flag.Envs[0]
		if secretName.MatchString(name) && !isSecret(flag) {
			t.Errorf("%s is no secret", name)
		}
		switch {
		case name == "PAGE_URL": // which is public
		case isURL(flag):
			isPrintedNowhere(t, name, "http://user:s3cret-s3cret@host.example:1/")
		case isSecret(flag):
			checked++
			isPrintedNowhere(t, name, "a://s3cret-s3cret")
			file := filepath.Join(t.TempDir(), "file")
			must(t, os.WriteFile(file, []byte("s3cret-s3cret"), 0o600))
			isPrintedNowhere(t, name+fileSuffix, file)
		}
	}
	if checked < 3 {
		t.Errorf("only %d secrets are checked", checked)
	}
}

// isPrintedNowhere sets a variable, and unsets it.
func isPrintedNowhere(t *testing.T, name, value string) {
	t.Helper()
	must(t, os.Setenv(name, value)) //nolint:usetesting // for this call only
	defer os.Unsetenv(name)
	for _, args := range [][]string{{"print"}, {"print", "--json"}, {"check", "--offline"}} {
		args = append([]string{"config", args[0], "serve"}, args[1:]...)
		if status, out, errs := runWith(t, args...); strings.Contains(out+errs, "s3cret") {
			t.Errorf("%s=%s: %v: status %d: %s%s", name, value, args, status, out, errs)
		}
	}
}

// flagsOf returns the settings of a command.
func flagsOf(t *testing.T, command string) []*kong.Flag {
	t.Helper()
	var root commands
	parser, err := newParser(&root)
	must(t, err)
	parsed, err := parser.Parse([]string{command})
	must(t, err)
	return parsed.Flags()
}

func TestConfigPrintHidesSecrets(t *testing.T) {
	t.Setenv("REDIS_URL", "redis://worker:s3cret@redis.example:6379")
	t.Setenv("AI_MODEL", "m")
	t.Setenv("AI_API_KEY", "sk-s3cret")
	t.Setenv("AUTHORITY_RATE", "-5")
	for _, format := range [][]string{nil, {"--json"}} {
		status, out, errs := runWith(t, append([]string{"config", "print", "worker"}, format...)...)
		if status != console.ExitUsage || strings.Contains(out+errs, "s3cret") || !strings.Contains(out, "redis.example") ||
			!strings.Contains(errs, "AUTHORITY_RATE must be between 0 and") {
			t.Errorf("status %d\n%s%s", status, out, errs)
		}
	}
}

func TestUnknownSettings(t *testing.T) {
	var root commands
	parser, err := newParser(&root)
	if err != nil {
		t.Fatal(err)
	}
	known := settingNames(parser.Model)
	for entry, want := range map[string]string{
		"USHURU_FOO=1":             "USHURU_FOO is not a setting",
		"AUTHORITY_RATES=5":        "did you mean AUTHORITY_RATE?",
		"AUTHORTIY_RATE=5":         "did you mean AUTHORITY_RATE?",
		"USHURU_AUTHORITY_RATE=5":  "did you mean AUTHORITY_RATE?",
		"REDIS_URI=x":              "did you mean REDIS_URL?",
		"AUTHORITY_RATE=5":         "",
		"OPERATOR_PASSWORD_FILE=x": "",
		"USHURU_TEST_REAL=1":       "",
		"USHURU_TEST=long":         "",
		"PATH=/bin":                "",
		"HOSTNAME=x":               "",
		"KUBERNETES_PORT=x":        "",
		"BASE_URL=x":               "",
		"REDIS_ULR=x":              "did you mean REDIS_URL?",
		"OPERATR_PASWORD=x":        "did you mean OPERATOR_PASSWORD?",
		"USHURU_PORT=8080":         "did you mean PORT?",
		// What Kubernetes sets in every container beside a service named ushuru-api.
		"USHURU_API_SERVICE_HOST=10.0.0.1":         "",
		"USHURU_API_SERVICE_PORT_HTTP=80":          "",
		"USHURU_API_PORT=tcp://10.0.0.1:80":        "",
		"USHURU_API_PORT_80_TCP_ADDR=10.0.0.1":     "",
		"USHURU_API_PORT_80_TCP=tcp://10.0.0.1:80": "",
	} {
		got := strings.Join(unknownSettings(known, []string{entry}), "; ")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", entry, got, want)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

const (
	tableBegin = "<!-- settings: generated from pkg/cli/config.go by go test ./pkg/cli -update -->\n"
	tableEnd   = "<!-- end of settings -->\n"
)

// commandsShown is how many commands the table names of a setting.
const commandsShown = 5

// settingsTable is the table of all settings that come from the environment. The command
// serve has those of the API and of the workers.
func settingsTable(t *testing.T) string {
	t.Helper()
	var root commands
	parser, err := newParser(&root)
	if err != nil {
		t.Fatal(err)
	}
	type row struct{ env, kind, value, help string }
	commandsOf := map[row][]string{}
	var rows []row
	add := func(command string, flags []*kong.Flag) {
		for _, f := range flags {
			if len(f.Envs) == 0 {
				continue
			}
			kind := f.Target.Type().Name()
			if f.Enum != "" {
				kind = strings.ReplaceAll(f.Enum, ",", ", ")
			}
			if kind == "" {
				kind = "list"
			}
			r := row{strings.Join(f.Envs, "`, `"), kind, f.Default, f.Help}
			if !slices.Contains(rows, r) {
				rows = append(rows, r)
			}
			if !slices.Contains(commandsOf[r], command) {
				commandsOf[r] = append(commandsOf[r], command)
			}
		}
	}
	add("all", parser.Model.Flags)
	for _, leaf := range parser.Model.Leaves(true) {
		add(strings.Fields(leaf.Path())[0], leaf.Flags)
	}
	var b strings.Builder
	b.WriteString("| variable | type | default | commands | meaning |\n|---|---|---|---|---|\n")
	for _, r := range rows {
		value := r.value
		if value != "" {
			value = "`" + value + "`"
		}
		commands := commandsOf[r]
		if slices.Contains(commands, "api") || slices.Contains(commands, "worker") {
			commands = slices.DeleteFunc(commands, func(command string) bool { return command == "serve" })
		}
		if len(commands) > commandsShown {
			commands = append(commands[:commandsShown], "…")
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", r.env, strings.TrimPrefix(strings.ToLower(r.kind), "admin"), value,
			strings.Join(commands, ", "), strings.TrimSuffix(r.help, "."))
	}
	return b.String()
}

func TestConfigurationHasTheTableOfSettings(t *testing.T) {
	t.Parallel()
	name := filepath.Join("..", "..", "docs", "configuration.md")
	document, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, hasBegin := strings.Cut(string(document), tableBegin)
	_, after, hasEnd := strings.Cut(rest, tableEnd)
	if !hasBegin || !hasEnd {
		t.Fatal("docs/configuration.md has lost the marks of the table of settings")
	}
	for _, match := range regexp.MustCompile("(?m)^### `([A-Z_]+)`").FindAllStringSubmatch(before+after, -1) {
		if !strings.Contains(settingsTable(t), "`"+match[1]+"`") {
			t.Errorf("docs/configuration.md explains %s, which is not a setting", match[1])
		}
	}
	golden.Check(t, name, before+tableBegin+settingsTable(t)+tableEnd+after)
}

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
