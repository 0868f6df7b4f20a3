package app_test

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"ushuru/pkg/app"
	"ushuru/pkg/logs"
	"ushuru/pkg/redisx/redistest"
)

// buffer is a log that goroutines write to.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (b *buffer) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(data)
}

// String returns what was written.
func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// A real Redis that is killed and comes back is a line when it goes and one when it is
// back, from an API and workers that poll it all the time.
func TestOutageOfRedisIsTwoLines(t *testing.T) {
	server := redistest.Start(t)
	var log buffer
	o := everything(t)
	o.Redis, o.Log = redistest.Open(t, server.URL), logs.New(&log, logs.Options{})
	service, err := app.New(o)
	must(t, err)
	t.Cleanup(service.Stop)
	must(t, service.Start(t.Context()))
	if first, _, _ := strings.Cut(log.String(), "\n"); !strings.Contains(first, `"msg":"starting"`) || !strings.Contains(first, `"roles":[`) {
		t.Errorf("the first line is %s", first)
	}
	waitFor(t, func() string { // everything polls
		if !strings.Contains(log.String(), "worker started") {
			return log.String()
		}
		return ""
	})
	before := len(log.String())
	server.Kill()
	waitFor(t, func() string {
		if !strings.Contains(log.String(), "Redis is away") {
			return log.String()
		}
		return ""
	})
	// No line may come, which only time shows; before, there were thirty.
	time.Sleep(2 * time.Second)
	server.Restart()
	waitFor(t, func() string {
		if !strings.Contains(log.String(), "Redis is back") {
			return log.String()
		}
		return ""
	})
	var lines []string
	for line := range strings.Lines(log.String()[before:]) {
		if strings.Contains(line, `"level":"ERROR"`) || strings.Contains(line, `"level":"WARN"`) || strings.Contains(line, "Redis is") {
			if !strings.Contains(line, "TRA") { // which is another matter
				lines = append(lines, line)
			}
		}
	}
	if len(lines) != 2 {
		t.Errorf("%d lines:\n%s", len(lines), strings.Join(lines, ""))
	}
}
