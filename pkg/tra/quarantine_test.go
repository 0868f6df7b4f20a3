package tra_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/tra"
	"ushuru/pkg/tra/catalogue"
)

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
