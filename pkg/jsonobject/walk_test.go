package jsonobject_test

import (
	"encoding/json"
	"strings"
	"testing"

	"ushuru/pkg/jsonobject"
)

func TestTheMembersAndElementsOfJSON(t *testing.T) {
	t.Parallel()
	const object = `{"a":1,"b\"c":"x\\","d": {"e":[1,"}"]} ,"f":[],"g":null,"h":"\"","i":-1.5e3}`
	var got []string
	for name, value := range jsonobject.Members([]byte(object)) {
		got = append(got, string(name)+"="+string(value))
	}
	const want = `a=1 b\"c="x\\" d={"e":[1,"}"]} f=[] g=null h="\"" i=-1.5e3`
	if joined := strings.Join(got, " "); joined != want {
		t.Errorf("got %s, want %s", joined, want)
	}
	got = nil
	for element := range jsonobject.Elements([]byte(`[1,"],",{"a":[2]}, [] ,true]`)) {
		got = append(got, string(element))
	}
	if joined := strings.Join(got, " "); joined != `1 "]," {"a":[2]} [] true` {
		t.Errorf("got %s", joined)
	}
}

func TestATextOfJSON(t *testing.T) {
	t.Parallel()
	const object = `{"car":{"make":"TOYOTA","note":"\"a\" \u0026 b","year":2012},"until":"2026"}`
	for path, want := range map[string]string{
		"until": "2026", "car make": "TOYOTA", "car note": `"a" & b`, "car year": "", "car": "", "make": "", "car make x": "",
	} {
		if got := jsonobject.Text([]byte(object), strings.Fields(path)...); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}

// FuzzMembers: the members of what encoding/json accepts are valid JSON, and nothing else
// makes them panic.
func FuzzMembers(f *testing.F) {
	for _, seed := range []string{`{"a":1}`, `{"a":{"b":["\\"]}}`, `{`, `{"a`, `{"a":`, `{"a":"\`, `[`, `{}`, ``, `{"a":}`, `{"a" 1}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		count := 0
		for _, value := range jsonobject.Members(data) {
			count++
			if json.Valid(data) && !json.Valid(value) {
				t.Errorf("%s of %s", value, data)
			}
		}
		var object map[string]json.RawMessage
		if json.Unmarshal(data, &object) == nil && count < len(object) {
			t.Errorf("got %d members of %s", count, data)
		}
		for range jsonobject.Elements(data) { // it must not panic
			count++
		}
		_ = jsonobject.Text(data, "a", "b")
	})
}
