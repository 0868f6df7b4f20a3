package match

import (
	"testing"

	"ushuru/pkg/chassis"
	"ushuru/pkg/match/facts"
)

func TestThePrefixDecidesOverTheWord(t *testing.T) {
	for _, c := range []struct {
		word, prefix string
		want         facts.Fuel
	}{
		{"PETROL", "DAA", facts.Hybrid},
		{"PETROL", "DBA", facts.Petrol},
		{"HYBRID", "DBA", facts.Hybrid},
		{"PETROL", "LDA", facts.Diesel},
		{"", "ZAA", facts.Electric},
		{"PETROL", "E", facts.Petrol},
		{"", "", ""},
		{"DIESEL", "3CA", facts.DieselHybrid},
		{"HYBRID", "ZBA", facts.FuelCell},
	} {
		if got := carClass(c.word, chassis.Code{Prefix: c.prefix}, ""); got != c.want {
			t.Errorf("%q with prefix %q is %q, want %q", c.word, c.prefix, got, c.want)
		}
	}
}
