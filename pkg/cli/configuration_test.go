package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"ushuru/pkg/golden"
)

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
