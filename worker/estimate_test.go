package worker

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"ushuru/pkg/ai"
	"ushuru/pkg/cache"
	"ushuru/pkg/cost"
	"ushuru/pkg/fetch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/localtime"
	"ushuru/pkg/match"
	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/tra"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/tra/tratest"
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

// pricedLabels are the answers of an authority that lists every label, and knows
// the taxes of some.
type pricedLabels map[string]string

func (pricedLabels) List(_ context.Context, _ catalogue.Make, v catalogue.Vehicle) ([]string, error) {
	switch {
	case v.YOM == 0:
		return []string{"2018"}, nil
	case v.Country == "":
		return []string{"JAPAN"}, nil
	case v.FuelType == "":
		return []string{"PETROL & ELECTRIC"}, nil
	}
	return []string{"1001 - 1500 CC"}, nil
}

func (p pricedLabels) Details(_ context.Context, _ catalogue.Make, v catalogue.Vehicle) (tra.Calculation, error) {
	text, ok := p[v.ModelBody]
	if !ok {
		return tra.Calculation{}, tra.ErrNotKnown
	}
	total, err := money.Parse(text)
	return tra.Calculation{Tax: vehicle.Tax{TotalTaxesInTZS: total}}, err
}

func TestARefusalHasTheCarAndPrices(t *testing.T) {
	t.Parallel()
	nissan := catalogue.Make{ID: 1, Name: "NISSAN"}
	refused := func() (*match.Error, []match.Choice) {
		var candidates []vehicle.Candidate
		var choices []match.Choice
		for _, label := range []string{"NOTE - HE12 - HATCHBACK", "NOTE - E12 - HATCHBACK"} {
			candidates = append(candidates, vehicle.Candidate{Make: nissan.Name, ModelBody: label})
			choices = append(choices, match.Choice{Make: nissan, Label: label, MatchedBy: vehicle.ByCaller})
		}
		return &match.Error{Notice: message.Notice{Code: match.AmbiguousMatch, Message: "several fit"}, Candidates: candidates}, choices
	}
	car := vehicle.Car{Make: "NISSAN", Model: "NOTE", Year: 2018, EngineCC: 1198, Fuel: "HYBRID", Images: []string{"https://x"}}
	job := &jobs.Job{Class: jobs.Interactive}
	half := pricedLabels{"NOTE - HE12 - HATCHBACK": "9,000.00"}
	all := pricedLabels{"NOTE - HE12 - HATCHBACK": "9,000.00", "NOTE - E12 - HATCHBACK": "7,000.00"}
	prices := func(err error) (totals []string) {
		t.Helper()
		failure, ok := errors.AsType[*tasks.StepError](err)
		var found tasks.Refusal
		if !ok || json.Unmarshal(failure.Details, &found) != nil || found.Car == nil || found.Car.Model != "NOTE" ||
			len(found.Car.Images) > 0 {
			t.Fatalf("%v: %+v", err, found)
		}
		for _, c := range found.Candidates {
			total := ""
			if c.TotalTaxesInTZS != nil {
				total = c.TotalTaxesInTZS.String()
			}
			totals = append(totals, total)
		}
		return totals
	}

	why, choices := refused()
	_, err := refuse(t.Context(), job, tasks.Subject{Car: car}, why, choices, half)
	if got := prices(err); len(got) != 2 || got[0] != "9,000.00" || got[1] != "" {
		t.Errorf("known prices: %q", got)
	}
	why, choices = refused()
	output, err := refuse(t.Context(), job, tasks.Subject{Car: car, PriceCandidates: true}, why, choices, half)
	waiting, ok := output.(matchOutput)
	if err != nil || !ok || waiting.Refused == nil {
		t.Fatalf("%+v, %v, want the step calculate to price the rest", output, err)
	}
	if err := waiting.Refused.price(t.Context(), car, half); !errors.Is(err, tra.ErrNotKnown) {
		t.Errorf("a price is missing, and the error is %v", err)
	}
	if err := waiting.Refused.price(t.Context(), car, all); err != nil || waiting.Refused.Candidates[1].TotalTaxesInTZS.String() != "7,000.00" {
		t.Errorf("%v, %+v", err, waiting.Refused.Candidates)
	}
	why, choices = refused()
	_, err = refuse(t.Context(), job, tasks.Subject{Car: car, PriceCandidates: true}, why, choices, all)
	if got := prices(err); len(got) != 2 || got[1] != "7,000.00" {
		t.Errorf("all prices known: %q", got)
	}
}

// A worker of the role authority uses expired figures when its own call fails while no
// worker is answered, and only then.
func TestTheAuthorityRoleFallsBackToExpiredFigures(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		server := tratest.Start(t, tratest.Options{})
		client, err := tra.NewClient(tra.Options{BaseURL: server.URL})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		store := tra.NewStore(conn.Client(), tra.StoreOptions{})
		authority := tra.NewAuthority(client, store, tra.AuthorityOptions{})
		if _, err := store.Sync(t.Context(), tra.Lister{Makes: authority.Makes, ModelBodies: authority.ModelBodies}); err != nil {
			t.Fatal(err)
		}
		job := matchedQuote(t, store)
		run := func(reason string) (e vehicle.Estimate, err error) {
			t.Helper()
			outages := tra.NewOutages(func(context.Context) (tra.Status, error) {
				return tra.Status{Outage: tra.Outage{Reason: reason}}, nil
			})
			// A new authority has a closed breaker and no list in memory.
			fresh := tra.NewStore(conn.Client(), tra.StoreOptions{})
			again := tra.NewAuthority(client, fresh, tra.AuthorityOptions{})
			step := calculate(again, staleAnswers{fresh.Stale(), outages}, cost.Embedded(), pace.NewProcessor(2), nil)
			result, err := step(t.Context(), job)
			if err != nil {
				return e, err
			}
			data, err := json.Marshal(result)
			return e, errors.Join(err, json.Unmarshal(data, &e))
		}
		first, err := run("")
		if err != nil || first.Stale {
			t.Fatalf("%+v, %v", first, err)
		}
		if err := conn.Client().Set(t.Context(), "tra:period", 99999, 0).Err(); err != nil { // the figures expire
			t.Fatal(err)
		}
		for _, c := range []struct {
			faults tratest.Faults
			reason string
		}{
			{tratest.Faults{Status: 503}, "unavailable"}, {tratest.Faults{RefuseRegion: true}, "refused"},
		} {
			server.SetFaults(c.faults)
			if e, err := run(""); err == nil {
				t.Errorf("%s: %+v although another worker may be answered", c.reason, e.Tax)
			}
			e, err := run(c.reason)
			if err != nil || !e.Stale || e.Tax.ReferenceNumber != first.Tax.ReferenceNumber || e.AsOf != first.AsOf {
				t.Errorf("%s: stale %t, %+v, %v", c.reason, e.Stale, e.Tax, err)
			}
		}
		server.SetFaults(tratest.Faults{})
		if e, err := run("unavailable"); err != nil || e.Stale {
			t.Errorf("answered again: stale %t, %v", e.Stale, err)
		}
	})
}

// matchedQuote is the record of a quote that waits for its calculation.
func matchedQuote(t *testing.T, store *tra.Store) *jobs.Job {
	t.Helper()
	input, err := json.Marshal(vehicle.QuoteInput{
		Make: "TOYOTA", ModelCode: "NKE165", Year: 2015, ModelBody: "COROLLA FIELDER - NKE165 - HYBRID - WAGON",
	})
	if err != nil {
		t.Fatal(err)
	}
	job := &jobs.Job{Kind: tasks.KindQuote, Class: jobs.Interactive, Input: input, Outputs: map[string]json.RawMessage{}}
	found, err := matchLabel(store, nil, match.New(match.Options{}), nil)(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	if job.Outputs[tasks.StepMatch], err = json.Marshal(found); err != nil {
		t.Fatal(err)
	}
	return job
}

func TestAnEstimateHoldsAtMostUntilItsQuarterEndsInDarEsSalaam(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, now, then, want string }{
		{"14 days", "2026-11-02T10:00:00Z", "2026-11-02T10:00:00Z", "2026-11-16T13:00:00+03:00"},
		{"14 days, of figures known for long", "2026-11-02T10:00:00Z", "2026-10-01T10:00:00Z", "2026-11-16T13:00:00+03:00"},
		{"up to New Year", "2026-12-20T10:00:00Z", "2026-12-20T10:00:00Z", "2027-01-01T00:00:00+03:00"},
		{"the last second of the year", "2026-12-31T20:59:59Z", "2026-12-31T20:59:59Z", "2027-01-01T00:00:00+03:00"},
		{"the first of the next", "2026-12-31T21:00:00Z", "2026-12-31T21:00:00Z", "2027-01-15T00:00:00+03:00"},
		{"figures of the old year in the new one", "2026-12-31T21:00:01Z", "2026-12-31T20:59:58Z", "2027-01-01T00:00:00+03:00"},
		{"the last second of a quarter", "2026-09-30T20:59:59Z", "2026-09-30T20:59:59Z", "2026-10-01T00:00:00+03:00"},
		{"stale figures", "2026-11-02T10:00:00Z", "2026-08-02T10:00:00Z", "2026-10-01T00:00:00+03:00"},
	} {
		now, err1 := time.Parse(time.RFC3339, c.now)
		then, err2 := time.Parse(time.RFC3339, c.then)
		if got := localtime.Stamp(validUntil(now, then)); err1 != nil || err2 != nil || got != c.want {
			t.Errorf("%s: %s, want %s; %v %v", c.name, got, c.want, err1, err2)
		}
	}
}

func TestNoAnswerIsKeptPastItsValidity(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		results := cache.New(conn.Client())
		cached := &resultCache{results}
		for _, kind := range []string{tasks.KindEstimate, tasks.KindQuote} {
			for left, kept := range map[time.Duration]bool{-time.Second: false, time.Hour: true} {
				input, err := json.Marshal(map[string]string{"url": "https://cars.example/" + left.String(), "make": left.String()})
				if err != nil {
					t.Fatal(err)
				}
				job := &jobs.Job{Kind: kind, Input: input}
				until := time.Now().Add(left)
				result, err := json.Marshal(vehicle.Estimate{ValidUntil: localtime.Stamp(until)})
				if err != nil {
					t.Fatal(err)
				}
				begun := time.Now()
				if err := cached.put(t.Context(), job, result); err != nil {
					t.Fatal(err)
				}
				key, err := tasks.ResultKey(kind, input)
				if err != nil {
					t.Fatal(err)
				}
				data, err := results.Get(t.Context(), key)
				if kept != (data != nil) || err != nil {
					t.Errorf("%s, %v left: %v", kind, left, err)
				}
				life, err := conn.Client().PTTL(t.Context(), string(key)).Result()
				if err != nil || kept && (life <= 0 || begun.Add(life).After(until)) {
					t.Errorf("%s is kept for %v of %v, %v", kind, life, left, err)
				}
			}
		}
	})
}
