package worker

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"ushuru/pkg/cost"
	"ushuru/pkg/jobs"
	"ushuru/pkg/match"
	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/tra"
	"ushuru/pkg/tra/tratest"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// A worker of the role authority uses expired figures when its own call fails while no
// worker is answered, and only then.
func TestTheAuthorityRoleFallsBackToExpiredFigures(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		server := tratest.Start(t, tratest.Options{})
		client, err := tra.NewClient(tra.Options{BaseURL: server.URL})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		store := tra.NewStore(conn.Client(), tra.StoreOptions{})
		authority := tra.NewAuthority(client, store, tra.AuthorityOptions{})
		if _, err := store.Sync(t.Context(), tra.Lister{Makes: authority.Makes, ModelBodies: authority.ModelBodies}); err != nil {
			t.Fatal(err)
		}
		job := matchedQuote(t, store)
		run := func(reason string) (e vehicle.Estimate, err error) {
			t.Helper()
			outages := tra.NewOutages(func(context.Context) (tra.Status, error) {
				return tra.Status{Outage: tra.Outage{Reason: reason}}, nil
			})
			// A new authority has a closed breaker and no list in memory.
			fresh := tra.NewStore(conn.Client(), tra.StoreOptions{})
			again := tra.NewAuthority(client, fresh, tra.AuthorityOptions{})
			step := calculate(again, staleAnswers{fresh.Stale(), outages}, cost.Embedded(), pace.NewProcessor(2), nil)
			result, err := step(t.Context(), job)
			if err != nil {
				return e, err
			}
			data, err := json.Marshal(result)
			return e, errors.Join(err, json.Unmarshal(data, &e))
		}
		first, err := run("")
		if err != nil || first.Stale {
			t.Fatalf("%+v, %v", first, err)
		}
		if err := conn.Client().Set(t.Context(), "tra:period", 99999, 0).Err(); err != nil { // the figures expire
			t.Fatal(err)
		}
		for _, c := range []struct {
			faults tratest.Faults
			reason string
		}{
			{tratest.Faults{Status: 503}, "unavailable"}, {tratest.Faults{RefuseRegion: true}, "refused"},
		} {
			server.SetFaults(c.faults)
			if e, err := run(""); err == nil {
				t.Errorf("%s: %+v although another worker may be answered", c.reason, e.Tax)
			}
			e, err := run(c.reason)
			if err != nil || !e.Stale || e.Tax.ReferenceNumber != first.Tax.ReferenceNumber || e.AsOf != first.AsOf {
				t.Errorf("%s: stale %t, %+v, %v", c.reason, e.Stale, e.Tax, err)
			}
		}
		server.SetFaults(tratest.Faults{})
		if e, err := run("unavailable"); err != nil || e.Stale {
			t.Errorf("answered again: stale %t, %v", e.Stale, err)
		}
	})
}

// matchedQuote is the record of a quote that waits for its calculation.
func matchedQuote(t *testing.T, store *tra.Store) *jobs.Job {
	t.Helper()
	input, err := json.Marshal(vehicle.QuoteInput{
		Make: "TOYOTA", ModelCode: "NKE165", Year: 2015, ModelBody: "COROLLA FIELDER - NKE165 - HYBRID - WAGON",
	})
	if err != nil {
		t.Fatal(err)
	}
	job := &jobs.Job{Kind: tasks.KindQuote, Class: jobs.Interactive, Input: input, Outputs: map[string]json.RawMessage{}}
	found, err := matchLabel(store, nil, match.New(match.Options{}), nil)(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	if job.Outputs[tasks.StepMatch], err = json.Marshal(found); err != nil {
		t.Fatal(err)
	}
	return job
}
