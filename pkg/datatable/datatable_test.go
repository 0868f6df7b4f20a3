package datatable_test

import (
	"reflect"
	"testing"

	"ushuru/pkg/datatable"
)

func TestRowsAreThoseBelowTheHeader(t *testing.T) {
	t.Parallel()
	got := datatable.Rows("# a remark\nname,means\nA,\"one, two\"\n# another\nB,\n")
	want := [][]string{{"A", "one, two"}, {"B", ""}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestABrokenTablePanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("got no panic, want one: a row has too many cells")
		}
	}()
	datatable.Rows("name,means\nA,one,two\n")
}

func TestTheLastCellOfALineMayHoldCommas(t *testing.T) {
	t.Parallel()
	got := datatable.Lines("# a remark\n\npart,\\d{1,2} wheels?\n  sole,rims\n", 2)
	want := [][]string{{"part", `\d{1,2} wheels?`}, {"sole", "rims"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestALineWithTooFewCellsPanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("got no panic, want one: a line has too few cells")
		}
	}()
	datatable.Lines("part\n", 2)
}
