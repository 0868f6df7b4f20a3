package e2e

import (
	"bytes"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ushuru/pkg/cli"
	"ushuru/pkg/cli/console"
)

// The command health says whether the process beside it can serve, and whether it answers
// at all.
func TestHealthAsksTheProcessBesideIt(t *testing.T) {
	t.Parallel()
	process := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" {
			http.Error(w, "Redis does not answer", http.StatusServiceUnavailable)
		}
	}))
	defer process.Close()
	_, port, err := net.SplitHostPort(process.Listener.Addr().String())
	must(t, err)
	for _, c := range []struct {
		address string
		args    []string
		status  int
		says    string
	}{
		{process.Listener.Addr().String(), nil, console.ExitFailure, "503 Service Unavailable: Redis does not answer"},
		{process.Listener.Addr().String(), []string{"--alive"}, console.ExitOK, "ok"},
		{":" + port, []string{"--alive"}, console.ExitOK, "ok"},
		{"0.0.0.0:" + port, []string{"--alive"}, console.ExitOK, "ok"},
		{"127.0.0.1:1", nil, console.ExitFailure, "connection refused"},
	} {
		var out bytes.Buffer
		status := cli.Main(t.Context(), append([]string{"health", "--admin-addr", c.address}, c.args...), cli.Streams{Out: &out, Err: &out})
		if status != c.status || !strings.Contains(out.String(), c.says) {
			t.Errorf("%s %s: %d %s", c.address, c.args, status, &out)
		}
	}
}
