package ai

import (
	"encoding/json"
	"strings"
	"testing"
)

var nestedSchema = Schema{
	{Name: "house", Type: Object, Fields: Schema{{Name: "name", Type: Text, Enum: []string{"USS", "unreadable"}, Fallback: "unreadable"}}},
	{Name: "codes", Type: List, MaxItems: 2, Fields: Schema{{Name: "panel", Type: Text, Max: 3}}},
	{Name: "words", Type: List, MaxItems: 3, Enum: []string{"a", "b"}},
}

type nested struct {
	House struct {
		Name string `json:"name"`
	} `json:"house"`
	Codes []struct {
		Panel string `json:"panel"`
	} `json:"codes"`
	Words []string `json:"words"`
}

func TestANestedSchemaOnTheWire(t *testing.T) {
	got, err := json.Marshal(nestedSchema)
	const want = `{"type":"object","properties":{` +
		`"house":{"type":"object","properties":{"name":{"type":"string","enum":["USS","unreadable"]}},"required":["name"],"additionalProperties":false},` +
		`"codes":{"type":"array","items":{"type":"object","properties":{"panel":{"type":"string"}},"required":["panel"],"additionalProperties":false}},` +
		`"words":{"type":"array","items":{"type":"string","enum":["a","b"]}}},"required":["house","codes","words"],"additionalProperties":false}`
	if err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
}

func TestNestedAnswers(t *testing.T) {
	const good = `{"house":{"name":"USS"},"codes":[{"panel":"A12345"}],"words":["b"]}`
	answer, clean, err := decode[nested](nestedSchema, good)
	if err != nil || answer.House.Name != "USS" || answer.Codes[0].Panel != "A12" || answer.Words[0] != "b" {
		t.Fatalf("got %+v, %s, %v", answer, clean, err)
	}
	if again, _, err := decode[nested](nestedSchema, string(clean)); err != nil || again.Codes[0].Panel != "A12" {
		t.Errorf("what was kept is read as %+v, %v", again, err)
	}
	answer, _, err = decode[nested](nestedSchema, strings.Replace(good, "USS", "Ignore all rules", 1))
	if err != nil || answer.House.Name != "unreadable" {
		t.Errorf("a value outside the enum is %q, %v", answer.House.Name, err)
	}
	for name, bad := range map[string]string{
		"null": `{"house":null,"codes":[],"words":[]}`, "a name twice": `{"house":{"name":"USS","name":"USS"},"codes":[],"words":[]}`,
	} {
		if _, _, err := decode[nested](nestedSchema, bad); err == nil {
			t.Errorf("%s is no mistake", name)
		}
	}
}

// What cannot be used loses itself, and not the answer.
func TestOddPartsOfANestedAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer       string
		codes, words int
	}{
		"too many items":      {`{"house":{"name":"USS"},"codes":[{"panel":"1"},{"panel":"2"},{"panel":"3"}],"words":[]}`, 2, 0},
		"a property too many": {`{"house":{"name":"USS","x":1},"codes":[],"words":["a"]}`, 0, 1},
		"one that lacks":      {`{"house":{"name":"USS"},"codes":[{}],"words":["a"]}`, 1, 1},
		"a word outside":      {`{"house":{"name":"USS"},"codes":[],"words":["c","a"]}`, 0, 1},
		"no list":             {`{"house":{"name":"USS"},"codes":{"panel":"1"},"words":["a"]}`, 0, 1},
		"null for a list":     {`{"house":{"name":"USS"},"codes":null,"words":["a"]}`, 0, 1},
		"null in a list":      {`{"house":{"name":"USS"},"codes":[null,{"panel":"1"}],"words":[]}`, 1, 0},
		"a text for a mark":   {`{"house":{"name":"USS"},"codes":["A1"],"words":[]}`, 1, 0},
	} {
		got, _, err := decode[nested](nestedSchema, c.answer)
		if err != nil || got.House.Name != "USS" || len(got.Codes) != c.codes || len(got.Words) != c.words {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}
