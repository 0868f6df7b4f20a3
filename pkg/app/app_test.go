package app_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"ushuru/pkg/app"
	"ushuru/pkg/fetch"
	"ushuru/pkg/logs"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
	"ushuru/pkg/tra"
	"ushuru/tasks"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// options are those of a process with API and workers.
func options(t *testing.T) app.Options {
	t.Helper()
	conn := redistest.Embedded(t)
	listener, err := app.Listen(t.Context(), "127.0.0.1:0")
	must(t, err)
	return app.Options{
		Redis: conn, Log: slog.New(slog.DiscardHandler),
		API: &app.APIOptions{Listener: listener, WaitMax: time.Minute, MonitoringUser: "operator", MonitoringPassword: "twelve letters"},
		Worker: &app.WorkerOptions{
			Roles: tasks.Roles, ShutdownTimeout: time.Second, Fetch: fetch.Options{Timeout: time.Second},
			Authority: tra.Options{BaseURL: "http://127.0.0.1:1", Timeout: time.Second},
		},
	}
}

// status requests a page of the process and returns the status of the response.
func status(ctx context.Context, base string) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base, http.NoBody)
	if err != nil {
		return 0, err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }()
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}

func TestStopWaitsForEveryGoroutine(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Run("process", func(t *testing.T) {
		o := options(t)
		o.Admin.Addr = "127.0.0.1:0"
		service, err := app.New(o)
		must(t, err)
		must(t, service.Start(t.Context()))
		base := "http://" + o.API.Listener.Addr().String()
		if code, err := status(t.Context(), base+"/healthz"); err != nil || code != http.StatusOK {
			t.Errorf("status %d, %v", code, err)
		}
		stopped, stop := context.WithCancel(t.Context())
		stop()
		if err := service.Wait(stopped); err != nil {
			t.Error(err)
		}
		service.Stop()
		service.Stop() // a second call does nothing
		if code, err := status(t.Context(), base+"/healthz"); err == nil {
			t.Errorf("status %d after Stop", code)
		}
	})
	goleak.VerifyNone(t, before)
}

func TestFailedStartLeavesNothingRunning(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Run("process", func(t *testing.T) {
		o := options(t)
		taken, err := app.Listen(t.Context(), "127.0.0.1:0")
		must(t, err)
		defer func() { _ = taken.Close() }()
		o.Admin.Addr = taken.Addr().String()
		service, err := app.New(o)
		must(t, err)
		if err := service.Start(t.Context()); err == nil {
			t.Error("it started on a port that is taken")
		}
		service.Stop()
	})
	goleak.VerifyNone(t, before)
}

func TestFailedNewClosesWhatItOpened(t *testing.T) {
	o := options(t)
	o.Worker.Authority.CAFile = "no such file"
	if _, err := app.New(o); err == nil {
		t.Fatal("no error")
	}
	if _, err := o.API.Listener.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the port is still open: %v", err)
	}
	if err := o.Redis.Client().Ping(t.Context()).Err(); errors.Is(err, redis.ErrClosed) {
		t.Error("the connection of the caller was closed")
	}
}

func TestWaitReturnsTheErrorOfAPart(t *testing.T) {
	o := options(t)
	service, err := app.New(o)
	must(t, err)
	t.Cleanup(service.Stop)
	must(t, service.Start(t.Context()))
	must(t, o.API.Listener.Close()) // as when the network goes away
	if err := service.Wait(t.Context()); !errors.Is(err, net.ErrClosed) {
		t.Errorf("%v", err)
	}
}

var processed = regexp.MustCompile(`total_commands_processed:(\d+)`)

// commands returns how many commands Redis has run, those of scripts included.
func commands(t *testing.T, client redis.UniversalClient) int {
	t.Helper()
	info, err := client.Info(t.Context(), "stats").Result()
	must(t, err)
	found := processed.FindStringSubmatch(info)
	if found == nil {
		t.Fatalf("INFO has no number of commands: %s", info)
	}
	n, err := strconv.Atoi(found[1])
	must(t, err)
	return n
}

// An idle process with the API and all roles asks Redis seldom, and begins new work at
// once all the same: a message wakes the worker.
func TestAnIdleServiceAsksRedisSeldomAndBeginsAtOnce(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	b := besiege(t)
	b.survives(0)
	time.Sleep(6 * time.Second) // for so long a worker takes its queues for busy after the last job
	const measured = 10 * time.Second
	b.client.Do(t.Context(), "CONFIG", "RESETSTAT")
	before := commands(t, b.client)
	time.Sleep(measured) // a rate is of a time
	rate := float64(commands(t, b.client)-before) / measured.Seconds()
	stats, err := b.client.Info(t.Context(), "commandstats").Result()
	must(t, err)
	if rate > 100 {
		t.Errorf("an idle service makes Redis run %.0f commands a second, want at most 100: %s", rate, stats)
	}
	t.Logf("%.0f commands a second", rate)
	for car := range 3 {
		started := time.Now()
		if code, answer := b.estimate(1 + car); code != 200 || time.Since(started) > 5*time.Second {
			t.Errorf("estimate %d: %d after %v, want 200 within 5 s: %.200s", car, code, time.Since(started), answer)
		}
		t.Log(time.Since(started))
	}
}

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
