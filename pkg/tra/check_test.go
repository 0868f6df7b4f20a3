package tra_test

import (
	"testing"

	"ushuru/pkg/tra"
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
