package estimates

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"testing"

	"ushuru/api/apitest"
	"ushuru/api/terms"
	"ushuru/pkg/cache"
	"ushuru/pkg/cost"
	"ushuru/pkg/pace"
	"ushuru/pkg/sheet/scan"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// newResource returns the Resource of an API process.
func newResource(t *testing.T) (*Resource, *apitest.Parts) {
	t.Helper()
	p := apitest.New(t, pace.Limits{})
	hosts, err := scan.NewHosts("p3.aucneostation.com")
	if err != nil {
		t.Fatal(err)
	}
	return New(Options{
		Tasks: p.Tasks, Jobs: p.Jobs, Cache: p.Cache, Hub: p.Hub, Costs: cost.Embedded(), Sheets: hosts, Limits: p.Limits, Work: p.Work,
		Streams: p.Streams, Log: slog.New(slog.DiscardHandler),
	}), p
}

// estimateJSON is the estimate of testdata.
func estimateJSON(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../testdata/estimate.json")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// estimateOf is the estimate of testdata as that of a listing.
func estimateOf(t *testing.T, url string) (e vehicle.Estimate) {
	t.Helper()
	if err := json.Unmarshal([]byte(estimateJSON(t)), &e); err != nil {
		t.Fatal(err)
	}
	e.Input.URL = url
	return e
}

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

// TestADescribedCarBecomesAJob, with its prices in dollars.
func TestADescribedCarBecomesAJob(t *testing.T) {
	t.Parallel()
	s, p := newResource(t)
	const car = `{"make":"TOYOTA","modelCode":"NKE165","year":2013`
	ask := apitest.Ask{URL: "/v1/quote", Headers: map[string]string{"Prefer": "respond-async"}}
	ask.Body = car + `,"cfPriceJPY":1000000,"fobPriceUSD":5000,"fobPriceJPY":1,"jpyPerUSD":150}`
	got := apitest.Send(t, s.PostQuote, ask)
	var job struct{ ID string }
	if got.Decode(t, &job); !got.Has(202, `"kind":"quote"`) || got.Header.Get("Retry-After") != "2" {
		t.Fatalf("got %d %v %s", got.Status, got.Header, got.Body)
	}
	const want = `{"make":"TOYOTA","modelCode":"NKE165","year":2013,"fobPriceUSD":5000,"cfPriceUSD":6666.67}`
	if record, err := p.Jobs.Get(t.Context(), job.ID); err != nil || string(record.Input) != want {
		t.Errorf("the input is %s, %v, want %s", record.Input, err, want)
	}
	for rest, code := range map[string]string{
		`,"fobPriceJPY":900000}`: `"code":"jpy_rate_missing"`, `,"jpyPerUSD":1}`: `"param":"jpyPerUSD"`, `,"rate":1}`: `"code":"rate_invalid"`,
		`,"cfPriceJPY":"much","jpyPerUSD":150}`: `"param":"cfPriceJPY"`, `,"fobPriceUSD":"6180"}`: `"param":"fobPriceUSD"`,
		`,"engine_cc":"big"}`: `"param":"engine_cc"`, `,"landing":"soon"}`: `"param":"landing"`,
	} {
		if got := apitest.Send(t, s.PostQuote, apitest.Ask{URL: "/v1/quote", Body: car + rest}); !got.Has(http.StatusBadRequest, code) {
			t.Errorf("%s: got %d %s, want %s", rest, got.Status, got.Body, code)
		}
	}
}
