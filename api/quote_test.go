package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// quoteOf is the result of a description: the estimate of testdata.
func quoteOf(input json.RawMessage) json.RawMessage {
	var quote vehicle.Quote
	if err := json.Unmarshal(estimateOf(""), &quote.Estimate); err != nil {
		panic(err)
	}
	if err := json.Unmarshal(input, &quote.Input); err != nil {
		panic(err)
	}
	quote.Object, quote.Car = vehicle.ObjectQuote, quote.Input.Car()
	data, err := json.Marshal(quote)
	if err != nil {
		panic(err)
	}
	return data
}

var quoteScenarios = []scenario{
	{
		name: "as it is meant, whatever the case and width", url: "/v1/quote",
		body: `{"make":" toyota ","model":"corolla  fielder","modelCode":"ｄａａ-nke165","year":2016,"engine_cc":1500,` +
			`"fuel":"hybrid","fobPriceUSD":6180.50,"m3":11.09,"unknown":true}`,
		status: 200, has: []string{
			`"input":{"make":"TOYOTA","model":"COROLLA FIELDER","modelCode":"NKE165","rawModelCode":"DAA-NKE165","year":2016,` +
				`"engine_cc":1500,"fuel":"HYBRID","fobPriceUSD":6180.5,"m3":11.09}`,
			`"cached":false`,
		}, hasNot: []string{`"url"`},
	},
	{
		name: "kept for all who describe the same car", url: "/v1/quote",
		body: `{"make":"Toyota","rawModelCode":"DAA-NKE165","year":2015,"fobPriceUSD":null,"engine_cc":0}`,
		before: func(t *testing.T, a *app) string {
			a.keepQuote(t, vehicle.QuoteInput{Make: "TOYOTA", ModelCode: "NKE165", RawModelCode: "DAA-NKE165", Year: 2015})
			return ""
		},
		status: 200, has: []string{`"cached":true`},
	},
}

func (a *app) keepQuote(t *testing.T, input vehicle.QuoteInput) {
	t.Helper()
	data, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	key, err := tasks.QuoteKey(input)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.cache.Put(t.Context(), key, quoteOf(data), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
}

// A description that lacks what TRA requires is the caller's error.
func TestIncompleteDescriptionIsABadRequest(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	ask := func() *http.Request {
		return a.request(t, http.MethodPost, "/v1/quote", `{"make":"TOYOTA","model":"VITZ","year":2015}`)
	}
	r := ask()
	r.Header.Set("Prefer", "respond-async")
	id := strings.TrimPrefix(a.send(t, r).header.Get("Location"), "/v1/jobs/")
	answers := make(chan answer)
	go func() { answers <- a.send(t, ask()) }()
	spinUntil(func() bool { return a.hub.Waiting() == 1 })
	why := &jobs.Error{Notice: message.Notice{Code: "listing_incomplete", Message: "the request gives no fuel"}}
	if err := a.end(t.Context(), id, jobs.End{State: jobs.Failed, Error: why}); err != nil {
		t.Fatal(err)
	}
	if err := a.tasks.Advance(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	got := <-answers
	if got.status != http.StatusBadRequest || !strings.HasPrefix(got.body, `{"error":"the request gives no fuel","code":"request_incomplete","retryable":false,"request":"`) {
		t.Errorf("%d %s", got.status, got.body)
	}
}

var rateScenarios = []scenario{
	{
		name: "another rate for an estimate that is kept", url: "/v1/estimate", body: `{"url":"https://cars.example/rate","rate":2500}`,
		before: func(t *testing.T, a *app) string { a.put(t, "/rate"); return "" },
		status: 200, has: []string{`"cached":true`, `"others":2500`, `"totalTaxesInTZS":"13,807,283.34"`, `"code":"year_substituted"`},
	},
	{
		name: "and without one as it is kept", url: "/v1/estimate", body: `{"url":"https://cars.example/rate","rate":null}`,
		status: 200, exact: shown(swap(string(estimateOf("https://cars.example/rate")), `"cached":false`, `"cached":true`)),
	},
	{
		name: "another rate for a new estimate", url: "/v1/estimate", body: `{"url":"https://cars.example/new-rate","rate":2700.5}`,
		status: 200, has: []string{`"cached":false`, `"others":2700.5`},
	},
	{
		name: "another rate for a quote", url: "/v1/quote", body: `{"make":"TOYOTA","modelCode":"NKE165","year":2012,"rate":2500}`,
		status: 200, has: []string{`"others":2500`, `"input":{"make":"TOYOTA"`, `"message":"The description gives no price`},
		hasNot: []string{"listing", "angazo"},
	},
}

// A kept drive-away cost is that of its own rate: another rate must not change
// what the next caller gets, nor double a warning.
func TestRateIsAppliedOnce(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	a.put(t, "/twice")
	once := a.send(t, a.request(t, http.MethodPost, "/v1/estimate", `{"url":"https://cars.example/twice","rate":2500}`))
	var withCost vehicle.Estimate
	if err := json.Unmarshal([]byte(once.body), &withCost); err != nil || withCost.DriveAway == nil {
		t.Fatalf("%v %s", err, once.body)
	}
	if err := a.cache.Put(t.Context(), estimateKey("/twice"), []byte(once.body), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	again := a.send(t, a.request(t, http.MethodPost, "/v1/estimate", `{"url":"https://cars.example/twice","rate":2500}`))
	if again.body != once.body {
		t.Errorf("\n%s\n%s", once.body, again.body)
	}
}
