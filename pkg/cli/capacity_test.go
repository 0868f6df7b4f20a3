package cli

import (
	"bytes"
	"strings"
	"testing"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/redisx/redistest"
)

// TestTheOperatorOfASmallMachineIsTold how many keys that keep all they may its Redis holds.
func TestTheOperatorOfASmallMachineIsTold(t *testing.T) {
	t.Parallel()
	conn := redistest.Open(t, redistest.Start(t).URL)
	for _, c := range []struct {
		maxmemory, keyBytes string
		want, level         string
	}{
		{"0", "288MB", "", ""},
		{"1gb", "288MB", `"keys":2,`, `"INFO"`},
		{"1gb", "0", "", ""},
		{"300mb", "288MB", `"needed":"384 MB"`, `"WARN"`},
	} {
		if err := conn.Client().ConfigSet(t.Context(), "maxmemory", c.maxmemory).Err(); err != nil {
			t.Fatal(err)
		}
		var size console.Size
		if err := size.UnmarshalText([]byte(c.keyBytes)); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		r := &run{ctx: t.Context(), log: newLog(&out, "info")}
		r.sayCapacity(conn, size)
		got := out.String()
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) || !strings.Contains(got, c.level) ||
			strings.Count(got, "\n") > 1 {
			t.Errorf("maxmemory %s, KEY_BYTES %s: got %q, want one line with %s and %s", c.maxmemory, c.keyBytes, got, c.level, c.want)
		}
	}
}
