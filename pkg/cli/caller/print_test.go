package caller

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ushuru/pkg/client"
	"ushuru/pkg/golden"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// What a buyer reads at a terminal: an estimate, one without a price, and a refusal.
func TestAnswersAreAsReviewed(t *testing.T) {
	t.Parallel()
	var whole vehicle.Estimate
	example, err := os.ReadFile(filepath.Join("testdata", "estimate.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(example, &whole); err != nil {
		t.Fatal(err)
	}
	part := whole
	summary := *whole.Summary
	summary.OnTheRoad, summary.CarAndShipping, summary.PortAndTaxesOnly = nil, nil, &summary.Taxes.Sum
	part.Summary, part.DriveAway, part.ValidUntil, part.Input.URL = &summary, nil, "", ""
	part.Tax.ReferenceNumber = "SIM-1"
	limit := int64(7000)
	part.MaxPrice = &vehicle.MaxPrice{TargetTZS: 30_000_000, CF: &vehicle.PriceLimits{Likely: &limit}}
	part.Matched.Adjustments = []vehicle.Adjustment{{Field: "fuel", From: "HYBRID", To: "PETROL"}}
	part.Warnings = []vehicle.Warning{{Level: message.Info}, {Level: "warning"}}
	refused := &client.Error{Body: client.Body{
		Message: "No.", Code: "ambiguous_match", Car: &whole.Car,
		Candidates: []vehicle.Candidate{
			{Make: "TOYOTA", ModelBody: "FIELDER, 5D", EngineCC: 1500, Fuel: "PETROL", YearFrom: 2012, Nearness: "near", Why: "because", TotalTaxesInTZS: &whole.Tax.TotalTaxesInTZS},
			{Make: "TOYOTA", ModelBody: "AXIO", YearTo: 2015},
		},
		Cars: []vehicle.ListedCar{{URL: "https://a.example/1", Name: "Toyota Vitz"}},
	}}
	for _, lang := range []string{message.English, message.Swahili} {
		for name, write := range map[string]func(*bytes.Buffer) error{
			"estimate": func(b *bytes.Buffer) error { return Print(b, whole, lang) },
			"part":     func(b *bytes.Buffer) error { return Print(b, part, lang) },
			"refusal":  func(b *bytes.Buffer) error { return writeRefusal(b, refused, lang) },
			"incomplete": func(b *bytes.Buffer) error {
				return writeRefusal(b, &client.Error{Body: client.Body{Message: "No.", Code: "listing_incomplete", Car: &vehicle.Car{FOBPriceUSD: whole.Car.FOBPriceUSD, CFPriceUSD: whole.Car.CFPriceUSD}}}, lang)
			},
			"unavailable": func(b *bytes.Buffer) error {
				return writeRefusal(b, &client.Error{Body: client.Body{Message: "No.", Code: "ai_unavailable", Param: "costs.freight"}}, lang)
			},
		} {
			var out bytes.Buffer
			if err := write(&out); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, filepath.Join("testdata", name+"."+lang+".txt"), out.String())
		}
	}
}

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
