package estimates

import (
	"encoding/json"
	"log/slog"
	"os"
	"testing"

	"ushuru/api/apitest"
	"ushuru/pkg/cost"
	"ushuru/pkg/pace"
	"ushuru/pkg/sheet/scan"
	"ushuru/pkg/vehicle"
)

// newResource returns the Resource of an API process.
func newResource(t *testing.T) (*Resource, *apitest.Parts) {
	t.Helper()
	p := apitest.New(t, pace.Limits{})
	hosts, err := scan.NewHosts("p3.aucneostation.com")
	if err != nil {
		t.Fatal(err)
	}
	return New(Options{
		Tasks: p.Tasks, Jobs: p.Jobs, Cache: p.Cache, Hub: p.Hub, Costs: cost.Embedded(), Sheets: hosts, Limits: p.Limits, Work: p.Work,
		Streams: p.Streams, Log: slog.New(slog.DiscardHandler),
	}), p
}

// estimateJSON is the estimate of testdata.
func estimateJSON(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../testdata/estimate.json")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// estimateOf is the estimate of testdata as that of a listing.
func estimateOf(t *testing.T, url string) (e vehicle.Estimate) {
	t.Helper()
	if err := json.Unmarshal([]byte(estimateJSON(t)), &e); err != nil {
		t.Fatal(err)
	}
	e.Input.URL = url
	return e
}
