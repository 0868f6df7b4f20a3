package console

import (
	"net/url"
	"strings"
	"testing"

	"ushuru/pkg/operate"
	"ushuru/pkg/redisx/redistest"
)

// An action is recorded under the name of the command that its form shows, so that both do
// the same to the service.
func TestActionsAreThoseOfTheirCommands(t *testing.T) {
	t.Parallel()
	o := operate.New(operate.Options{Redis: redistest.Embedded(t).Client(), Who: "test"})
	if len(operations) != len(Actions()) {
		t.Errorf("got %d actions in actions.yaml, want %d, as many as operations", len(Actions()), len(operations))
	}
	for name, a := range Actions() {
		form := url.Values{"name": {"x"}, "minutes": {"1"}, "tokens": {"1"}}
		act := operations[name]
		if act == nil {
			t.Errorf("nothing does %s", name)
			continue
		}
		_ = act(&operation{o, t.Context(), "example.com", form, ""}) // nothing has this id; it is recorded all the same
		recorded, err := o.Actions(t.Context(), 1)
		if err != nil || len(recorded) != 1 {
			t.Fatalf("%s: %v, %v", name, recorded, err)
		}
		if !strings.HasPrefix(a.Command+" ", "ushuru "+recorded[0].Action+" ") {
			t.Errorf("%s is recorded as %q, and its command is %q", name, recorded[0].Action, a.Command)
		}
	}
}
