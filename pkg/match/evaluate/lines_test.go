package evaluate

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"ushuru/pkg/match"
	"ushuru/pkg/tra/catalogue"
)

func runLines(t *testing.T, input string, explain bool) []answer {
	t.Helper()
	var out bytes.Buffer
	if err := Lines(t.Context(), match.New(match.Options{}), strings.NewReader(input), &out, linesCatalogue(), explain); err != nil {
		t.Fatal(err)
	}
	var answers []answer
	for l := range strings.Lines(out.String()) {
		var a answer
		if err := json.Unmarshal([]byte(l), &a); err != nil {
			t.Fatalf("%q: %v", l, err)
		}
		answers = append(answers, a)
	}
	return answers
}

func TestLinesAnswersEachLine(t *testing.T) {
	answers := runLines(t, `{"id": 7, "make": "TOYOTA", "model": "OPA", "modelCode": "CBA-ACT10", "year": "2002/3", "engine_cc": "1,998cc", "fuel": "GASOLINE", "body": "WAGON"}

not json
{"make": "HONDA", "model": "FIT", "modelCode": "GD2", "year": 2005, "engine_cc": 1339, "fuel": null, "unheard": [1]}
["an array"]
{"make": "TOYOTA", "model": "WISH", "modelCode": "ZGE20G"}
{"make": "TOYOTA", "model": "OPA", "modelCode": ["ACT10"]}
`+`{"make": "`+strings.Repeat("A", maxLine)+`"}
{"make": "SUZUKI", "model": "BUGGY", "modelCode": "JB43W"}`, false)
	want := []answer{
		{Make: "TOYOTA", ModelBody: "OPA - ACT10 - WAGON", Confidence: "high"},
		{Code: BadLine, Line: 3},
		{Make: "HONDA", ModelBody: "FIT - GD2 - HATCHBACK", Confidence: "high"},
		{Code: BadLine, Line: 5},
		{Code: match.NoMatch, Line: 6},
		{Code: BadLine, Line: 7},
		{Code: BadLine, Line: 8},
		{Make: "SUZUKI", ModelBody: "JIMNY SIERRA - JB43W - SUV", Confidence: "low"},
	}
	if len(answers) != len(want) {
		t.Fatalf("%d answers, want %d: %+v", len(answers), len(want), answers)
	}
	for i, w := range want {
		a := answers[i]
		if a.Make != w.Make || a.ModelBody != w.ModelBody || a.Code != w.Code || a.Line != w.Line || a.Confidence != w.Confidence {
			t.Errorf("answer %d: %+v, want %+v", i, a, w)
		}
		if (a.Error == "") == (a.MatchReason == "") {
			t.Errorf("answer %d is neither match nor error: %+v", i, a)
		}
	}
	if string(answers[0].ID) != "7" || answers[0].Candidates != nil {
		t.Errorf("%+v", answers[0])
	}
	if len(answers[4].Candidates) == 0 {
		t.Error("a refusal shows no candidates")
	}
}

func TestLinesExplainsMatches(t *testing.T) {
	answers := runLines(t, `{"make": "TOYOTA", "model": "WISH", "modelCode": "ZNE10G"}`, true)
	if len(answers) != 1 || len(answers[0].Candidates) != 2 || answers[0].Candidates[0].ModelBody != "WISH - ZNE10G - WAGON" {
		t.Errorf("%+v", answers)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestLinesReportsAnOutputThatFails(t *testing.T) {
	if err := Lines(t.Context(), match.New(match.Options{}), strings.NewReader("{}\n"), brokenPipe{}, linesCatalogue(), false); err == nil {
		t.Error("no error")
	}
}

func linesCatalogue() *catalogue.Catalogue {
	return catalogue.New([]catalogue.MakeLabels{
		{Make: catalogue.Make{ID: 63, Name: "TOYOTA"}, Labels: []string{"WISH - ZGE20W - WAGON", "WISH - ZNE10G - WAGON", "OPA - ACT10 - WAGON"}},
		{Make: catalogue.Make{ID: 9, Name: "HONDA"}, Labels: []string{"FIT - GD2 - HATCHBACK"}},
		{Make: catalogue.Make{ID: 12, Name: "SUZUKI"}, Labels: []string{"JIMNY SIERRA - JB43W - SUV", "JIMNY - JB23W - SUV"}},
	})
}
