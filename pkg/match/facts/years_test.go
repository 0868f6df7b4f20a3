package facts

import (
	"testing"

	"ushuru/pkg/chassis"
)

func TestCodeYears(t *testing.T) {
	for code, want := range map[string][2]int{
		"SXE10": {1998, 2005}, "NZE121": {2000, 2006}, "XYZ99": {0, 0}, "": {0, 0},
	} {
		from, to := CodeYears(chassis.Code{Code: code})
		if got := [2]int{from, to}; got != want {
			t.Errorf("%s was built %v, want %v", code, got, want)
		}
	}
}
