package api_test

import (
	"context"
	"net/http"
	"testing"

	"ushuru/pkg/tra"
	"ushuru/tasks"
)

// twoMakes is an authority with two makes.
type twoMakes struct{}

func (twoMakes) Makes(context.Context) ([]tra.Make, error) {
	return []tra.Make{{ID: 1, Name: "TOYOTA"}, {ID: 2, Name: "MERCEDES"}}, nil
}

func (twoMakes) ModelBodies(_ context.Context, makeID int) ([]string, error) {
	if makeID == 2 {
		return []string{"C 200 - 204046 - SEDAN"}, nil
	}
	return []string{"COROLLA FIELDER - NKE165 - HYBRID - WAGON", "IST - NCP110 - HATCHBACK", "VITZ - NCP131 - HATCHBACK"}, nil
}

func TestVehicleSearch(t *testing.T) {
	a := newApp(t, embedded(t), nil)
	scenario{
		name: "nothing was fetched", url: "/v1/vehicles", status: 503, has: []string{`"code":"catalogue_missing"`},
		want: map[string]string{"Retry-After": "5"},
	}.run(t, a)
	policy, _ := tasks.PolicyOf(tasks.TypeSync)
	if n, err := a.conn.Client().LLen(t.Context(), "asynq:{"+policy.Queue+"}:pending").Result(); err != nil || n != 1 {
		t.Errorf("%d syncs were asked for, %v", n, err)
	}
	if _, err := tra.NewStore(a.conn.Client(), tra.StoreOptions{}).Sync(t.Context(), twoMakes{}); err != nil {
		t.Fatal(err)
	}
	const fielder = `{"modelBody":"COROLLA FIELDER - NKE165 - HYBRID - WAGON","model":"COROLLA FIELDER","codes":["NKE165"],"body":"WAGON"}`
	for _, s := range []scenario{
		{name: "makes", url: "/v1/vehicles", status: 200, has: []string{`{"total":2,"offset":0,"makes":["MERCEDES","TOYOTA"],"asOf":"20`}},
		{name: "makes with a word", url: "/v1/vehicles?q=toy", status: 200, has: []string{`"makes":["TOYOTA"]`}},
		{name: "by code with its prefix", url: "/v1/vehicles?make=toyota&q=daa-nke165", status: 200, has: []string{`"make":"TOYOTA","total":1,"offset":0,"vehicles":[` + fielder + `]`}},
		{name: "by name", url: "/v1/vehicles?make=TOYOTA&q=fielder+wagon", status: 200, has: []string{fielder}, want: map[string]string{"Cache-Control": "private, max-age=300"}},
		{name: "in the market's spelling", url: "/v1/vehicles?make=Mercedes-Benz", status: 200, has: []string{`"make":"MERCEDES"`, `"codes":["204046"]`}},
		{name: "a part", url: "/v1/vehicles?make=toyota&limit=1&offset=1", status: 200, has: []string{`"total":3,"offset":1`, `IST`}, hasNot: []string{"VITZ", "FIELDER"}},
		{name: "past the end", url: "/v1/vehicles?make=toyota&offset=9", status: 200, has: []string{`"total":3,"offset":9,"vehicles":[]`}},
		{name: "nothing found", url: "/v1/vehicles?make=toyota&q=prius", status: 200, has: []string{`"total":0,"offset":0,"vehicles":[]`}},
		{name: "no such make", url: "/v1/vehicles?make=trabant", status: 404, has: []string{`"code":"make_not_found"`}},
		{name: "too much", url: "/v1/vehicles?limit=201", status: 400, has: []string{`\"limit\" must be`}},
		{name: "no number", url: "/v1/vehicles?offset=x", status: 400, has: []string{`\"offset\" must be`}},
		{name: "without a key", url: "/v1/vehicles", keyless: true, status: 401},
	} {
		t.Run(s.name, func(t *testing.T) { s.run(t, a) })
	}
	tag := a.send(t, a.request(t, http.MethodGet, "/v1/vehicles", "")).header.Get("ETag")
	again := a.request(t, http.MethodGet, "/v1/vehicles", "")
	again.Header.Set("If-None-Match", tag)
	if got := a.send(t, again); got.status != http.StatusNotModified || got.body != "" {
		t.Errorf("unchanged: %d %s", got.status, got.body)
	}
}
