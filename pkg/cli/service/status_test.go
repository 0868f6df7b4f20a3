package service_test

import (
	"bytes"
	"strings"
	"testing"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/cli/service"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
)

// The status connects once. It does not say that the rules agree before an answer was
// checked, and a duration that is not known is no 0s.
func TestStatusShowsOnlyWhatIsKnown(t *testing.T) {
	conn := redistest.Open(t, redistest.Start(t).URL)
	connected := 0
	var out bytes.Buffer
	session := &service.Session{
		Console: &console.Console{Streams: console.Streams{Out: &out}, Ctx: t.Context()},
		Connect: func(service.Redis) (*redisx.Conn, error) {
			connected++
			return conn, nil
		},
	}
	shown := func() string {
		out.Reset()
		var command service.Status
		command.Operator = true
		if err := command.Run(session); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if text := shown(); connected != 1 || !strings.Contains(text, "not checked") || strings.Contains(text, "0s") {
		t.Errorf("%d connections; %s", connected, text)
	}
	for agree, want := range map[string]string{"1": "agree, 7 checked", "0": "differ, 2 of 7"} {
		err := conn.Client().HSet(t.Context(), "tra:{drift}:state", "agree", agree, "checked", 7, "differed", 2).Err()
		if err != nil {
			t.Fatal(err)
		}
		if text := shown(); !strings.Contains(text, want) {
			t.Errorf("not %q: %s", want, text)
		}
	}
}
