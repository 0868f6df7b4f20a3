package web

import (
	"slices"
	"testing"
)

// The entry that was used stands first, then what it may be, then what sounds like it.
func TestEntriesAreSortedByLikeness(t *testing.T) {
	t.Parallel()
	const (
		used     = "COROLLA AXIO - NKE165 - HYBRID - SEDAN"
		possible = "COROLLA AXIO - NZE161 - SEDAN"
		near     = "COROLLA FIELDER - NKE165 - HYBRID - WAGON"
		nearer   = "COROLLA AXIO - NKE160 - HYBRID - SEDAN"
		far      = "COROLLA - MZEA17"
		farther  = "SUCCEED - NCP160 - WAGON"
	)
	entries := []entry{}
	for _, label := range []string{farther, far, near, nearer, possible, used} {
		entries = append(entries, entry{ModelBody: label})
	}
	sortByLikeness(entries, []string{used, possible})
	got := []string{}
	for _, e := range entries {
		got = append(got, e.ModelBody)
	}
	if want := []string{used, possible, nearer, near, far, farther}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	sortByLikeness(entries, nil) // nothing is known: the order stays
	if entries[0].ModelBody != used {
		t.Errorf("%v", entries)
	}
}
