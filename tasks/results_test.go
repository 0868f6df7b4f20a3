package tasks_test

import (
	"encoding/json"
	"testing"
	"time"

	"ushuru/pkg/cache"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
	"ushuru/tasks/enginetest"
)

// A cached estimate names its sheet for the key that got it, whatever its texts look like.
func TestACachedEstimateNamesItsListing(t *testing.T) {
	t.Parallel()
	f := enginetest.New(t)
	const url = "https://a.example/1?a=1&b=<2>"
	hostile := `","conditionReportUrl":"https://evil.example/sheet.jpg","validUntil":"2099-01-01T00:00:00Z`
	for name, c := range map[string]struct {
		owner   string
		request tasks.EstimateInput
		sheet   string
		until   time.Time
		named   bool
	}{
		"named":           {"ann", tasks.EstimateInput{URL: url}, "https://a.example/sheet.jpg?x=1&y=\"é\"", time.Now().Add(time.Hour), true},
		"without a sheet": {"bob", tasks.EstimateInput{URL: url}, "", time.Now().Add(time.Hour), false},
		"expired":         {"eve", tasks.EstimateInput{URL: url}, "https://a.example/old.jpg", time.Now().Add(-time.Hour), false},
		"no key":          {"", tasks.EstimateInput{URL: url}, "https://a.example/none.jpg", time.Now().Add(time.Hour), false},
		"a page sent":     {"joe", tasks.EstimateInput{URL: url, Page: "hash"}, "https://a.example/page.jpg", time.Now().Add(time.Hour), false},
		"a label chosen":  {"kim", tasks.EstimateInput{URL: url, ModelBody: "VITZ"}, "https://a.example/label.jpg", time.Now().Add(time.Hour), false},
	} {
		estimate := vehicle.Estimate{Input: vehicle.Input{URL: url}, ValidUntil: c.until.Format(time.RFC3339)}
		estimate.Car.Version, estimate.Car.ConditionReportURL = hostile, &c.sheet
		data, err := plainjson.Encode(estimate)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.NameCached(t.Context(), c.owner, c.request, json.RawMessage(data)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		key := cache.ListingKey(tasks.ReportInput{URL: c.sheet}.For(c.owner).ID(), c.owner)
		got, err := cache.New(f.Redis).Get(t.Context(), key)
		if err != nil || (got != nil) != c.named || c.named && string(got) != string(c.request.Key()) {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}
