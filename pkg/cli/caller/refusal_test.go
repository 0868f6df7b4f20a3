package caller

import (
	"bytes"
	"strings"
	"testing"

	"ushuru/pkg/client"
	"ushuru/pkg/vehicle"
)

// What comes from a page must not direct the terminal or leave its quotes.
func TestARefusalIsSafeToPrintAndCopy(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	if err := writeRefusal(&text, &client.Error{Body: client.Body{
		Message: "No.\x1b[2J", Code: "ai_unavailable", Car: &vehicle.Car{Make: "A\x1b]0;x\x07\u202eB", Version: "two\nlines"},
		Candidates: []vehicle.Candidate{{Make: "A", ModelBody: "it's; rm -rf\n x", YearFrom: 2012, Why: "\x9b31m"}},
	}}, "en"); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(text.String(), "\x1b\x07\u202e\u009b") || !strings.Contains(text.String(), `--model-body 'it'\''s; rm -rf x'`) {
		t.Errorf("%q", text.String())
	}
	if !strings.Contains(text.String(), "2012 – (still made)") || !strings.Contains(text.String(), "in a minute") {
		t.Error(text.String())
	}
}
