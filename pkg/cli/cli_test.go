package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	pages "ushuru/api/console"
	"ushuru/pkg/cli/console"
)

// printsNothing are commands without a form of output: they run until they are stopped, write
// files, or print what another program reads.
var printsNothing = []string{
	"demo", "serve", "api", "worker", "simulate authority", "simulate site", "simulate ai", "simulate sheets", "batches results",
	"costs calibrate", "man", "completion",
}

// leavesOf returns all commands, by their names.
func leavesOf(t *testing.T) map[string]*kong.Node {
	t.Helper()
	var root commands
	parser, err := newParser(&root)
	must(t, err)
	leaves := map[string]*kong.Node{}
	for _, leaf := range parser.Model.Leaves(false) {
		name, _, _ := strings.Cut(strings.TrimPrefix(leaf.Path(), "ushuru "), " (") // an alias
		leaves[name] = leaf
	}
	if len(leaves) < 70 {
		t.Fatalf("%d commands", len(leaves))
	}
	return leaves
}

// argumentsFor returns a line of a command that can be parsed.
func argumentsFor(t *testing.T, name string, leaf *kong.Node) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "list.csv")
	must(t, os.WriteFile(file, []byte("url\nhttps://cars.example/1\n"), 0o600))
	line := strings.Fields(name)
	for _, flag := range leaf.Flags {
		switch {
		case !flag.Required:
		case flag.Name == "out":
			line = append(line, "--out="+filepath.Join(t.TempDir(), "out.csv"))
		case flag.Name == "year":
			line = append(line, "--year=2016")
		default:
			line = append(line, "--"+flag.Name+"=x")
		}
	}
	for _, argument := range leaf.Positional {
		switch {
		case strings.HasPrefix(strings.ToLower(argument.Name), "url"):
			line = append(line, "https://cars.example/1")
		case strings.Contains(strings.ToLower(argument.Name), "file"):
			line = append(line, file)
		default:
			line = append(line, "x")
		}
	}
	return line
}

// Every command that prints has -o text|json|csv, and refuses what it does not know with 2.
func TestEveryCommandHasTheFormsOfOutput(t *testing.T) {
	t.Parallel()
	for name, leaf := range leavesOf(t) {
		has := slices.ContainsFunc(leaf.Flags, func(f *kong.Flag) bool { return f.Name == "output" && f.Short == 'o' && f.Enum == "text,json,csv" })
		if without := slices.Contains(printsNothing, name); has == without {
			t.Errorf("%s: has -o text|json|csv %t, prints nothing %t", name, has, without)
		}
		status, _, errs := runWith(t, append(strings.Fields(name), "--no-such-flag")...)
		if status != console.ExitUsage || !strings.Contains(errs, "no-such-flag") {
			t.Errorf("%s --no-such-flag: status %d, want 2: %s", name, status, errs)
		}
	}
}

// A line that a command itself finds wrong is wrong usage too.
func TestWrongUsageIsTwo(t *testing.T) {
	t.Setenv("USHURU_KEY", "ush_x")
	t.Setenv("REDIS_URL", "")
	for line, says := range map[string]string{
		"jobs retry": "id of a job", "webhooks retry x": "id of a delivery", "batch x.csv --out=x.pdf": "--out",
		"estimate https://x.example --rate=much": "--rate", "estimate https://x.example --cost=x=1": "--cost",
		"estimate https://x.example --known=1": "--known", "quote --make=X --year=2016 --fob=y": "--fob",
		"cache drop --redis-url=redis://127.0.0.1:1": "--make", "batch missing.csv --out=x.csv": "missing.csv",
		"webhooks reseal --redis-url=redis://127.0.0.1:1": "SECRETS_KEY", "estimate": "URL", "status -o yaml": "--output",
	} {
		status, _, errs := runWith(t, strings.Fields(line)...)
		if status != console.ExitUsage || !strings.Contains(errs, says) {
			t.Errorf("%s: status %d, want 2 and %q: %s", line, status, says, errs)
		}
	}
	t.Setenv("USHURU_KEY", "")
	for _, line := range []string{"keys list", "api", "drift", "sites list", "webhooks verify x --operator", "authority sync", "match"} {
		if status, _, errs := runWith(t, strings.Fields(line)...); status != console.ExitUsage || !strings.Contains(errs, "REDIS_URL") {
			t.Errorf("%s without Redis: status %d, want 2: %s", line, status, errs)
		}
	}
	if status, _, errs := runWith(t, "jobs", "list"); status != console.ExitUsage || !strings.Contains(errs, "USHURU_KEY") {
		t.Errorf("without a key: status %d, want 2: %s", status, errs)
	}
}

// Every command that calls the API exits with 3 when the API answers with an error, says it as
// the API does or in the words of the form, and names the flag that it is about.
func TestAnErrorOfTheAPIIsThree(t *testing.T) {
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":"The rate is wrong.","code":"rate_invalid","param":"costs.freightUSD","retryable":false}`)
	}))
	t.Cleanup(refuses.Close)
	t.Setenv("USHURU_URL", refuses.URL)
	t.Setenv("USHURU_KEY", "ush_x")
	callers := 0
	for name, leaf := range leavesOf(t) {
		if !slices.ContainsFunc(leaf.Flags, func(f *kong.Flag) bool { return slices.Contains(f.Envs, "USHURU_URL") }) {
			continue
		}
		callers++
		status, _, errs := runWith(t, argumentsFor(t, name, leaf)...)
		var said struct {
			Code string `json:"code"`
			Flag string `json:"flag"`
		}
		if json.Unmarshal([]byte(errs), &said) != nil && strings.Contains(errs, "The rate is wrong.") {
			_, flag, _ := strings.Cut(errs, "The flag for it is ")
			said.Code, said.Flag = "rate_invalid", strings.TrimSuffix(flag, ".\n")
		}
		if status != console.ExitRefused || said.Code != "rate_invalid" || said.Flag != "--cost" {
			t.Errorf("%s: status %d, want 3, the error and --cost: %s", name, status, errs)
		}
	}
	if callers < 30 {
		t.Errorf("%d commands call the API", callers)
	}
}

// optionOf are the options and arguments of commands that the fields of the console's forms
// are.
var optionOf = map[string]string{
	"key-new name": "<name>", "key-limit perMinute": "--rate", "key-limit jobs": "--jobs", "key-limit batchItems": "--batch-items",
	"key-limit bytes": "--bytes", "key-limit aiTokens": "--ai-tokens", "key-revoke keep": "--keep-work", "site-pause minutes": "--for",
	"ai-budget tokens": "[<tokens>]",
}

// Everything that the console does a command does too: each action shows a command that
// exists and acts over Redis, and each field of a form is an option of it.
func TestTheConsoleDoesNothingThatNoCommandDoes(t *testing.T) {
	t.Parallel()
	for name, action := range pages.Actions() {
		var root commands
		parser, err := newParser(&root)
		must(t, err)
		line := strings.NewReplacer("%s", "example.com", "NAME", "juma", "CODE", "x", "TOKENS", "1", " N", " 1").Replace(action.Command)
		args := strings.Fields(line)
		parsed, err := parser.Parse(args[1:])
		if err != nil || args[0] != "ushuru" {
			t.Errorf("%s: %s: %v", name, line, err)
			continue
		}
		leaf := parsed.Selected()
		options := map[string]bool{}
		for _, flag := range leaf.Flags {
			options["--"+flag.Name] = true
		}
		for _, argument := range leaf.Positional {
			options[argument.Summary()] = true
		}
		if !options["--redis-url"] {
			t.Errorf("%s: %s does not act over Redis", name, line)
		}
		for _, field := range action.Fields {
			if option := optionOf[name+" "+field.Name]; option == "" || !options[option] {
				t.Errorf("%s: the field %s is no option of %s: %v", name, field.Name, line, options)
			}
		}
	}
}
