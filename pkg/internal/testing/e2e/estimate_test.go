package e2e

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/cli"
	"ushuru/pkg/cli/console"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// asked runs a command that asks the API of a stack.
func (s *stack) asked(args ...string) (status int, out, errs string) {
	s.t.Helper()
	var stdout, stderr bytes.Buffer
	status = cli.Main(s.t.Context(), append(args, "--url", s.base, "--key", s.key, "--log-level", "error"), cli.Streams{Out: &stdout, Err: &stderr})
	return status, stdout.String(), stderr.String()
}

func TestCommandsThatAskTheAPI(t *testing.T) {
	t.Parallel()
	s := newStack(t, redistest.Open(t, redistest.Start(t).URL))
	s.work(tasks.Roles...)

	status, out, errs := s.asked("estimate", s.car(0), "--rate", "2500")
	var estimate vehicle.Estimate
	if err := json.Unmarshal([]byte(out), &estimate); status != console.ExitOK || err != nil || estimate.DriveAway.Exchange.Others.String() != "2500" {
		t.Fatalf("%d %v %s %s", status, err, out, errs)
	}
	if estimate.AsOf == "" || !strings.HasSuffix(estimate.ValidUntil, "+03:00") {
		t.Errorf("of %q until %q", estimate.AsOf, estimate.ValidUntil)
	}
	for lang, total := range map[string]string{"en": "GRAND TOTAL", "sw": "JUMLA KUU"} {
		if status, out, errs := s.asked("estimate", s.car(0), "--table", "--lang", lang); status != console.ExitOK || !strings.Contains(out, total) {
			t.Errorf("%s: %d %s %s", lang, status, out, errs)
		}
	}

	// The table begins with the number to act on, and the caller's own terms count.
	status, out, errs = s.asked("estimate", s.car(0), "--table", "--cost", "freightUSD=900",
		"--landing", time.Now().Format(time.DateOnly)+".."+time.Now().AddDate(0, 0, 20).Format(time.DateOnly), "--cost", "inspection=false", "--target", "25000000")
	head, _, _ := strings.Cut(out, "GRAND TOTAL")
	for _, want := range []string{
		"until the car is on the road in Dar es Salaam, landing between ", "Car and shipping", "Taxes and fees",
		"Ask the seller before you pay:\n  1. ", "Price for TSh 25 million", "900.00",
	} {
		if status != console.ExitOK || !strings.Contains(head, want) || strings.Contains(out, "Inspection ") {
			t.Errorf("%d: no %q in\n%s%s", status, want, out, errs)
		}
	}
	for flag, value := range map[string]string{"--landing": "tomorrow", "--cost": "freight=1", "--target": "much"} {
		if status, out, _ := s.asked("estimate", s.car(0), flag, value); status == console.ExitOK {
			t.Errorf("%s %s: %s", flag, value, out)
		}
	}

	described := []string{
		"quote", "--make", "toyota", "--model", "corolla fielder", "--model-code", "DAA-NKE165", "--year", "2016",
		"--engine-cc", "1500", "--fuel", "hybrid", "--fob", "6180",
	}
	var quote vehicle.Quote
	status, out, errs = s.asked(described...)
	if err := json.Unmarshal([]byte(out), &quote); status != console.ExitOK || err != nil || quote.Cached || quote.Input.ModelCode != "NKE165" ||
		quote.Matched.ModelBody != "COROLLA FIELDER - NKE165 - HYBRID - WAGON" || strings.Contains(out, "listing") || strings.Contains(out, "angazo") {
		t.Fatalf("%d %v %s %s", status, err, out, errs)
	}
	if _, out, _ := s.asked(described...); !strings.Contains(out, `"cached": true`) {
		t.Errorf("the second answer did not come from the cache: %s", out)
	}

	status, _, errs = s.asked("quote", "--make", "toyota", "--model", "no such car", "--year", "2016")
	if status != console.ExitRefused || !strings.Contains(errs, `"code": "no_match"`) || !strings.Contains(errs, "The description gives") {
		t.Errorf("%d %s", status, errs)
	}
	status, _, errs = s.asked("quote", "--make", "toyota", "--model", "vitz", "--year", "2016", "--fob", "cheap")
	if status != console.ExitUsage || !strings.Contains(errs, "--fob") {
		t.Errorf("%d %s", status, errs)
	}
	if status, _, errs = s.asked("quote", "--model", "vitz"); status != console.ExitUsage || !strings.Contains(errs, "--make") {
		t.Errorf("%d %s", status, errs)
	}
}
