package worker

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// deaf is a handler that does not obey its context: the stack in the log names it.
func deaf(end <-chan struct{}) { <-end }

// logged is a log that several goroutines write.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// pass has the clock of a bubble go on.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// A handler that goes on though its time was up is told of, with its stack in the log once, until
// it ends; one that ends in time is not.
func TestAHandlerThatDoesNotEndIsToldOf(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log logged
		o := &overdue{log: slog.New(slog.NewTextHandler(&log, nil)), count: map[string]int{}}
		o.watch(t.Context(), "quick", time.Minute, func() {})
		end := make(chan struct{})
		for range 2 {
			go o.watch(t.Context(), "estimate:scrape", time.Minute, func() { deaf(end) })
		}
		pass(time.Minute + overdueAfter - time.Second)
		if names := o.names(); len(names) > 0 || log.String() != "" {
			t.Errorf("before its time is up: %v\n%s", names, &log)
		}
		pass(2 * time.Second)
		if names := o.names(); !slices.Equal(names, []string{"estimate:scrape"}) {
			t.Errorf("got %v, want the handler", names)
		}
		if text := log.String(); strings.Count(text, "worker.deaf") != 2 || strings.Contains(text, "quick") {
			t.Errorf("the log is %s, want the stacks of two handlers", text)
		}
		pass(time.Hour)
		close(end)
		synctest.Wait()
		if names := o.names(); len(names) > 0 || strings.Count(log.String(), "\n") != 2 {
			t.Errorf("after its end: %v\n%s", names, &log)
		}
	})
}

// The panic of a handler leaves nothing behind.
func TestAHandlerThatPanicsIsNotWatchedAnyMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := &overdue{log: slog.New(slog.DiscardHandler), count: map[string]int{}}
		func() {
			defer func() { _ = recover() }()
			o.watch(context.Background(), "quick", time.Second, func() { panic("a bug") })
		}()
		pass(time.Hour)
		if names := o.names(); len(names) > 0 {
			t.Errorf("got %v, want none", names)
		}
	})
}
