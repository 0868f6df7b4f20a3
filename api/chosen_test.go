package api_test

import (
	"strings"
	"testing"

	"ushuru/pkg/cache"
)

const chosenLabel = "COROLLA FIELDER - NKE165 - HYBRID - WAGON"

var chosenScenarios = []scenario{
	{
		name: "a label that the caller chose", url: "/v1/estimate",
		body:   `{"url":"https://cars.example/chosen","modelBody":"` + chosenLabel + `"}`,
		before: func(t *testing.T, a *app) string { a.put(t, "/chosen"); return "" },
		status: 200, has: []string{`"cached":false`}, // the estimate without that choice is another
	},
	{
		name: "the same choice again", url: "/v1/estimate",
		body: `{"url":"https://cars.example/chosen","modelBody":"` + chosenLabel + `"}`,
		before: func(t *testing.T, a *app) string {
			a.keep(t, cache.LabelKey(cache.EstimateKey(site+"/chosen"), chosenLabel), "kept")
			return ""
		},
		status: 200, has: []string{`"version":"kept"`, `"cached":true`},
	},
	{
		name: "a label that is a number", url: "/v1/estimate", body: `{"url":"https://cars.example/1","modelBody":5}`,
		status: 400, has: []string{`"code":"field_invalid"`},
	},
	{
		name: "a label that is too long", url: "/v1/estimate",
		body:   `{"url":"https://cars.example/1","modelBody":"` + strings.Repeat("X", 201) + `"}`,
		status: 400, has: []string{`"code":"field_invalid"`},
	},
}
