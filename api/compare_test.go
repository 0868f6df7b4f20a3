package api_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"ushuru/pkg/advice"
	"ushuru/pkg/cache"
	"ushuru/pkg/jobs"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// comparing makes the results of jobs that compare and that read sheets.
var comparing = map[string]func(context.Context, *app, *jobs.Job) error{
	tasks.KindCompare: func(ctx context.Context, a *app, job *jobs.Job) error {
		var input tasks.CompareInput
		if err := json.Unmarshal(job.Input, &input); err != nil {
			return err
		}
		err := a.end(ctx, job.ID, succeeded(comparisonOf(input)))
		return err
	},
	tasks.KindReport: endReading,
}

// comparisonOf is the result of a comparison, of the estimate of testdata.
func comparisonOf(input tasks.CompareInput) json.RawMessage {
	var pair advice.Pair
	for url, car := range map[string]*vehicle.Estimate{input.URL1: &pair.Car1, input.URL2: &pair.Car2} {
		if err := json.Unmarshal(estimateOf(url), car); err != nil {
			panic(err)
		}
	}
	var rate money.Number
	if err := json.Unmarshal([]byte(input.Rate), &rate); err != nil {
		panic(err)
	}
	verdict := advice.Judge(pair)
	data, err := json.Marshal(vehicle.Comparison{
		Object: vehicle.ObjectComparison, Car1: pair.Car1, Car2: pair.Car2, Recommendation: advice.Write(verdict, pair, input.Lang), Rate: &rate, Lang: input.Lang,
		Verdict: &verdict,
	})
	if err != nil {
		panic(err)
	}
	return data
}

// pairOf is the body of a comparison with other fields after the URLs.
func pairOf(path1, path2, more string) string {
	return `{"url1":"` + site + path1 + `","url2":"` + site + path2 + `"` + more + `}`
}

var compareScenarios = []scenario{
	{
		name: "two cars", url: "/v1/compare", body: pairOf("/pair-1", "/pair-2", `,"unknown":1`), status: 200,
		has: []string{
			`"url":"https://cars.example/pair-1"`, `"url":"https://cars.example/pair-2"`, `"condReport1":null`, `"cached":false`,
			`"rate":2650`, `"lang":"en"`, `"verdict":{"winner":null,"reason":"same_car"`,
		},
	},
	{
		name: "kept", url: "/v1/compare", body: pairOf("/kept-1", "/kept-2", `,"rate":2650.00`),
		before: func(t *testing.T, a *app) string { a.keepComparison(t, "/kept-1", "/kept-2"); return "" },
		status: 200, has: []string{`"cached":true`},
	},
	{
		name: "asynchronous", url: "/v1/compare", body: pairOf("/hangs", "/pair-3", ""), headers: prefer("respond-async"),
		status: 202, has: []string{`"kind":"compare"`}, want: map[string]string{"Retry-After": "2"},
	},
	{
		name: "the second cannot be estimated", url: "/v1/compare", body: pairOf("/pair-4", noMatch, ""), status: 500,
		has: []string{`"code":"no_match"`, `"error":"Car 2 (https://cars.example/no-match): `},
	},
	{
		name: "the first is not public after all", url: "/v1/compare", body: pairOf(forbidden, "/pair-4", ""), status: 400,
		has: []string{`"code":"url_forbidden"`, `"error":"Car 1 (https://cars.example/forbidden): `},
	},
}

// keepComparison keeps a comparison at the rate of who says none.
func (a *app) keepComparison(t *testing.T, path1, path2 string) {
	t.Helper()
	input := tasks.CompareInput{URL1: site + path1, URL2: site + path2, Rate: "2650", Lang: "en"}
	key := cache.CompareKey(input.URL1, input.URL2, input.Lang)
	if err := a.cache.Put(t.Context(), key, comparisonOf(input), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
}
