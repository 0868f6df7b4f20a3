package worker

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"ushuru/pkg/jobs"
	"ushuru/pkg/match"
	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/tra"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

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
