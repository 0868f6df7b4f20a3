package worker

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"ushuru/pkg/ai"
	"ushuru/pkg/fetch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/match"
	"ushuru/pkg/message"
	"ushuru/pkg/tra"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

func TestFiguresOfASimulatorAreMarked(t *testing.T) {
	t.Parallel()
	for reference, want := range map[string]int{"25264120160": 0, "SIM1": 1} {
		if got := simulated(vehicle.Tax{ReferenceNumber: reference}); len(got) != want {
			t.Errorf("%s: %v", reference, got)
		}
	}
}

// What an error of each part means for the job: its code for the caller, and
// whether the step is tried again.
func TestFailures(t *testing.T) {
	t.Parallel()
	candidates := []vehicle.Candidate{{Make: "TOYOTA", ModelBody: "ALLION - NZT260 - SEDAN"}}
	for name, c := range map[string]struct {
		err       error
		code      string
		permanent bool
		after     time.Duration
	}{
		"a page that is gone":        {pageFailure(&fetch.Error{Notice: message.Notice{Code: "listing_gone", Message: "Gone."}}, &jobs.Job{}, ""), "listing_gone", true, 0},
		"a site that breaks off":     {pageFailure(&fetch.Error{Notice: message.Notice{Code: "fetch_failed"}, Retryable: true, Wait: time.Minute}, &jobs.Job{}, ""), "fetch_failed", false, time.Minute},
		"a car without a match":      {matchFailure(&match.Error{Notice: message.Notice{Code: "no_match"}, Candidates: candidates}, jobs.Bulk, tasks.Subject{}), "no_match", true, 0},
		"an AI that is away":         {matchFailure(&match.Error{Notice: message.Notice{Code: match.AIUnavailable}}, jobs.Interactive, tasks.Subject{}), "ai_unavailable", false, 0},
		"a vehicle without a tax":    {authorityFailure(&tra.Error{Kind: tra.NoSuchVehicle}), "not_listed", true, 0},
		"a worker outside Tanzania":  {authorityFailure(&tra.Error{Kind: tra.Refused}), "authority_refused", false, 0},
		"an authority that is down":  {authorityFailure(&tra.Error{Kind: tra.Unavailable, RetryAfter: time.Minute}), "authority_unavailable", false, time.Minute},
		"an answer that is not one":  {authorityFailure(&tra.Error{Kind: tra.BadAnswer}), "authority_unavailable", false, 0},
		"a certificate that is none": {authorityFailure(&tra.Error{Kind: tra.Certificate}), "authority_unavailable", false, 0},
	} {
		failure, ok := errors.AsType[*tasks.StepError](c.err)
		if !ok || failure.Code != c.code || failure.Permanent != c.permanent || failure.After != c.after {
			t.Errorf("%s: %+v", name, c.err)
		}
	}
	for _, err := range []error{&tra.Error{Kind: tra.Refused}, &tra.ThrottleError{Reason: tra.JustRefused, RetryAfter: time.Minute}} {
		if snooze, ok := errors.AsType[*tasks.SnoozeError](authorityFailure(err)); !ok || snooze.After != refusedDelay {
			t.Errorf("a refusal must leave the step to other workers and cost no retry: %+v", snooze)
		}
	}
	gate, ok := errors.AsType[*tasks.SnoozeError](authorityFailure(&tra.ThrottleError{RetryAfter: time.Second}))
	if !ok || gate.After != time.Second {
		t.Errorf("a closed gate: %+v", gate)
	}
	waits, ok := errors.AsType[*tasks.SnoozeError](matchFailure(&match.Error{Notice: message.Notice{Code: match.AIUnavailable}}, jobs.Bulk, tasks.Subject{}))
	if !ok || waits.After != time.Minute || tasks.JobError(waits).Code != match.AIUnavailable {
		t.Errorf("a batch row does not wait for the AI: %+v", waits)
	}
	for name, c := range map[string]struct {
		cause error
		brief bool
	}{
		"failed once":           {&ai.Error{Kind: ai.Unavailable, RetryAfter: time.Second}, true},
		"failed twice":          {&ai.Error{Kind: ai.Unavailable, RetryAfter: 2 * time.Second}, false},
		"does not answer":       {&ai.Error{Kind: ai.Timeout, RetryAfter: time.Second}, false},
		"wants another key":     {&ai.Error{Kind: ai.Misconfigured, RetryAfter: time.Minute}, false},
		"has used up its day":   {&ai.BudgetError{}, false},
		"cannot be asked yet":   {errors.New("Redis does not answer"), true},
		"sends what is no JSON": {&ai.Error{Kind: ai.NotJSON, RetryAfter: time.Second}, true},
	} {
		if got := isBriefFailure(c.cause); got != c.brief {
			t.Errorf("an AI that %s: a person waits for it: got %t, want %t", name, got, c.brief)
		}
	}
	refused, _ := errors.AsType[*tasks.StepError](matchFailure(&match.Error{
		Notice: message.Notice{Code: "ambiguous_match", Message: "TRA lists no such make."}, Candidates: candidates,
	}, jobs.Interactive, tasks.Subject{Car: vehicle.Car{Make: "LADA"}}))
	if want := "TRA lists no such make."; refused.Message != want {
		t.Errorf("%s, want %s", refused.Message, want)
	}
	var got tasks.Refusal
	err := json.Unmarshal(refused.Details, &got)
	if err != nil || len(got.Candidates) != 1 || got.Candidates[0] != candidates[0] || got.Car.Make != "LADA" {
		t.Errorf("candidates: %s, %v", refused.Details, err)
	}
	plain := errors.New("broken pipe")
	for _, failure := range []func(error) error{func(err error) error { return pageFailure(err, &jobs.Job{}, "") }, func(err error) error { return matchFailure(err, jobs.Bulk, tasks.Subject{}) }, authorityFailure} {
		if err := failure(plain); tasks.JobError(err).Code != "internal" || !errors.Is(err, plain) {
			t.Errorf("an error of another kind became %v", err)
		}
	}
}
