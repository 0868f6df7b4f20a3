package cli

import (
	"strings"
	"testing"

	"ushuru/api/console"
)

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
	for name, action := range console.Actions() {
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
