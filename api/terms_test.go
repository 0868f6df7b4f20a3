package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/cost"
	"ushuru/pkg/localtime"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// inDays is a day from today on, in Dar es Salaam.
func inDays(n int) string {
	return time.Now().In(localtime.Zone).AddDate(0, 0, n).Format(time.DateOnly)
}

// termed is an estimate that is kept, on terms.
func termed(name, terms string, has ...string) scenario {
	return scenario{
		name: name, url: "/v1/estimate", body: `{"url":"` + site + `/terms",` + terms + `}`,
		before: func(t *testing.T, a *app) string { a.put(t, "/terms"); return "" },
		status: 200, has: append(has, `"cached":true`),
	}
}

// badTerms is an estimate that is refused because of its terms.
func badTerms(name, terms, code string, has ...string) scenario {
	return scenario{
		name: name, url: "/v1/estimate", body: `{"url":"` + site + `/terms",` + terms + `}`,
		status: 400, has: append(has, `"code":"`+code+`"`),
	}
}

var termsScenarios = []scenario{
	termed("landing between two days", `"landing":{"from":"`+inDays(10)+`","to":"`+inDays(20)+`"}`,
		`"landing":{"from":"`+inDays(10)+`","to":"`+inDays(20)+`","likely":"`+inDays(15)+`"`),

	termed("the caller's figures", `"costs":{"freightUSD":1300.5,"agentTZS":350000,"otherTZS":123456,"exchangeRate":2700}`,
		`"amountUSD":"1,300.50","amountTZS":"3,511,350.00","standing":"caller"`, `"amountTZS":"350,000.00"`, `"amountTZS":"123,456.00"`,
		`"standing":"caller"`, `"others":2700`),

	badTerms("in Swahili", `"lang":"sw","destination":"Mombasa"`, "destination_unsupported", "bandari ya Dar es Salaam"),
	{
		name: "Zanzibar in a batch", url: "/v1/batches",
		body:   `{"urls":["https://cars.example/1"],"options":{"destination":"Zanzibar"}}`,
		status: 400, has: []string{`"code":"destination_unsupported"`},
	},

	termed("fields that do not exist", `"colour":"red","costs":{"freight":1300},"landing":{"from":"`+inDays(9)+`","until":"x"}`,
		`"code":"field_ignored"`, `colour`, `costs.freight`, `landing.until`),

	termed("the highest price for a target", `"target":{"onTheRoadTZS":40000000}`,
		`"maxPriceUSD":{"targetTZS":40000000,"fob":{"low":`, `"cf":{"low":`),
	termed("the cost by month", `"byMonth":true`, `"byMonth":{"months":[{"month":"`, `"assumed":true`),
	{
		name: "the highest price of a quote", url: "/v1/quote",
		body:   `{"make":"TOYOTA","modelCode":"NKE165","year":2009,"target":{"onTheRoadTZS":40000000}}`,
		status: 200, has: []string{`"maxPriceUSD":{"targetTZS":40000000,"fob":{"low":`},
	},
	{name: "bad terms in the query of a job", url: "/v1/jobs/{id}?landing=soon", before: ended("/query"), status: 400, has: []string{`"code":"field_invalid"`}},
	{name: "a port in the query of a job", url: "/v1/jobs/{id}?destination=Beira", before: ended("/query"), status: 400, has: []string{`"code":"destination_unsupported"`}},
}

// A typed freight narrows the range of a listing without one to a few per cent.
func TestATypedFreightNarrowsTheRange(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	a.put(t, "/narrow")
	width := func(terms string) float64 {
		got := a.send(t, a.request(t, http.MethodPost, "/v1/estimate", `{"url":"https://cars.example/narrow"`+terms+`}`))
		var e vehicle.Estimate
		if err := json.Unmarshal([]byte(got.body), &e); err != nil || e.Summary == nil || e.Summary.OnTheRoad == nil {
			t.Fatalf("%v %s", err, got.body)
		}
		sum := e.Summary.OnTheRoad
		return float64(sum.HighTZS-sum.LowTZS) / float64(sum.TZS)
	}
	before, after := width(`,"rate":2650`), width(`,"costs":{"freightUSD":1300}`)
	t.Logf("width %.3f, then %.3f", before, after)
	if after > before || after > 0.12 {
		t.Errorf("width %.3f, then %.3f", before, after)
	}
}

// A caller who does not wait finds the result on the terms of the request at Location.
func TestTheLocationOfAJobHasTheTerms(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	body := `{"url":"https://cars.example/later","lang":"sw","landing":{"from":"` + inDays(40) + `","to":"` + inDays(50) +
		`"},"costs":{"freightUSD":1300.50,"exchangeRate":2700,"plates":false},"target":{"onTheRoadTZS":40000000},"byMonth":true,"colour":"red"}`
	r := a.request(t, http.MethodPost, "/v1/estimate", body)
	r.Header.Set("Prefer", "respond-async")
	accepted := a.send(t, r)
	location := accepted.header.Get("Location")
	if accepted.status != http.StatusAccepted || !strings.Contains(location, "landing="+inDays(40)+".."+inDays(50)) {
		t.Fatalf("%d %q", accepted.status, location)
	}
	if !strings.Contains(accepted.body, `"field_ignored"`) || !strings.Contains(accepted.body, "colour") {
		t.Errorf("the field that does not exist is not in %s", accepted.body)
	}
	a.work(t)
	<-a.taken
	got := a.send(t, a.request(t, http.MethodGet, location, ""))
	for _, piece := range []string{
		`"state":"succeeded"`, `"from":"` + inDays(40) + `","to":"` + inDays(50) + `"`, `"amountUSD":"1,300.50"`, `"others":2700`,
		`"maxPriceUSD":{"targetTZS":40000000`, `"byMonth":{"months":[{`,
	} {
		if !strings.Contains(got.body, piece) {
			t.Errorf("no %s in %s", piece, got.body)
		}
	}
	if got.status != http.StatusOK || strings.Contains(got.body, `"code":"plates"`) {
		t.Errorf("%d %s", got.status, got.body)
	}
	now := a.send(t, a.request(t, http.MethodPost, "/v1/estimate", body))
	var job struct {
		Result vehicle.Estimate `json:"result"`
	}
	var waited vehicle.Estimate
	if json.Unmarshal([]byte(got.body), &job) != nil || json.Unmarshal([]byte(now.body), &waited) != nil || waited.Summary == nil {
		t.Fatalf("%s\n%s", got.body, now.body)
	}
	if *job.Result.Summary.OnTheRoad != *waited.Summary.OnTheRoad {
		t.Errorf("%+v, who waits gets %+v", job.Result.Summary.OnTheRoad, waited.Summary.OnTheRoad)
	}
}

// However a request asks for an estimate that is kept, its total is that of the tables, to
// the cent: plain, at the rate of the answer, with months, with a target, and again.
func TestEveryRequestGivesOneTotal(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	var kept vehicle.Estimate
	if err := json.Unmarshal(estimateOf(site+"/total"), &kept); err != nil {
		t.Fatal(err)
	}
	price := money.NewNumber(decimal.NewFromInt(6150))
	kept.Car.FOBPriceUSD, kept.Car.CFPriceUSD = &price, nil
	kept = cost.Embedded().Apply(kept, vehicle.Terms{}, time.Now())
	data, err := json.Marshal(kept)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.cache.Put(t.Context(), estimateKey("/total"), data, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	want := kept.DriveAway
	for _, more := range []string{
		``, `,"rate":2650`, `,"byMonth":true`, `,"target":{"onTheRoadTZS":60000000}`, `,"lang":"sw"`, `,"explain":false`, ``,
	} {
		body := a.send(t, a.request(t, http.MethodPost, "/v1/estimate", `{"url":"`+site+`/total"`+more+`}`)).body
		var got vehicle.Estimate
		if err := json.Unmarshal([]byte(body), &got); err != nil || got.DriveAway == nil {
			t.Fatalf("%s: got %s (%v)", more, body, err)
		}
		if d := got.DriveAway; d.TotalTZS.String() != want.TotalTZS.String() || d.LowTZS.String() != want.LowTZS.String() ||
			d.HighTZS.String() != want.HighTZS.String() || d.TotalUSD.String() != want.TotalUSD.String() {
			t.Errorf("%s: got %s (%s to %s), want %s (%s to %s)", more, d.TotalTZS, d.LowTZS, d.HighTZS, want.TotalTZS, want.LowTZS, want.HighTZS)
		}
		if text := got.Summary.Text; text.EN != kept.Summary.Text.EN && text.SW != kept.Summary.Text.SW {
			t.Errorf("%s: got %q, want %q", more, text.EN+text.SW, kept.Summary.Text.EN)
		}
	}
}
