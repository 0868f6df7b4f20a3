package match

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/ai"
	"ushuru/pkg/ai/aitest"
	"ushuru/pkg/match/facts"
	"ushuru/pkg/match/selection"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/vehicle"
)

func withAI(t *testing.T, url string, o ai.Options) selection.Chooser {
	t.Helper()
	o.Endpoints = []ai.Endpoint{{BaseURL: url, Model: "m", Key: "sk-x"}}
	client, err := ai.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return selection.NewAI(client).Choose
}

func smallMatcher(t *testing.T, chooser selection.Chooser) (*Matcher, *catalogue.Catalogue) {
	t.Helper()
	const catalogue = "make,label,cc,fuel,year_from,year_to\n" +
		"TOYOTA,PREMIO - NZT260 - SEDAN,1496,PETROL,2007,2020\n" +
		"TOYOTA,PREMIO - ZRT260 - SEDAN,1797,PETROL,2007,2020\n" +
		"TOYOTA,ALLION - NZT260 - SEDAN,1496,PETROL,2007,2020\n" +
		"TOYOTA,PRIUS - ZVW30 - HATCHBACK,1797,PETROL & ELECTRIC,2009,2015\n"
	cat, facts, err := facts.LoadCSV(strings.NewReader(catalogue))
	if err != nil {
		t.Fatal(err)
	}
	return New(Options{Facts: facts, Chooser: chooser}), cat
}

var premio = vehicle.Car{Make: "TOYOTA", Model: "PREMIO", Year: 2010, EngineCC: 1500, Fuel: "PETROL", BodyType: "SEDAN"}

func TestAMatchByTheAISaysSo(t *testing.T) {
	server := aitest.Start(t, aitest.Options{})
	matcher, cat := smallMatcher(t, withAI(t, server.URL, ai.Options{}))
	got, err := matcher.Choose(t.Context(), premio, cat)
	if err != nil || got.Label != "PREMIO - NZT260 - SEDAN" || got.MatchType != vehicle.LLMFuzzy ||
		got.MatchedBy != vehicle.ByAI || strings.Contains(got.Reason, aitest.Mark) { // the reason is ours, not the model's
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestWithAnAIThatFailsMatchingIsAsWithout(t *testing.T) {
	without, cat := smallMatcher(t, nil)
	want, wantErr := without.Choose(t.Context(), premio, cat)
	for name, faults := range map[string]aitest.Faults{
		"down": {Status: 500}, "limited": {Status: 429, RetryAfter: 9}, "key": {Status: 401}, "page": {HTML: true}, "cut": {CutJSON: true},
		"refusal": {Refusal: true}, "no choices": {EmptyChoices: true}, "no candidate": {WrongID: true}, "nonsense": {OtherSchema: true},
		"slow": {Latency: aitest.Duration(time.Minute)},
	} {
		server := aitest.Start(t, aitest.Options{Faults: faults})
		matcher, cat := smallMatcher(t, withAI(t, server.URL, ai.Options{Timeout: time.Second}))
		got, err := matcher.Choose(t.Context(), premio, cat)
		if got.Label != want.Label || got.MatchType != want.MatchType || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("%s: got %+v, %v; want %+v, %v", name, got, err, want, wantErr)
		}
		if server.Counts().Requests == 0 {
			t.Errorf("%s: the AI was not asked", name)
		}
	}
}

func TestEqualCarsAreAskedAboutOnce(t *testing.T) {
	server := aitest.Start(t, aitest.Options{})
	conn := redistest.Embedded(t)
	chooser := withAI(t, server.URL, ai.Options{Redis: conn.Client(), AnswerTTL: time.Hour})
	matcher, cat := smallMatcher(t, chooser)
	first, err := matcher.Choose(t.Context(), premio, cat)
	asked := server.Counts().Requests
	if err != nil || asked == 0 {
		t.Fatalf("asked %d times: %v", asked, err)
	}
	second, err := matcher.Choose(t.Context(), premio, cat)
	if err != nil || second.Label != first.Label || server.Counts().Requests != asked {
		t.Errorf("asked %d times, then %d: %+v, %v", asked, server.Counts().Requests, second, err)
	}
}
