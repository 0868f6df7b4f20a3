package e2e

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// What is not known of a model is requested once, and then read from
// Redis only: the years, their taxes and which is the cheapest.
func TestTaxesByYear(t *testing.T) {
	t.Parallel()
	const label = "COROLLA FIELDER - NKE165 - HYBRID - WAGON"
	s := newStack(t, redistest.Open(t, redistest.Start(t).URL))
	stop := s.work(tasks.Roles...)
	path := "/v1/vehicles/" + url.PathEscape(label) + "/years"
	var found vehicle.ModelYears
	read := func(query string, statuses ...int) {
		t.Helper()
		found = vehicle.ModelYears{}
		var got answer
		testenv.Await(t, "the catalogue", func() (any, bool) {
			got = s.do(http.MethodGet, path+query, nil)
			return got.status, got.status != http.StatusServiceUnavailable // until it is synced
		})
		if !slices.Contains(statuses, got.status) {
			t.Fatalf("status %d, want %v: %s", got.status, statuses, got.body)
		}
		must(t, json.Unmarshal(got.body, &found))
	}
	if read("", http.StatusOK); found.Listed || len(found.Years)+found.Pending+found.Unknown > 0 {
		t.Errorf("before any answer: %+v", found)
	}

	status, out, errs := s.asked("years", label, "--refresh", "--cheapest-first")
	must(t, json.Unmarshal([]byte(out), &found))
	if status != console.ExitOK || !found.Listed || found.Unknown != 0 || found.Pending != 0 || len(found.Years) < 3 || !found.Years[0].Cheapest {
		t.Fatalf("%d %s %s", status, out, errs)
	}
	for i, year := range found.Years {
		if !year.Known || year.Country == "" || year.CapacityBand == "" || year.AsOf == "" || year.TotalTaxesInUSD == nil ||
			year.OnLanding.TotalTaxesInTZS.Decimal().LessThan(year.TotalTaxesInTZS.Decimal()) ||
			i > 0 && year.OnLanding.TotalTaxesInTZS.Decimal().LessThan(found.Years[i-1].OnLanding.TotalTaxesInTZS.Decimal()) {
			t.Errorf("%+v", year)
		}
	}

	stop()
	calls := s.authority.Counts()
	read("?make=toyota", http.StatusOK)
	for i, year := range found.Years {
		got := s.do(http.MethodPost, "/v1/quote", map[string]any{"make": "Toyota", "modelBody": label, "year": year.YOM})
		if estimate := got.estimate(t); !estimate.Cached || estimate.Tax.TotalTaxesInTZS.String() != year.TotalTaxesInTZS.String() ||
			i > 0 && year.YOM >= found.Years[i-1].YOM {
			t.Errorf("%+v; its quote has %s", year, estimate.Tax.TotalTaxesInTZS)
		}
	}
	if after := s.authority.Counts(); !maps.Equal(after.Calls, calls.Calls) {
		t.Error("what is known was requested again")
	}
}
