package tra_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/tra"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/tra/tratest"
)

// lister is an authority whose catalogue a test changes at will.
type lister struct {
	mu     sync.Mutex
	makes  []catalogue.Make
	labels map[int][]string
	fail   map[int]error // by make id
	asked  []int
}

func (l *lister) Makes(context.Context) ([]catalogue.Make, error) { return l.makes, l.fail[0] }

func (l *lister) ModelBodies(_ context.Context, id int) ([]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, id)
	return slices.Clone(l.labels[id]), l.fail[id]
}

// clock is the time of a test.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func newLister() *lister {
	return &lister{
		makes:  []catalogue.Make{{ID: 1, Name: "TOYOTA"}, {ID: 2, Name: "SUBARU"}, {ID: 3, Name: "SCANIA"}},
		labels: map[int][]string{1: {fielder, "IST - NCP110 - HATCHBACK"}, 2: {"FORESTER - SJ5 - SUV"}},
		fail:   map[int]error{},
	}
}

var unavailable = &tra.Error{Kind: tra.Unavailable, Call: "getModelBody"}

// step changes the authority or the clock, syncs, and looks at what readers
// see.
type step struct {
	change  func(*lister, *clock)
	report  tra.SyncReport
	fails   bool
	asked   int      // makes whose labels were asked for
	labels  int      // in the catalogue
	pending []string // makes without labels so far
}

func TestSync(t *testing.T) {
	nothing := func(*lister, *clock) {}
	first := step{nothing, tra.SyncReport{Makes: 3, Fetched: 3, Changed: 3, Labels: 3, Version: 1}, false, 3, 3, nil}
	for name, steps := range map[string][]step{
		"a second sync within the period asks nothing": {
			first,
			{nothing, tra.SyncReport{Makes: 3, Fresh: 3, Version: 1}, false, 0, 3, nil},
		},
		"a day later all is asked, and nothing changed": {
			first,
			{
				func(_ *lister, c *clock) { c.now = c.now.Add(24 * time.Hour) },
				tra.SyncReport{Makes: 3, Fetched: 3, Labels: 3, Version: 1},
				false, 3, 3, nil,
			},
		},
		"in a new quarter all is asked, however young": {
			{
				func(_ *lister, c *clock) { c.now = tra.QuarterEnd(c.now).Add(-time.Hour) },
				first.report, false, 3, 3, nil,
			},
			{
				func(_ *lister, c *clock) { c.now = c.now.Add(time.Hour) },
				tra.SyncReport{Makes: 3, Fetched: 3, Labels: 3, Version: 1},
				false, 3, 3, nil,
			},
		},
		"a make with another id is asked": {
			first,
			{
				func(l *lister, _ *clock) { l.makes[1].ID, l.labels[22] = 22, l.labels[2] },
				tra.SyncReport{Makes: 3, Fresh: 2, Fetched: 1, Changed: 1, Labels: 1, Version: 2},
				false, 1, 3, nil,
			},
		},
		"new labels": {
			first,
			{
				func(l *lister, c *clock) {
					c.now = c.now.Add(24 * time.Hour)
					l.labels[2] = append(l.labels[2], "XV - GT3 - SUV")
				},
				tra.SyncReport{Makes: 3, Fetched: 3, Changed: 1, Labels: 4, Version: 2},
				false, 3, 4, nil,
			},
		},
		"no makes at all never empties the catalogue": {
			first,
			{func(l *lister, _ *clock) { l.makes = nil }, tra.SyncReport{}, true, 0, 3, nil},
		},
		"an authority that is down never empties the catalogue": {
			first,
			{func(l *lister, _ *clock) { l.fail[0] = unavailable }, tra.SyncReport{}, true, 0, 3, nil},
		},
		"a make that vanished is removed": {
			first,
			{
				func(l *lister, _ *clock) { l.makes = l.makes[:2] },
				tra.SyncReport{Makes: 2, Fresh: 2, Removed: 1, Version: 2},
				false, 0, 3, nil,
			},
		},
		"an empty list keeps the labels and is asked again": {
			first,
			{
				func(l *lister, c *clock) { c.now, l.labels[1] = c.now.Add(24*time.Hour), nil },
				tra.SyncReport{Makes: 3, Fetched: 3, Kept: 1, Labels: 1, Version: 1},
				false, 3, 3, nil,
			},
			{nothing, tra.SyncReport{Makes: 3, Fresh: 2, Fetched: 1, Kept: 1, Version: 1}, false, 1, 3, nil},
		},
		"a first sync that missed a make goes on where it stopped": {
			{
				func(l *lister, _ *clock) { l.fail[2] = unavailable },
				tra.SyncReport{Makes: 3, Fetched: 2, Changed: 2, Failed: 1, Labels: 2, Version: 1},
				true, 3, 2,
				[]string{"SUBARU"},
			},
			{
				func(l *lister, _ *clock) { delete(l.fail, 2) },
				tra.SyncReport{Makes: 3, Fresh: 2, Fetched: 1, Changed: 1, Labels: 1, Version: 2},
				false, 1, 3, nil,
			},
		},
		"a make that cannot be read does not hold up the rest": {
			{
				func(l *lister, _ *clock) { l.fail[2] = &tra.Error{Kind: tra.BadAnswer} },
				tra.SyncReport{Makes: 3, Fetched: 2, Changed: 2, Failed: 1, Labels: 2, Version: 1},
				true, 3, 2,
				[]string{"SUBARU"},
			},
		},
		"a later sync that missed a make publishes the others": {
			first,
			{
				func(l *lister, c *clock) {
					c.now, l.fail[2], l.labels[1] = c.now.Add(24*time.Hour), unavailable, l.labels[1][:1]
				},
				tra.SyncReport{Makes: 3, Fetched: 2, Changed: 1, Failed: 1, Labels: 1, Version: 2},
				true, 3, 2, nil,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
				authority, fake := newLister(), &clock{time.Date(2025, 11, 15, 12, 0, 0, 0, time.UTC)}
				store := tra.NewStore(conn.Client(), tra.StoreOptions{Now: fake.Now})
				if _, err := store.Catalogue(t.Context()); !errors.Is(err, tra.ErrNoCatalogue) {
					t.Fatalf("before the first sync: %v", err)
				}
				for i, step := range steps {
					step.change(authority, fake)
					authority.asked = nil
					report, err := store.Sync(t.Context(), tra.Lister{Makes: authority.Makes, ModelBodies: authority.ModelBodies})
					if report != step.report || (err != nil) != step.fails || len(authority.asked) != step.asked {
						t.Fatalf("sync %d: %+v, %v, asked %d; want %+v, error %t, asked %d",
							i+1, report, err, len(authority.asked), step.report, step.fails, step.asked)
					}
					cat, err := store.Catalogue(t.Context())
					if err != nil || cat.Len() != step.labels {
						t.Fatalf("sync %d: readers see %v, %v; want %d labels", i+1, cat, err, step.labels)
					}
					if got := pendingIn(cat); !slices.Equal(got, step.pending) {
						t.Fatalf("sync %d: pending %v, want %v", i+1, got, step.pending)
					}
					due, err := store.SyncDue(t.Context())
					if err != nil || due {
						t.Fatalf("sync %d: due again at once: %v, %v", i+1, due, err)
					}
				}
			})
		})
	}
}

func pendingIn(cat *catalogue.Catalogue) (names []string) {
	for _, m := range cat.Makes() {
		if entries, _ := cat.Of(m.Name); entries.Pending {
			names = append(names, m.Name)
		}
	}
	return names
}

func TestASyncThatWasKilledGoesOn(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		authority := newLister()
		store := tra.NewStore(conn.Client(), tra.StoreOptions{Concurrency: 1})
		ctx, kill := context.WithCancel(t.Context())
		killer := &killing{lister: authority, after: 2, kill: kill}
		if _, err := store.Sync(ctx, tra.Lister{Makes: killer.Makes, ModelBodies: killer.ModelBodies}); !errors.Is(err, context.Canceled) {
			t.Fatalf("killed sync: %v", err)
		}
		half, err := store.Catalogue(t.Context())
		if err != nil || len(half.Makes()) != 3 || len(pendingIn(half)) == 0 {
			t.Fatalf("half a catalogue is not shown as that: %v, %v", half, err)
		}
		authority.asked = nil
		report, err := store.Sync(t.Context(), tra.Lister{Makes: authority.Makes, ModelBodies: authority.ModelBodies})
		if err != nil || len(authority.asked) == 3 || report.Fresh == 0 || report.Version != 2 {
			t.Errorf("the next sync: %+v, %v, asked %v", report, err, authority.asked)
		}
	})
}

// killing cancels the sync at the second make.
type killing struct {
	*lister
	after int
	kill  context.CancelFunc
}

func (k *killing) ModelBodies(ctx context.Context, id int) ([]string, error) {
	labels, err := k.lister.ModelBodies(ctx, id)
	if len(k.asked) == k.after {
		k.kill()
		return nil, fmt.Errorf("killed: %w", context.Canceled)
	}
	return labels, err
}

func TestTheIndexIsRebuiltOnlyWhenTheCatalogueChanged(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		authority := newLister()
		store := tra.NewStore(conn.Client(), tra.StoreOptions{SyncPeriod: time.Nanosecond})
		read := func() *catalogue.Catalogue {
			t.Helper()
			if _, err := store.Sync(t.Context(), tra.Lister{Makes: authority.Makes, ModelBodies: authority.ModelBodies}); err != nil {
				t.Fatal(err)
			}
			cat, err := store.Catalogue(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return cat
		}
		first := read()
		if read() != first {
			t.Error("rebuilt although nothing changed")
		}
		authority.labels[1] = authority.labels[1][:1]
		if second := read(); second == first || second.Len() != 2 {
			t.Errorf("not rebuilt after a change: %d labels", second.Len())
		}
	})
}

func TestSyncOfTheWholeSimulatedCatalogue(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		server, client := simulated(t, tratest.Options{})
		store := tra.NewStore(conn.Client(), tra.StoreOptions{})
		authority := tra.NewAuthority(client, store, tra.AuthorityOptions{PerSecond: 500})
		report, err := store.Sync(t.Context(), tra.Lister{Makes: authority.Makes, ModelBodies: authority.ModelBodies})
		if err != nil || report.Labels < 1800 || report.Makes < 20 {
			t.Fatalf("%+v, %v", report, err)
		}
		cat, err := store.Catalogue(t.Context())
		if err != nil || cat.Len() != report.Labels {
			t.Fatalf("%d labels of %d, %v", cat.Len(), report.Labels, err)
		}
		if m, ok := cat.Make("TOYOTA"); !ok || m.ID != server.MakeID("TOYOTA") {
			t.Errorf("TOYOTA is %+v", m)
		}
	})
}

func TestSyncStopsAtTheBreakerAndWaitsForTheRate(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		server, client := simulated(t, tratest.Options{Faults: tratest.Faults{Status: 503, Calls: []string{"getModelBody"}}})
		store := tra.NewStore(conn.Client(), tra.StoreOptions{Concurrency: 1})
		authority := tra.NewAuthority(client, store, tra.AuthorityOptions{BreakerFailures: 3, BreakerTimeout: time.Hour})
		_, err := store.Sync(t.Context(), tra.Lister{Makes: authority.Makes, ModelBodies: authority.ModelBodies})
		if gate, ok := errors.AsType[*tra.ThrottleError](err); !ok || gate.Reason != tra.BreakerOpen || server.Count("getModelBody") != 3 {
			t.Errorf("breaker: %v after %d calls", err, server.Count("getModelBody"))
		}
		limited := tra.NewAuthority(client, store, tra.AuthorityOptions{PerSecond: 20})
		server.SetFaults(tratest.Faults{})
		if _, err := store.Sync(t.Context(), tra.Lister{Makes: limited.Makes, ModelBodies: limited.ModelBodies}); err != nil {
			t.Errorf("rate: %v", err)
		}
	})
}

// thirtyMakes is an authority with thirty makes of twenty labels each.
func thirtyMakes() *lister {
	l := &lister{labels: map[int][]string{}, fail: map[int]error{}}
	for id := 1; id <= 30; id++ {
		l.makes = append(l.makes, catalogue.Make{ID: id, Name: fmt.Sprintf("MAKE %02d", id)})
		for n := range 20 {
			l.labels[id] = append(l.labels[id], fmt.Sprintf("MODEL %02d - AB%d - SUV", n, n))
		}
	}
	return l
}

// catalogueRig syncs with a clock that the test moves.
type catalogueRig struct {
	*lister
	t     *testing.T
	clock *clock
	store *tra.Store
}

func newCatalogueRig(t *testing.T, conn *redisx.Conn) *catalogueRig {
	t.Helper()
	fake := &clock{time.Date(2025, 11, 15, 12, 0, 0, 0, time.UTC)}
	r := &catalogueRig{thirtyMakes(), t, fake, tra.NewStore(conn.Client(), tra.StoreOptions{Now: fake.Now})}
	r.sync(0, 30, 600, "")
	return r
}

// sync syncs after a time and looks at what readers see.
func (r *catalogueRig) sync(after time.Duration, makes, labels int, quarantined string) {
	r.t.Helper()
	r.clock.now = r.clock.now.Add(after)
	report, err := r.store.Sync(r.t.Context(), tra.Lister{Makes: r.Makes, ModelBodies: r.ModelBodies})
	if err != nil || report.Quarantined != quarantined {
		r.t.Fatalf("%+v, %v; want quarantined %q", report, err, quarantined)
	}
	cat, err := r.store.Catalogue(r.t.Context())
	if err != nil || len(cat.Makes()) != makes || cat.Len() != labels {
		r.t.Fatalf("readers see %d makes, %d labels, %v; want %d, %d", len(cat.Makes()), cat.Len(), err, makes, labels)
	}
}

const mostAreMissing = "*: 27 of 30 makes are missing and 0 are new"

func TestAPoisonedListOfMakesIsQuarantinedAndForgotten(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		r := newCatalogueRig(t, conn)
		all := r.makes
		r.makes = all[:3]
		r.sync(6*time.Hour, 30, 600, mostAreMissing)
		r.makes = all
		r.sync(time.Hour, 30, 600, "")
		r.makes = all[:3] // the count starts again
		r.sync(6*time.Hour, 30, 600, mostAreMissing)
		r.sync(time.Hour, 30, 600, mostAreMissing)
	})
}

func TestAChangedListIsTakenWhenTwoLaterSyncsAgree(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		r := newCatalogueRig(t, conn)
		r.makes = r.makes[:3]
		r.sync(6*time.Hour, 30, 600, mostAreMissing)
		r.sync(time.Minute, 30, 600, mostAreMissing) // too soon to count
		r.sync(time.Hour, 30, 600, mostAreMissing)
		r.sync(time.Minute, 30, 600, mostAreMissing)
		r.sync(time.Hour, 3, 60, "")
	})
}

func TestOtherNonsenseDoesNotAgreeWithTheFirst(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		r := newCatalogueRig(t, conn)
		all := r.makes
		for i := range 5 {
			r.makes = all[i : i+3]
			r.sync(2*time.Hour, 30, 600, mostAreMissing)
		}
	})
}

func TestAnOperatorTakesAQuarantinedList(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		r := newCatalogueRig(t, conn)
		r.makes = r.makes[:3]
		r.sync(6*time.Hour, 30, 600, mostAreMissing)
		for _, accept := range []bool{false, true} {
			id, err := r.store.RequestSync(t.Context(), tra.SyncOptions{All: true, Accept: accept})
			if err != nil {
				t.Fatal(err)
			}
			if due, err := r.store.SyncDue(t.Context()); err != nil || !due {
				t.Fatalf("a requested sync is due: %t, %v", due, err)
			}
			if outcome, err := r.store.RequestedSync(t.Context(), id); err != nil || outcome != nil {
				t.Fatalf("before the sync: %+v, %v", outcome, err)
			}
			r.asked = nil
			if accept {
				r.sync(0, 3, 60, "")
			} else {
				r.sync(0, 30, 600, mostAreMissing)
			}
			if !slices.Equal(sorted(r.asked), []int{1, 2, 3}) {
				t.Errorf("a sync by hand asks for the labels of %v", r.asked)
			}
			outcome, err := r.store.RequestedSync(t.Context(), id)
			if err != nil || outcome == nil || outcome.Error != "" || accept != (outcome.Report.Quarantined == "") {
				t.Errorf("after the sync: %+v, %v", outcome, err)
			}
			if due, err := r.store.SyncDue(t.Context()); err != nil || due {
				t.Errorf("due again: %t, %v", due, err)
			}
		}
	})
}

func sorted(ids []int) []int { return slices.Sorted(slices.Values(ids)) }

func TestARequestedSyncThatFailsSaysSo(t *testing.T) {
	t.Parallel()
	conn := redistest.Embedded(t)
	r := newCatalogueRig(t, conn)
	id, err := r.store.RequestSync(t.Context(), tra.SyncOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r.fail[0] = unavailable
	if _, err := r.store.Sync(t.Context(), tra.Lister{Makes: r.Makes, ModelBodies: r.ModelBodies}); err == nil {
		t.Fatal("no error")
	}
	outcome, err := r.store.RequestedSync(t.Context(), id)
	if err != nil || outcome == nil || outcome.Error == "" {
		t.Errorf("%+v, %v", outcome, err)
	}
}

func TestLabelsThatChangeTooMuchAreQuarantined(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		for name, c := range map[string]struct {
			labels      []string
			seen        int // labels of all makes afterwards
			quarantined string
		}{
			"few of one make":       {thirtyMakes().labels[1][:5], 600, "MAKE 01: 15 of 20 labels are missing and 0 are new"},
			"other names":           {[]string{"A - B - C", "D - E - F", "G - H - I", "J - K - L"}, 600, "MAKE 01: 20 of 20 labels are missing and 4 are new"},
			"two of one make less":  {thirtyMakes().labels[1][:18], 598, ""},
			"three of one make new": {append(thirtyMakes().labels[1], "A - B - C", "D - E - F", "G - H - I"), 603, ""},
		} {
			if err := conn.Client().Del(t.Context(), "tra:{catalogue}:makes", "tra:{catalogue}:quarantine").Err(); err != nil {
				t.Fatal(name, err)
			}
			r := newCatalogueRig(t, conn)
			r.labels[1] = c.labels
			r.sync(24*time.Hour, 30, c.seen, c.quarantined)
			r.sync(time.Hour, 30, c.seen, c.quarantined)
		}
	})
}
