package vehicles

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gorilla/mux"

	"ushuru/api/apitest"
	"ushuru/api/request"
	"ushuru/pkg/cost"
	"ushuru/pkg/money"
	"ushuru/pkg/pace"
	"ushuru/pkg/tra"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// twoMakes is an authority with two makes.
type twoMakes struct{}

func (twoMakes) Makes(context.Context) ([]catalogue.Make, error) {
	return []catalogue.Make{{ID: 1, Name: "TOYOTA"}, {ID: 2, Name: "MERCEDES"}}, nil
}

func (twoMakes) ModelBodies(_ context.Context, makeID int) ([]string, error) {
	if makeID == 2 {
		return []string{"C 200 - 204046 - SEDAN"}, nil
	}
	return []string{"COROLLA FIELDER - NKE165 - HYBRID - WAGON", "IST - NCP110 - HATCHBACK", "VITZ - NCP131 - HATCHBACK"}, nil
}

// newAPI returns the endpoints of vehicles, and the parts behind them.
func newAPI(t *testing.T, of pace.Limits) (request.Handler, *apitest.Parts) {
	t.Helper()
	p := apitest.New(t, of)
	s := New(Options{
		Catalogue: p.Catalogue, Jobs: p.Jobs, Tasks: p.Tasks, Costs: cost.Embedded(), Outages: p.Outages, Limits: p.Limits, Work: p.Work,
	})
	router := mux.NewRouter().SkipClean(true)
	router.Handle("/v1/vehicles", request.Methods{http.MethodGet: s.List})
	router.Handle("/v1/vehicles/{modelBody:.+}/years", request.Methods{
		http.MethodGet: p.Limits.RateLimited(s.Years), http.MethodPost: p.Limits.RateLimited(s.Years),
	})
	return func(w http.ResponseWriter, r *http.Request) error { router.ServeHTTP(w, r); return nil }, p
}

// scenario is one request and the answer that it must get.
type scenario struct {
	name, method, url string
	status            int
	has, hasNot       []string
	want              map[string]string // headers
}

func (s scenario) run(t *testing.T, api request.Handler) {
	t.Helper()
	got := apitest.Send(t, api, apitest.Ask{Method: s.method, URL: s.url})
	if !got.Has(s.status, s.has...) {
		t.Errorf("%s: got %d %.600s, want %d %q", s.name, got.Status, got.Body, s.status, s.has)
	}
	for _, piece := range s.hasNot {
		if strings.Contains(got.Body, piece) {
			t.Errorf("%s: got %.600s, want no %s", s.name, got.Body, piece)
		}
	}
	for name, want := range s.want {
		if value := got.Header.Get(name); value != want {
			t.Errorf("%s: got %s: %q, want %q", s.name, name, value, want)
		}
	}
}

func TestVehicleSearch(t *testing.T) {
	t.Parallel()
	api, p := newAPI(t, pace.Limits{})
	scenario{
		name: "nothing was fetched", url: "/v1/vehicles", status: 503, has: []string{`"code":"catalogue_missing"`},
		want: map[string]string{"Retry-After": "5"},
	}.run(t, api)
	policy, _ := tasks.PolicyOf(tasks.TypeSync)
	if n, err := p.Redis.LLen(t.Context(), "asynq:{"+policy.Queue+"}:pending").Result(); err != nil || n != 1 {
		t.Errorf("%d syncs were asked for, %v", n, err)
	}
	if _, err := p.Catalogue.Sync(t.Context(), tra.Lister{Makes: twoMakes{}.Makes, ModelBodies: twoMakes{}.ModelBodies}); err != nil {
		t.Fatal(err)
	}
	const fielder = `{"modelBody":"COROLLA FIELDER - NKE165 - HYBRID - WAGON","model":"COROLLA FIELDER","codes":["NKE165"],"body":"WAGON","engine_cc":1496,"fuel":"petrol hybrid","from":2012,"to":2025}`
	for _, s := range []scenario{
		{name: "makes", url: "/v1/vehicles", status: 200, has: []string{`{"total":2,"makes":["MERCEDES","TOYOTA"],"asOf":"20`}},
		{name: "makes with a word", url: "/v1/vehicles?q=toy", status: 200, has: []string{`"makes":["TOYOTA"]`}},
		{name: "by code with its prefix", url: "/v1/vehicles?make=toyota&q=daa-nke165", status: 200, has: []string{`"make":"TOYOTA","total":1,"vehicles":[` + fielder + `]`}},
		{name: "by name", url: "/v1/vehicles?make=TOYOTA&q=fielder+wagon", status: 200, has: []string{fielder}, want: map[string]string{"Cache-Control": "private, max-age=300"}},
		{name: "in the market's spelling", url: "/v1/vehicles?make=Mercedes-Benz", status: 200, has: []string{`"make":"MERCEDES"`, `"codes":["204046"]`}},
		{
			name: "a part", url: "/v1/vehicles?make=toyota&limit=1&cursor=1", status: 200, has: []string{`"total":3,`, `IST`, `"next":"2"`}, hasNot: []string{"VITZ", "FIELDER"},
			want: map[string]string{"Link": `</v1/vehicles?cursor=2&limit=1&make=toyota>; rel="next"`},
		},
		{name: "past the end", url: "/v1/vehicles?make=toyota&cursor=9", status: 200, has: []string{`"total":3,"vehicles":[]`}, hasNot: []string{`"next"`}},
		{name: "nothing found", url: "/v1/vehicles?make=toyota&q=prius", status: 200, has: []string{`"total":0,"vehicles":[]`}},
		{name: "no such make", url: "/v1/vehicles?make=trabant", status: 404, has: []string{`"code":"make_not_found"`}},
		{name: "too much", url: "/v1/vehicles?limit=1001", status: 400, has: []string{`\"limit\" must be`}},
		{name: "no number", url: "/v1/vehicles?cursor=x", status: 400, has: []string{`"code":"page_invalid"`}},
		{name: "an offset", url: "/v1/vehicles?offset=50", status: 400, has: []string{`"code":"page_invalid"`}},
	} {
		s.run(t, api)
	}
	tag := apitest.Send(t, api, apitest.Ask{URL: "/v1/vehicles"}).Header.Get("ETag")
	if got := apitest.Send(t, api, apitest.Ask{URL: "/v1/vehicles", Headers: map[string]string{"If-None-Match": tag}}); got.Status != http.StatusNotModified || got.Body != "" {
		t.Errorf("unchanged: got %d %s", got.Status, got.Body)
	}
}

// TestTheCheapestYearsAreMarked: those with the lowest taxes on landing, of the known ones.
func TestTheCheapestYearsAreMarked(t *testing.T) {
	t.Parallel()
	known := func(year int, taxes string) vehicle.YearTaxes {
		amount, err := money.Parse(taxes)
		if err != nil {
			t.Fatal(err)
		}
		return vehicle.YearTaxes{YOM: year, Known: true, OnLanding: &vehicle.LandingTaxes{TotalTaxesInTZS: amount}}
	}
	years := []vehicle.YearTaxes{{YOM: 2020}, known(2019, "9,000.00"), known(2018, "7,000.00"), known(2017, "7,000.00"), {YOM: 2016}}
	markCheapest(years)
	slices.SortStableFunc(years, compareTaxes)
	var got []string
	for _, year := range years {
		got = append(got, fmt.Sprint(year.YOM, year.Cheapest))
	}
	if want := []string{"2018 true", "2017 true", "2019 false", "2020 false", "2016 false"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	unknown := []vehicle.YearTaxes{{YOM: 2020}}
	if markCheapest(unknown); unknown[0].Cheapest {
		t.Error("a year that is not known is the cheapest")
	}
	markCheapest(nil)
}
