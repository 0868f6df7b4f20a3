package cli

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"ushuru/pkg/cli/service"
	"ushuru/pkg/redisx"
)

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
