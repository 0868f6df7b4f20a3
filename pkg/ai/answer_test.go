package ai

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

type all struct {
	Choice string `json:"choice"`
	Reason string `json:"reason"`
	Sure   bool   `json:"sure"`
}

var allSchema = Schema{
	{Name: "reason", Type: Text, Max: 20},
	{Name: "choice", Type: Text, Enum: []string{"c1", "NONE"}},
	{Name: "sure", Type: Boolean},
}

const good = `{"reason":"so","choice":"c1","sure":true}`

func TestAnAnswerIsReadBySchema(t *testing.T) {
	got, clean, err := decode[all](allSchema, " \n"+good+"\n")
	if want := (all{"c1", "so", true}); err != nil || got != want {
		t.Fatalf("got %+v, %v", got, err)
	}
	again, _, err := decode[all](allSchema, string(clean))
	if err != nil || again != got {
		t.Errorf("what is kept is read as %+v, %v", again, err)
	}
}

func TestTextsOfAnAnswerAreCleaned(t *testing.T) {
	hostile := strings.Replace(good, `"so"`, `"a\u0000b\u202e<script>\n1234567890 1234567890"`, 1)
	got, _, err := decode[all](allSchema, hostile)
	if err != nil || got.Reason != "a b script 123456789" {
		t.Errorf("got %q, %v", got.Reason, err)
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	replace := func(from, to string) string { return strings.Replace(good, from, to, 1) }
	for name, content := range map[string]string{
		"empty": "", "text": "I choose c1.", "list": "[" + good + "]", "null": "null",
		"cut": good[:20], "cut at the end": good[:len(good)-1], "twice": good + good,
		"missing": replace(`"sure":true`, `"c":1`), "other case": replace(`"choice"`, `"Choice"`),
		"doubled": replace(`"sure":true`, `"sure":true,"sure":true`), "two choices": replace(`{`, `{"choice":"NONE",`),
		"no candidate": replace(`"c1"`, `"c99"`), "other case of an id": replace(`"c1"`, `"C1"`), "padded id": replace(`"c1"`, `"c1 "`),
		"null id": replace(`"c1"`, `null`), "word": replace(`true`, `"yes"`), "null flag": replace(`true`, `null`),
		"number": replace(`true`, `1`), "too large": replace(`so`, strings.Repeat("x", maxAnswer)),
	} {
		if got, _, err := decode[all](allSchema, content); err == nil {
			t.Errorf("%s: got %+v", name, got)
		} else if strings.Contains(err.Error(), "c99") {
			t.Errorf("%s: the error repeats the answer: %v", name, err)
		}
	}
}

func TestOddAnswersAreReadAllTheSame(t *testing.T) {
	t.Parallel()
	replace := func(from, to string) string { return strings.Replace(good, from, to, 1) }
	for name, content := range map[string]string{
		"fenced": "```json\n" + good + "\n```", "prose": "Here it is:\n" + good + "\nI hope that helps.",
		"more": replace(`}`, `,"x":{"y":1}}`), "text in capitals": replace(`true`, `"True"`),
	} {
		if got, _, err := decode[all](allSchema, content); err != nil || got != (all{"c1", "so", true}) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
	for reason, content := range map[string]string{
		"": replace(`"so"`, `null`), "3": replace(`"so"`, `3`), "true": replace(`"so"`, `true`),
	} {
		if got, _, err := decode[all](allSchema, content); err != nil || got.Reason != reason {
			t.Errorf("got %+v, %v, want the reason %q", got, err, reason)
		}
	}
	if got, _, err := decode[all](allSchema, replace(`"reason":"so",`, ``)); err != nil || got.Reason != "" || got.Choice != "c1" {
		t.Errorf("without its reason: got %+v, %v", got, err)
	}
}

func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		good, "", "{}", good[:30], `{"reason":"\ud800","choice":"NONE","sure":false}`,
		`{"reason":"` + strings.Repeat("あ", 30) + `","choice":"c1","sure":true}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content string) {
		got, clean, err := decode[all](allSchema, content)
		if err != nil {
			return
		}
		if got.Choice != "c1" && got.Choice != None || utf8.RuneCountInString(got.Reason) > 20 || Clean(got.Reason, 20) != got.Reason {
			t.Errorf("%q is read as %+v", content, got)
		}
		if !json.Valid(clean) {
			t.Errorf("%q is read as %+v, %s", content, got, clean)
		}
		again, _, err := decode[all](allSchema, string(clean))
		if err != nil || again != got {
			t.Errorf("%q changes when read again: %+v, %+v, %v", content, got, again, err)
		}
	})
}

// None is what these tests know as no choice.
const None = "NONE"
