package duty

import (
	"strings"
	"testing"
	"time"

	"ushuru/pkg/localtime"
)

func TestEveryRuleOfEverySetHasEvidence(t *testing.T) {
	grades := "primary observed secondary inferred"
	for _, set := range current.inForce {
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
	law, err := load([]byte(`{"checked": "2002-01-01", "sets": [
		{"from": "2001-01-01", "registration": [{"cc_max": 500, "tzs": "1"}, {"cc_max": 1000, "tzs": "2"}, {"tzs": "3"}]},
		{"from": "2002-01-01", "registration": [{"cc_max": 800, "tzs": "8"}, {"tzs": "9"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	first, second := law.inForce[0].Registration, law.inForce[1].Registration
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
		"a strange state": `{"checked": "2002-01-01", "sets": [{"from": "2001-01-01"}, {"from": "2003-01-01", "state": "likely"}]}`,
		"no evidence":     `{"checked": "2002-01-01", "sets": [{"from": "2001-01-01"}, {"from": "2003-01-01", "state": "announced"}]}`,
		"nothing before":  `{"checked": "2002-01-01", "sets": [{"from": "2001-01-01", "state": "stayed", "evidence": {"state": {"grade": "secondary", "source": "x"}}}]}`,
	} {
		if _, err := load([]byte(file)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// Rules that are announced or stayed are not in force, and later ones do not stand on them.
func TestRulesThatAreNotInForce(t *testing.T) {
	t.Parallel()
	law, err := load([]byte(`{"checked": "2002-01-01", "sets": [
		{"from": "2001-01-01", "vat": "0.18", "processing_fee": "0.006"},
		{"from": "2002-01-01", "state": "stayed", "vat": "0.25", "evidence": {"state": {"grade": "secondary", "source": "a court"}}},
		{"from": "2003-07-01", "state": "announced", "vat": "0.20", "evidence": {"state": {"grade": "secondary", "source": "a budget speech"}}},
		{"from": "2003-01-01", "processing_fee": "0.01"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	day := func(date string) time.Time {
		at, err := time.ParseInLocation(time.DateOnly, date, localtime.Zone)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	for date, want := range map[string]string{"2002-06-01": "0.18 0.006", "2003-02-01": "0.18 0.01", "2004-01-01": "0.18 0.01"} {
		if r := law.On(day(date)); r.VAT.String()+" "+r.ProcessingFee.String() != want {
			t.Errorf("%s: got VAT %s and fee %s, want %s", date, r.VAT, r.ProcessingFee, want)
		}
	}
	if early, late := law.Announced(day("2003-06-30")), law.Announced(day("2003-07-01")); len(early) > 0 || len(late) != 1 || late[0].VAT.String() != "0.2" {
		t.Errorf("got %v announced before and %v on the day, want none and one", early, late)
	}
	if got := law.Changes(day("2002-06-01"), day("2004-01-01")); len(got) != 2 {
		t.Errorf("got the changes %v, want those of January and July 2003", got)
	}
}
