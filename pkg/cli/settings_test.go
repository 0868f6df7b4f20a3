package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"ushuru/pkg/cli/console"
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
