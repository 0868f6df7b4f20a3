package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

func TestARefusalShowsTheCarTheCandidatesAndWhatToDo(t *testing.T) {
	t.Parallel()
	s := newStack(t, redistest.Open(t, redistest.Start(t).URL))
	s.work(tasks.Roles...)
	const code = "NOTE - HE12 - HATCHBACK"
	page := s.site + "/stock/nissan-note/9200003" // an e-POWER with the code of the petrol car

	status, out, errs := s.asked("estimate", page)
	var body vehicle.Error
	if err := json.Unmarshal([]byte(errs), &body); status != console.ExitRefused || err != nil || out != "" {
		t.Fatalf("%d %v %s %s", status, err, out, errs)
	}
	if body.Car == nil || body.Car.Make != "NISSAN" || body.Car.Year == 0 || len(body.Candidates) == 0 || body.Candidates[0].ModelBody != code {
		t.Errorf("as JSON: %s", errs)
	}

	status, out, errs = s.asked("estimate", page, "--table", "--price-candidates")
	if status != console.ExitRefused || out != "" {
		t.Fatalf("%d %s %s", status, out, errs)
	}
	for _, want := range []string{
		"NISSAN NOTE", "1198 cc", "  1  NISSAN: " + code, "petrol hybrid, 2012 – 2020, similar code, taxes TZS ",
		"similar chassis code, same model", "--model-body '" + code + "'",
	} {
		if !strings.Contains(errs, want) {
			t.Errorf("the text lacks %q:\n%s", want, errs)
		}
	}
	if _, _, errs := s.asked("estimate", page, "--table", "--lang", "sw"); !strings.Contains(errs, "msimbo unaofanana") {
		t.Errorf("in Kiswahili:\n%s", errs)
	}
	status, out, errs = s.asked("estimate", page, "--table", "--model-body", code) // what the refusal says
	if status != console.ExitOK || !strings.Contains(out, code) {
		t.Errorf("the chosen one: %d %s %s", status, out, errs)
	}

	status, _, errs = s.asked("quote", "--table", "--make", "nissan", "--model", "note e-power", "--model-code", "E12",
		"--year", "2017", "--engine-cc", "1198", "--fuel", "hybrid")
	if status != console.ExitRefused || !strings.Contains(errs, code) || !strings.Contains(errs, "2017, 1198 cc, HYBRID") {
		t.Errorf("a quote: %d %s", status, errs)
	}
	status, _, errs = s.asked("estimate", "--table", s.site+"/stock/toyota-roomy/9200004")
	if status != console.ExitRefused || !strings.Contains(errs, `--known '{"year": 2016}'`) {
		t.Errorf("without a year: %d %s", status, errs)
	}
}
