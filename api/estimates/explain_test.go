package estimates

import (
	"encoding/json"
	"testing"

	"ushuru/api/terms"
	"ushuru/pkg/cache"
	"ushuru/tasks"
)

func TestKnownValuesAreMarkedInAnExplanation(t *testing.T) {
	t.Parallel()
	known, err := terms.ParseKnown(json.RawMessage(`{"year":2012,"fuel":"HYBRID"}`))
	if err != nil {
		t.Fatal(err)
	}
	s, p := newResource(t)
	input := tasks.EstimateInput{URL: "https://cars.example/known", Known: known}
	keep(t, p, cache.ExplanationKey(input.PageKey()), []byte(
		`{"explain":[{"name":"fuel","value":"PETROL","source":"labels","rank":2}],"notes":["n"]}`))
	got, err := s.explanation(t.Context(), input)
	const want = `{"explain":[{"name":"fuel","others":[{"code":"overridden","rank":2,"reason":"overridden by the request",` +
		`"source":"labels","text":{"en":"overridden by the request","sw":"imebadilishwa na ombi","draft":true},"value":"PETROL"}],` +
		`"source":"request","value":"HYBRID"},{"name":"year","source":"request","value":"2012"},` +
		`{"name":"yearBasis","source":"request","value":"manufacture"}],"notes":["n"]}`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v\nwant %s", got, err, want)
	}
}
