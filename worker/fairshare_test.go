package worker

import (
	"fmt"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"ushuru/pkg/batch"
)

func TestShares(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		open   []batch.ActiveBatch
		window int
		want   map[string]int
	}{
		"no batch waits":      {[]batch.ActiveBatch{{ID: "a", Running: 3}}, 10, map[string]int{}},
		"one alone has all":   {[]batch.ActiveBatch{{ID: "a", Waiting: 100}}, 10, map[string]int{"a": 10}},
		"the window is full":  {[]batch.ActiveBatch{{ID: "a", Waiting: 100, Running: 10}}, 10, map[string]int{}},
		"parked ones":         {[]batch.ActiveBatch{{ID: "a", Waiting: 100, Running: 20, Parked: 17}}, 10, map[string]int{"a": 7}},
		"too many parked":     {[]batch.ActiveBatch{{ID: "a", Waiting: 100, Running: 104, Parked: 104}}, 10, map[string]int{"a": 6}},
		"and more than full":  {[]batch.ActiveBatch{{ID: "a", Waiting: 100, Running: 20}}, 10, map[string]int{}},
		"half each":           {[]batch.ActiveBatch{{ID: "a", Owner: "x", Waiting: 100}, {ID: "b", Owner: "y", Waiting: 100}}, 10, map[string]int{"a": 5, "b": 5}},
		"a small one first":   {[]batch.ActiveBatch{{ID: "a", Owner: "x", Waiting: 100}, {ID: "b", Owner: "y", Waiting: 2}}, 10, map[string]int{"a": 8, "b": 2}},
		"and another comes":   {[]batch.ActiveBatch{{ID: "a", Owner: "x", Waiting: 100, Running: 20}, {ID: "b", Owner: "y", Waiting: 9}}, 20, map[string]int{"b": 2}},
		"who has less":        {[]batch.ActiveBatch{{ID: "a", Owner: "x", Waiting: 100, Running: 8}, {ID: "b", Owner: "y", Waiting: 100}}, 10, map[string]int{"b": 2}},
		"by key, not batches": {[]batch.ActiveBatch{{ID: "a", Owner: "x", Waiting: 9}, {ID: "b", Owner: "x", Waiting: 9}, {ID: "c", Owner: "y", Waiting: 9}}, 8, map[string]int{"a": 2, "b": 2, "c": 4}},
		"in turn":             {[]batch.ActiveBatch{{ID: "later", Owner: "x", Waiting: 9}, {ID: "just now", Owner: "y", Waiting: 9}}, 1, map[string]int{"later": 1}},
		"ended ones":          {[]batch.ActiveBatch{{ID: "a", Ended: true}, {ID: "b", Missing: true}}, 5, map[string]int{}},
	} {
		if got := fairShares(c.open, c.window); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Whatever waits: the window is exceeded only for keys with less than what is reserved
// for them, and is full while a row waits;
// and no waiting key has two running rows fewer than another key got.
func TestSharesAreFair(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		open := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) batch.ActiveBatch {
			return batch.ActiveBatch{
				Owner:   rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "owner"),
				Waiting: rapid.IntRange(0, 20).Draw(t, "waiting"), Running: rapid.IntRange(0, 20).Draw(t, "running"),
			}
		}), 0, 8).Draw(t, "open")
		for i := range open {
			open[i].ID = strconv.Itoa(i)
		}
		window := rapid.IntRange(0, 60).Draw(t, "window")
		shares := fairShares(open, window)
		running, waiting, given := 0, 0, 0
		ofKey, got, left := map[string]int{}, map[string]int{}, map[string]int{}
		for _, b := range open {
			n := shares[b.ID]
			if n > b.Waiting {
				t.Fatalf("%d of %d that wait", n, b.Waiting)
			}
			running += b.Running
			waiting += b.Waiting
			given += n
			ofKey[b.Owner] += b.Running + n
			got[b.Owner] += n
			left[b.Owner] += b.Waiting - n
		}
		reserved := 0 // for keys whose rows wait while others fill the window
		for owner, n := range left {
			if least := min(window/reservedPart, ofKey[owner]+n); ofKey[owner] < least {
				t.Fatalf("%s has %d, want at least %d", owner, ofKey[owner], least)
			}
			if got[owner] > 0 && ofKey[owner] <= window/reservedPart {
				reserved += got[owner]
			}
		}
		if least := max(min(window-running, waiting), 0); given < least || given > least+reserved {
			t.Fatalf("%d given, want %d, and at most %d more", given, least, reserved)
		}
		for poor := range left {
			for rich := range got {
				if left[poor] > 0 && got[rich] > 0 && ofKey[rich] > ofKey[poor]+1 {
					t.Fatalf("%s has %d and got %d; %s has %d and waits", rich, ofKey[rich], got[rich], poor, ofKey[poor])
				}
			}
		}
	})
}
