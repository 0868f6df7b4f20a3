package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/cli/service"
	"ushuru/pkg/redisx"
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

// A process says that it is alive until it ends, and says nothing of another process.
func TestTheWatchdogHearsOfThisProcessUntilItEnds(t *testing.T) {
	address := filepath.Join(t.TempDir(), "s")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: address, Net: "unixgram"})
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	must(t, conn.SetReadDeadline(time.Now().Add(30*time.Second)))
	t.Setenv("NOTIFY_SOCKET", address)
	t.Setenv("WATCHDOG_USEC", "20000")
	t.Setenv("WATCHDOG_PID", "1")
	new(run).feedWatchdog(t.Context()) // returns
	t.Setenv("WATCHDOG_PID", strconv.Itoa(os.Getpid()))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		new(run).feedWatchdog(ctx)
		close(ended)
	}()
	message := make([]byte, 100)
	for range 3 {
		n, err := conn.Read(message)
		if got := string(message[:n]); err != nil || got != "WATCHDOG=1" {
			t.Errorf("systemd heard %q, %v, want WATCHDOG=1", got, err)
		}
	}
	cancel()
	<-ended
}

func TestTraceSettings(t *testing.T) {
	for endpoint, want := range map[string]string{
		"": "", "http://host:4318": "http://host:4318/v1/traces", "https://host/x/": "https://host/x/v1/traces",
	} {
		if got, err := (traceConfig{TraceEndpoint: endpoint}).options(); err != nil || got.URL != want {
			t.Errorf("%q: %q, %v, want %q", endpoint, got.URL, err, want)
		}
	}
	for _, endpoint := range []string{"host:4318", "ftp://host", "http://"} {
		if got, err := (traceConfig{TraceEndpoint: endpoint}).options(); err == nil {
			t.Errorf("%q is taken: %q", endpoint, got.URL)
		}
	}
}

func TestLogHoldsNoSecret(t *testing.T) {
	t.Parallel()
	const key = "ush_0123456789abcdefghijABCDEFGHIJ01234567"
	for name, attr := range map[string]slog.Attr{
		"a setting that is secret":      slog.Any("config", service.Redis{RedisURL: "redis://:hunter2hunter2@host"}.RedisURL),
		"a password by its name":        slog.String("operatorPassword", "hunter2hunter2"),
		"a header by its name":          slog.String("Authorization", "Bearer hunter2hunter2"),
		"an API key in a text":          slog.String("url", "https://a.example/?key="+key),
		"an API key in an error":        slog.Any("error", fmt.Errorf("refused: %w", errors.New(key))),
		"an API key in a group":         slog.Group("request", slog.String("query", key)),
		"the URL of Redis as it is put": slog.String("redis", redisx.Redact("redis://user:hunter2hunter2@host:6379/0")),
	} {
		var out bytes.Buffer
		newLog(&out, "debug").Info("x", attr)
		if text := out.String(); strings.Contains(text, "hunter2") || strings.Contains(text, key[4:20]) {
			t.Errorf("%s: %s", name, text)
		}
	}
}

func TestLogKeepsWhatIsNotSecret(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	newLog(&out, "info").Info("answered", "request", "abc", "job", "01J", "key", "cfZoz0k4p2jf", "error", errors.New("gone"))
	for _, want := range []string{`"request":"abc"`, `"job":"01J"`, `"key":"cfZoz0k4p2jf"`, `"error":"gone"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s lacks %s", out.String(), want)
		}
	}
	newLog(&out, "warn").Info("quiet")
	if strings.Contains(out.String(), "quiet") {
		t.Error("logged below the least level")
	}
}
