package settings_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/settings"
	"ushuru/pkg/testenv"
)

// process is a Watcher and what it has logged.
type process struct {
	*settings.Watcher

	log *bytes.Buffer
}

func newProcess(client redis.UniversalClient, name string, values map[string]string) process {
	log := &bytes.Buffer{}
	return process{settings.NewWatcher(client, slog.New(slog.NewTextHandler(log, nil)), name, values), log}
}

// look returns how many differences the process logs when it looks.
func (p process) look(t *testing.T) int {
	t.Helper()
	p.log.Reset()
	if err := p.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	return strings.Count(p.log.String(), "different settings")
}

func TestADifferenceIsLoggedOnce(t *testing.T) {
	client := redistest.Open(t, redistest.Start(t).URL).Client()
	values := func(rate string) map[string]string { return map[string]string{"RATE": rate, "SAME": "x"} }
	one := newProcess(client, "any on one", map[string]string{"RATE": "5", "SAME": "x", "OWN": "only here"})
	two := newProcess(client, "any on two", values("7"))
	if n := one.look(t); n != 0 {
		t.Errorf("alone, a process logs %d differences: %s", n, one.log)
	}
	for _, p := range []process{two, one} { // each of the other
		if n := p.look(t); n != 1 || !strings.Contains(p.log.String(), "setting=RATE") {
			t.Errorf("%d differences: %s", n, p.log)
		}
		if n := p.look(t); n != 0 {
			t.Errorf("logged again: %s", p.log)
		}
	}
	newProcess(client, "any on two", values("7")).look(t) // two has started again
	if n := one.look(t); n != 0 {
		t.Errorf("a process that has started again is logged again: %s", one.log)
	}
	newProcess(client, "any on two", values("8")).look(t) // with another value
	if n := one.look(t); n != 1 {
		t.Errorf("%d differences from a new value: %s", n, one.log)
	}
}

// A process that stops is in the list no longer; one whose record Redis has lost is in it
// again after the next look.
func TestTheListHasTheLivingProcesses(t *testing.T) {
	client := redistest.Open(t, redistest.Start(t).URL).Client()
	names := func() (all []string) {
		found, err := settings.List(t.Context(), client)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range found {
			all = append(all, p.Name)
		}
		return all
	}
	stays, stops := newProcess(client, "stays", nil), newProcess(client, "stops", nil)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	stopped := make(chan struct{})
	go func() {
		stops.Run(ctx)
		close(stopped)
	}()
	testenv.AwaitTrue(t, "the process in the list", func() bool { return len(names()) > 0 })
	stays.look(t)
	stop()
	<-stopped
	if got := names(); len(got) != 1 || got[0] != "stays" {
		t.Errorf("the list has %v", got)
	}
	if err := client.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	stays.look(t)
	if got := names(); len(got) != 1 || got[0] != "stays" {
		t.Errorf("after Redis has lost everything the list has %v", got)
	}
}
