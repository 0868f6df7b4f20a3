package duty

import (
	"strings"
	"testing"
	"time"

	"ushuru/pkg/localtime"
)

func TestEveryRuleOfEverySetHasEvidence(t *testing.T) {
	grades := "primary observed secondary inferred"
	for _, set := range sets {
		for _, rule := range []string{
			"import_duty", "excise", "no_excise_fuels", "age_excise", "no_age_excise_fuels", "age_base", "processing_fee",
			"railway_levy", "industrial_levy", "vat", "fees_in_vat", "hiv_levy", "registration",
		} {
			e, ok := set.Evidence[rule]
			if !ok || e.Source == "" || !strings.Contains(grades, e.Grade) || e.Grade == "" {
				t.Errorf("%s: %s has evidence %+v", set.From, rule, e)
			}
		}
	}
}

func TestTheSetOf2026SaysWhatItCarriesOn(t *testing.T) {
	before, after := On(time.Date(2026, 6, 30, 12, 0, 0, 0, localtime.Zone)), On(time.Date(2026, 7, 1, 12, 0, 0, 0, localtime.Zone))
	if before.From != "2025-07-01" || after.From != "2026-07-01" {
		t.Fatalf("sets %s and %s", before.From, after.From)
	}
	if after.AgeBase != before.AgeBase || !strings.Contains(after.Evidence["age_base"].Note, "unverified") {
		t.Errorf("base %s, evidence %+v", after.AgeBase, after.Evidence["age_base"])
	}
	if !after.AgeExcise[0].Rate.Equal(before.AgeExcise[0].Rate) ||
		!strings.Contains(after.Evidence["age_excise"].Note, "no rate is given under 8 years") {
		t.Errorf("under 8 years: %+v, evidence %+v", after.AgeExcise[0], after.Evidence["age_excise"])
	}
	if before.Evidence["age_base"].Grade != "observed" {
		t.Errorf("the evidence of the set before was overwritten: %+v", before.Evidence["age_base"])
	}
}

func TestASetDoesNotWriteIntoTheOneBefore(t *testing.T) {
	loaded, _, err := load([]byte(`{"checked": "2002-01-01", "sets": [
		{"from": "2001-01-01", "registration": [{"cc_max": 500, "tzs": "1"}, {"cc_max": 1000, "tzs": "2"}, {"tzs": "3"}]},
		{"from": "2002-01-01", "registration": [{"cc_max": 800, "tzs": "8"}, {"tzs": "9"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	first, second := loaded[0].Registration, loaded[1].Registration
	if len(first) != 3 || *first[0].CCMax != 500 || *first[1].CCMax != 1000 {
		t.Errorf("first set changed: %+v", first)
	}
	if len(second) != 2 || *second[0].CCMax != 800 || second[1].CCMax != nil {
		t.Errorf("second set wrong: %+v", second)
	}
}

func TestLoadRefusesBrokenRules(t *testing.T) {
	for name, file := range map[string]string{
		"no sets":         `{"checked": "2002-01-01", "sets": []}`,
		"not JSON":        `sets`,
		"no date":         `{"checked": "2002-01-01", "sets": [{}]}`,
		"unknown rule":    `{"checked": "2002-01-01", "sets": [{"from": "2001-01-01", "exise": []}]}`,
		"dates backwards": `{"checked": "2002-01-01", "sets": [{"from": "2002-01-01"}, {"from": "2001-01-01"}]}`,
		"a repeated date": `{"checked": "2002-01-01", "sets": [{"from": "2002-01-01"}, {"vat": "0.2"}]}`,
		"never checked":   `{"sets": [{"from": "2001-01-01"}]}`,
	} {
		if _, _, err := load([]byte(file)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
