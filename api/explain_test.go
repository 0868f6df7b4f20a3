package api_test

import (
	"testing"
	"time"

	"ushuru/pkg/cache"
)

const explanation = `{"explain":[{"name":"year","value":"2016/3","source":"label","rank":2,"others":[` +
	`{"value":"2015","source":"json-ld","rank":3,"reason":"disagrees"}]}],"notes":["year: two say two things"]}`

func explained(path string) string { return `{"url":"` + site + path + `","explain":true}` }

// explain keeps where the values of a listing came from.
func (a *app) explain(t *testing.T, key cache.Key) {
	t.Helper()
	if err := a.cache.PutRaw(t.Context(), cache.ExplanationKey(key), []byte(explanation), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
}

// with is an estimate with the explanation.
func with(estimate string) string { return estimate[:len(estimate)-1] + "," + explanation[1:] }

var explainScenarios = []scenario{
	{
		name: "a new listing", url: "/v1/estimate", body: explained("/explained"),
		before: func(t *testing.T, a *app) string { a.explain(t, cache.EstimateKey(site+"/explained")); return "" },
		status: 200, exact: shown(with(string(estimateOf(site + "/explained")))),
	},
	{
		name: "from the cache", url: "/v1/estimate", body: explained("/explained-hit"),
		before: func(t *testing.T, a *app) string {
			a.put(t, "/explained-hit")
			a.explain(t, cache.EstimateKey(site+"/explained-hit"))
			return ""
		},
		status: 200, exact: shown(with(swap(string(estimateOf(site+"/explained-hit")), `"cached":false`, `"cached":true`))),
	},
	{
		name: "a page", url: "/v1/estimate",
		body:   `{"url":"https://cars.example/explained-page","html":"page","explain":true}`,
		before: func(t *testing.T, a *app) string { a.explain(t, a.pastedKey("/explained-page", "page")); return "" },
		status: 200, exact: shown(with(string(versionOf(site+"/explained-page", "page")))),
	},
	{
		name: "no longer kept", url: "/v1/estimate", body: explained("/unexplained"),
		status: 200, has: []string{`"explain":[]`, `"notes":["The sources of these values are no longer stored."]`},
	},
	{
		name: "sites", url: "/v1/sites",
		status: 200, has: []string{`{"sites":[{"name":"BE FORWARD","hosts":["beforward.jp"],"gives":["make",`},
	},
}
