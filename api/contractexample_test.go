package api_test

import (
	"encoding/json"
	"testing"
	"time"

	"ushuru/pkg/cost"
	"ushuru/pkg/message"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/vehicle"
)

// TestTheExampleOfAnEstimateIsAnAnswer: of a car with its entry and the authority's answer the program
// says what the example says of the cost, its lines, the summary and the warnings.
func TestTheExampleOfAnEstimateIsAnAnswer(t *testing.T) {
	t.Parallel()
	document, err := contract()
	if err != nil {
		t.Fatal(err)
	}
	shown, err := json.Marshal(document.Components.Examples["Estimate"].Value.Value)
	if err != nil {
		t.Fatal(err)
	}
	var e vehicle.Estimate
	if err := json.Unmarshal(shown, &e); err != nil {
		t.Fatal(err)
	}
	at, err := time.Parse(time.RFC3339, e.AsOf)
	if err != nil {
		t.Fatal(err)
	}
	costs, err := cost.Load("")
	if err != nil {
		t.Fatal(err)
	}
	e = costs.Apply(e, vehicle.Terms{}, at)
	data, err := plainjson.Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	for from, into := range map[string]*any{
		string(message.ViewIn(message.English).Of(data)): &got, string(shown): &want,
	} {
		if err := json.Unmarshal([]byte(from), into); err != nil {
			t.Fatal(err)
		}
	}
	differ(t, "", got, want)
}

// differ reports the members of an example that an answer does not have.
func differ(t *testing.T, at string, got, want any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		has, _ := got.(map[string]any)
		for name, value := range want {
			differ(t, at+"."+name, has[name], value)
		}
	case []any:
		has, _ := got.([]any)
		if len(has) != len(want) {
			t.Errorf("%s: got %v, the example has %v", at, got, want)
			return
		}
		for i := range want {
			differ(t, at, has[i], want[i])
		}
	default:
		if got != want {
			t.Errorf("%s: got %v, the example has %v", at, got, want)
		}
	}
}
