package app_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"ushuru/pkg/app"
	"ushuru/pkg/fetch"
	"ushuru/pkg/redisx/redistest"
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
