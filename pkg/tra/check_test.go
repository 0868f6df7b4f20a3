package tra_test

import (
	"context"
	"net/http"
	"slices"
	"testing"

	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/tra"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/tra/tratest"
)

// The check of an operator fails where a worker's call does.
func TestCheckFailsWhereAWorkerDoes(t *testing.T) {
	t.Parallel()
	server, client := simulated(t, tratest.Options{})
	for name, c := range map[string]struct {
		faults tratest.Faults
		last   string
		kind   tra.Kind
	}{
		"none":                {tratest.Faults{}, "getVehicleDetails", ""},
		"figures":             {tratest.Faults{TinyTotals: true}, "getVehicleDetails", tra.BadAnswer},
		"a page":              {tratest.Faults{HTML: true}, "getMakes", tra.Unavailable},
		"outside of its land": {tratest.Faults{RefuseRegion: true, Calls: []string{"getYom"}}, "getYom", tra.Refused},
	} {
		server.SetFaults(c.faults)
		calls := client.Check(t.Context(), "")
		last := calls[len(calls)-1]
		if last.Call != c.last || last.Kind != c.kind || last.OK != (c.kind == "") {
			t.Errorf("%s: %+v", name, last)
		}
	}
}

// Whichever call fails, the check makes those before it, ends there and says why.
func TestCheckEndsAtTheCallThatFails(t *testing.T) {
	t.Parallel()
	server, client := simulated(t, tratest.Options{})
	for _, fault := range []struct {
		faults tratest.Faults
		kind   tra.Kind
		status int
	}{
		{tratest.Faults{Status: http.StatusServiceUnavailable}, tra.Unavailable, http.StatusServiceUnavailable},
		{tratest.Faults{RefuseRegion: true}, tra.Refused, http.StatusForbidden},
		{tratest.Faults{HTML: true}, tra.Unavailable, http.StatusOK},
		{tratest.Faults{TruncatedBody: true}, tra.Unavailable, http.StatusOK},
	} {
		for i, name := range tra.Calls {
			fault.faults.Calls = []string{name}
			server.SetFaults(fault.faults)
			calls := client.Check(t.Context(), "")
			last := calls[len(calls)-1]
			if len(calls) != i+1 || last.Call != name || last.OK || last.Kind != fault.kind || last.Status != fault.status || last.Error == "" {
				t.Errorf("%s of %+v: %+v", name, fault.faults, calls)
			}
			for _, before := range calls[:i] {
				if !before.OK || before.Got == "" || before.Error != "" {
					t.Errorf("%s of %+v: %+v", name, fault.faults, before)
				}
			}
		}
	}
	server.SetFaults(tratest.Faults{EmptyLists: true})
	if calls := client.Check(t.Context(), ""); len(calls) != 1 || calls[0].OK {
		t.Errorf("empty lists: %+v", calls)
	}
	server.SetFaults(tratest.Faults{})
	if calls := client.Check(t.Context(), "NONE"); len(calls) != 1 || calls[0].OK {
		t.Errorf("a make that is not listed: %+v", calls)
	}
	if calls := client.Check(t.Context(), "subaru"); len(calls) != len(tra.Calls) || !calls[len(calls)-1].OK || calls[1].Asked != "SUBARU" {
		t.Errorf("a healthy authority: %+v", calls)
	}
	unreachable := newClient(t, tra.Options{BaseURL: server.URL, Proxy: "http://127.0.0.1:1"})
	if calls := unreachable.Check(t.Context(), ""); len(calls) != 1 || calls[0].Call != "proxy" || calls[0].OK {
		t.Errorf("a proxy that cannot be reached: %+v", calls)
	}
}

// A reset closes an open breaker of every process at its next heartbeat, and none that
// starts later.
func TestAResetClosesTheBreaker(t *testing.T) {
	t.Parallel()
	conn := redistest.Embedded(t)
	f := newFixture(t, conn, tratest.Options{}, tra.AuthorityOptions{})
	store := tra.NewStore(conn.Client(), tra.StoreOptions{})
	breaker := func() string { return conn.Client().HGet(t.Context(), "tra:status", "breaker").Val() }
	beat := func() {
		t.Helper()
		if err := f.Alive(context.WithoutCancel(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	for round := range 2 {
		beat()
		f.server.SetFaults(tratest.Faults{Status: http.StatusServiceUnavailable})
		for range 11 {
			_, _ = f.Makes(t.Context())
		}
		f.server.SetFaults(tratest.Faults{})
		asked := f.calls()
		beat()
		if _, err := f.Makes(t.Context()); err == nil || f.calls() != asked {
			t.Fatalf("round %d: the breaker is %s: %v", round, breaker(), err)
		}
		if err := store.ResetBreakers(t.Context()); err != nil {
			t.Fatal(err)
		}
		beat()
		if state := breaker(); state != "closed" {
			t.Errorf("round %d: the status says %s", round, state)
		}
		if makes, err := f.Makes(t.Context()); err != nil || !slices.ContainsFunc(makes, func(m catalogue.Make) bool { return m.Name == "TOYOTA" }) {
			t.Errorf("round %d: after the reset: %v", round, err)
		}
	}
}
