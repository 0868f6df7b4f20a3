package vehicles

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ushuru/api/apitest"
	"ushuru/api/request"
	"ushuru/pkg/jobs"
	"ushuru/pkg/pace"
	"ushuru/pkg/tra"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

const longAgo = 45 // years, more than one request asks for

// yearsAuthority is an authority with a label of two makes, one with a slash, one with
// two fuels, and one of many years.
type yearsAuthority struct{ *httptest.Server }

func (yearsAuthority) Makes(context.Context) ([]catalogue.Make, error) {
	return []catalogue.Make{{ID: 1, Name: "TOYOTA"}, {ID: 2, Name: "MERCEDES"}}, nil
}

func (yearsAuthority) ModelBodies(_ context.Context, makeID int) ([]string, error) {
	if makeID == 2 {
		return []string{"VAN - A1B - VAN"}, nil
	}
	return []string{"IST - NCP60 / NCP61 - HATCHBACK", "VAN - A1B - VAN", "VITZ - NCP131 - HATCHBACK", "NOAH - ZRR70 - VAN"}, nil
}

func startYearsAuthority(t *testing.T) yearsAuthority {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		list := func(field string, values ...any) {
			items := make([]map[string]any, len(values))
			for i, value := range values {
				items[i] = map[string]any{field: value}
			}
			_ = json.NewEncoder(w).Encode(items)
		}
		switch {
		case strings.HasSuffix(r.URL.Path, "/getYom"):
			var years []any
			for i := range longAgo {
				years = append(years, 2000+i-longAgo/2)
			}
			list("yom", years...)
		case strings.HasSuffix(r.URL.Path, "/getCountryOfOrigin"):
			list("countryOfOrigin", "JAPAN")
		case strings.HasSuffix(r.URL.Path, "/getFuelType"):
			list("fuelType", "PETROL", "DIESEL")
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return yearsAuthority{server}
}

// yearsAPI is an API whose catalogue is that of the authority, and which knows the years
// of VITZ, and of NOAH one that has two fuels.
func yearsAPI(t *testing.T, limits pace.Limits) (request.Handler, *apitest.Parts) {
	t.Helper()
	api, p := newAPI(t, limits)
	from := startYearsAuthority(t)
	store := p.Catalogue
	client, err := tra.NewClient(tra.Options{BaseURL: from.URL})
	if err == nil {
		_, err = store.Sync(t.Context(), tra.Lister{Makes: from.Makes, ModelBodies: from.ModelBodies})
	}
	if err == nil {
		_, err = store.WorkerAlive(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	known, toyota := tra.NewAuthority(client, store, tra.AuthorityOptions{}), catalogue.Make{ID: 1, Name: "TOYOTA"}
	for _, label := range []string{"VITZ - NCP131 - HATCHBACK", "NOAH - ZRR70 - VAN"} {
		if _, err := known.List(t.Context(), toyota, catalogue.Vehicle{ModelBody: label}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := known.List(t.Context(), toyota, catalogue.Vehicle{ModelBody: "NOAH - ZRR70 - VAN", YOM: 2000}); err != nil {
		t.Fatal(err)
	}
	if _, err := known.List(t.Context(), toyota, catalogue.Vehicle{ModelBody: "NOAH - ZRR70 - VAN", YOM: 2000, Country: "JAPAN"}); err != nil {
		t.Fatal(err)
	}
	return api, p
}

const (
	vitzYears = "/v1/vehicles/VITZ%20-%20NCP131%20-%20HATCHBACK/years"
	noahYears = "/v1/vehicles/NOAH%20-%20ZRR70%20-%20VAN/years"
	vanYears  = "/v1/vehicles/VAN%20-%20A1B%20-%20VAN/years"
	istYears  = "/v1/vehicles/IST%20-%20NCP60%20%2F%20NCP61%20-%20HATCHBACK/years"
)

func TestModelYears(t *testing.T) {
	t.Parallel()
	empty, _ := newAPI(t, pace.Limits{})
	scenario{
		name: "nothing was fetched", url: vitzYears, status: 503, has: []string{`"code":"catalogue_missing"`},
	}.run(t, empty)
	api, p := yearsAPI(t, pace.Limits{})
	for _, s := range []scenario{
		{name: "no such label", url: "/v1/vehicles/TRABANT/years", status: 404, has: []string{`"code":"label_not_found"`, "TRA lists no such label"}},
		{name: "in Swahili", url: "/v1/vehicles/TRABANT/years?lang=sw", status: 404, has: []string{`"error":"TRA haina gari hilo`}},
		{name: "of another make", url: vitzYears + "?make=mercedes", status: 404, has: []string{`"code":"label_not_found"`}},
		{name: "no such make", url: vitzYears + "?make=trabant", status: 404, has: []string{`"code":"make_not_found"`}},
		{name: "of two makes", url: vanYears, status: 400, has: []string{`"code":"make_ambiguous"`, "MERCEDES, TOYOTA"}},
		{name: "of the one that is named", url: vanYears + "?make=Mercedes-Benz", status: 200, has: []string{`{"make":"MERCEDES","modelBody":"VAN - A1B - VAN","yearsListed":false,"years":[],"unknown":0,"pending":0}`}},
		{name: "as a person writes it", url: "/v1/vehicles/ist%20-%20ncp60%20%2F%20%20NCP61%20-%20hatchback/years", status: 200, has: []string{`"modelBody":"IST - NCP60 / NCP61 - HATCHBACK"`}},
		{name: "a switch that is neither", url: vitzYears + "?cheapestFirst=yes", status: 400, has: []string{`\"cheapestFirst\" must be true or false`}},
		{name: "a landing that is no day", url: vitzYears + "?landing=soon", status: 400, has: []string{`"param":"landing"`}},
		{name: "an engine in litres", url: vitzYears + "?engine_cc=1.5", status: 400, has: []string{`\"engine_cc\" must be`}},
		{name: "a fuel like a novel", url: vitzYears + "?fuel=" + strings.Repeat("x", 101), status: 400, has: []string{`\"fuel\" must be`}},
		{name: "a label like a novel", url: "/v1/vehicles/" + strings.Repeat("x", 201) + "/years", status: 400, has: []string{`\"modelBody\" must be`}},
		{name: "the list of the years is requested", method: http.MethodPost, url: istYears, status: 202, has: []string{`"yearsListed":false,"years":[],"unknown":0,"pending":1`}, want: map[string]string{"Retry-After": "2"}},
		{name: "once", method: http.MethodPost, url: istYears, status: 202, has: []string{`"pending":1`}},
		{name: "and is pending for all", url: istYears, status: 200, has: []string{`"pending":1`}, want: map[string]string{"Retry-After": "2"}},
		{name: "years that are not known", url: vitzYears, status: 200, has: []string{`"yearsListed":true,"years":[{"yom":2022,"known":false},`, `"unknown":45,"pending":0`}, hasNot: []string{"cheapest"}},
		{name: "are requested, but not all at once", method: http.MethodPost, url: vitzYears, status: 202, has: []string{`"unknown":45,"pending":40}`}},
		{name: "nor by the next request", method: http.MethodPost, url: vitzYears, status: 202, has: []string{`"unknown":45,"pending":40}`}},
		{name: "what is requested can be cheapest first", url: vitzYears + "?cheapestFirst=true", status: 200, has: []string{`"pending":40`}},
		{name: "two fuels", url: noahYears, status: 200, has: []string{`{"yom":2000,"known":false,"problem":{"code":"request_incomplete"`, "PETROL, DIESEL", `"unknown":44`}},
		{name: "one of them", url: noahYears + "?fuel=diesel", status: 200, has: []string{`{"yom":2000,"known":false}`, `"unknown":45`}, hasNot: []string{"problem"}},
	} {
		s.run(t, api)
	}
	policy, _ := tasks.PolicyOf(tasks.TypeQuoteMatch)
	for queue, want := range map[string]int64{policy.Queue: 0, policy.Queue + tasks.BulkSuffix: 41} {
		if n, err := p.Redis.LLen(t.Context(), "asynq:{"+queue+"}:pending").Result(); err != nil || n != want {
			t.Errorf("%d tasks in %s, want %d, %v", n, queue, want, err)
		}
	}
}

// The years that a key requests are its running jobs, and every request counts against
// its rate.
func TestModelYearsOfALimitedKey(t *testing.T) {
	t.Parallel()
	api, _ := yearsAPI(t, pace.Limits{PerMinute: 3, Jobs: 2})
	for _, s := range []scenario{
		{name: "as many as may run", method: http.MethodPost, url: vitzYears, status: 202, has: []string{`"pending":2}`}},
		{name: "none more, as some are pending", method: http.MethodPost, url: vitzYears, status: 202, has: []string{`"pending":2}`}},
		{name: "none of another label", method: http.MethodPost, url: istYears, status: 429, has: []string{`"code":"too_many_jobs"`}, want: map[string]string{"Retry-After": "2"}},
		{name: "too many requests", url: vitzYears, status: 429, has: []string{`"code":"rate_limited"`}},
	} {
		s.run(t, api)
	}
}

// The job of a year is that of the same quote.
func TestModelYearsShareTheJobsOfQuotes(t *testing.T) {
	t.Parallel()
	api, p := yearsAPI(t, pace.Limits{})
	quote := vehicle.QuoteInput{Make: "TOYOTA", ModelBody: "VITZ - NCP131 - HATCHBACK", Year: 2012}
	if _, err := p.Tasks.Submit(t.Context(), tasks.KindQuote, quote, tasks.Requester{Owner: "other", Class: jobs.Interactive}); err != nil {
		t.Fatal(err)
	}
	var found vehicle.ModelYears
	if apitest.Send(t, api, apitest.Ask{URL: vitzYears}).Decode(t, &found); found.Pending != 1 || found.Unknown != longAgo {
		t.Errorf("got %d pending and %d unknown, want 1 and %d", found.Pending, found.Unknown, longAgo)
	}
}
