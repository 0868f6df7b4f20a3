package estimates

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"ushuru/api/apitest"
	"ushuru/pkg/advice"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

const site = "https://cars.example"

// pair is the body of a comparison of two listings, with more fields.
func pair(one, other, more string) string {
	return `{"url1":"` + site + one + `","url2":"` + site + other + `"` + more + `}`
}

// comparisonJSON is the comparison of two listings.
func comparisonJSON(t *testing.T, one, other string, report *string) []byte {
	t.Helper()
	rate, err := money.ParseNumber("2650")
	if err != nil {
		t.Fatal(err)
	}
	cars := advice.Pair{Car1: estimateOf(t, site+one), Car2: estimateOf(t, site+other)}
	verdict := advice.Judge(cars)
	data, err := json.Marshal(vehicle.Comparison{
		Object: vehicle.ObjectComparison, Car1: cars.Car1, Car2: cars.Car2, CondReport1: report, Rate: &rate, Lang: "en", Verdict: &verdict,
		Recommendation: advice.Write(verdict, cars, "en"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// keepComparison caches the comparison of two listings.
func keepComparison(t *testing.T, p *apitest.Parts, one, other string, report *string) {
	t.Helper()
	key := tasks.CompareInput{URL1: site + one, URL2: site + other, Lang: "en"}.Key()
	if err := p.Cache.Put(t.Context(), key, comparisonJSON(t, one, other, report), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
}

// TestACachedComparisonIsMadeAgainOnOtherTerms, and no job is submitted.
func TestACachedComparisonIsMadeAgainOnOtherTerms(t *testing.T) {
	t.Parallel()
	s, p := newResource(t)
	keepComparison(t, p, "/1", "/2", nil)
	for more, piece := range map[string]string{
		``: `"others":2650`, `,"rate":2800`: `"others":2800`, `,"costs":{"freightUSD":901}`: `"amountUSD":"901.00"`,
	} {
		got := apitest.Send(t, s.PostComparison, apitest.Ask{URL: "/v1/compare", Body: pair("/1", "/2", more)})
		if !got.Has(200, `"cached":true`) || strings.Count(got.Body, piece) < 2 {
			t.Errorf("%s: got %d %.500s, want %s of both cars", more, got.Status, got.Body, piece)
		}
	}
	if got := apitest.Send(t, s.PostComparison, apitest.Ask{URL: "/v1/compare", Body: pair("/1", "/2", `,"colour":"red"`)}); !got.Has(200, `"field_ignored"`, `colour`) {
		t.Errorf("got %d %.500s, want a warning about the field", got.Status, got.Body)
	}
	if found, _, err := p.Jobs.List(t.Context(), "key", "", 10, ""); err != nil || len(found) != 0 {
		t.Errorf("%d jobs were submitted, %v", len(found), err)
	}
}

// TestAComparisonWhoseReadingIsNotKeptIsAskedForAgain.
func TestAComparisonWhoseReadingIsNotKeptIsAskedForAgain(t *testing.T) {
	t.Parallel()
	s, p := newResource(t)
	report := "## Sheet"
	keepComparison(t, p, "/1", "/2", &report)
	ask := apitest.Ask{URL: "/v1/compare", Body: pair("/1", "/2", `,"rate":2800`), Headers: map[string]string{"Prefer": "respond-async"}}
	if got := apitest.Send(t, s.PostComparison, ask); !got.Has(202, `"kind":"compare"`) {
		t.Errorf("got %d %.300s, want a job", got.Status, got.Body)
	}
	if err := p.Cache.Put(t.Context(), tasks.CompareInput{URL1: site + "/3", URL2: site + "/4", Lang: "en"}.Key(), []byte(`{"car1":7,"cached":false}`), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if got := apitest.Send(t, s.PostComparison, apitest.Ask{URL: "/v1/compare", Body: pair("/3", "/4", "")}); got.Status != http.StatusInternalServerError {
		t.Errorf("what cannot be read: got %d %.300s", got.Status, got.Body)
	}
}

// TestAComparisonBecomesAJob, whose result is the answer.
func TestAComparisonBecomesAJob(t *testing.T) {
	t.Parallel()
	s, p := newResource(t)
	ask := apitest.Ask{URL: "/v1/compare", Body: pair("/1", "/2", `,"lang":"sw","byMonth":true,"target":{"onTheRoadTZS":40000000},"colour":"red"`)}
	ask.Headers = map[string]string{"Prefer": "respond-async"}
	accepted := apitest.Send(t, s.PostComparison, ask)
	var job struct{ ID, Location string }
	if accepted.Decode(t, &job); !accepted.Has(202, `"field_ignored"`, "colour", "byMonth", "target") || job.Location != "/v1/jobs/"+job.ID+"?lang=sw" {
		t.Fatalf("got %d %s", accepted.Status, accepted.Body)
	}
	record, err := p.Jobs.Get(t.Context(), job.ID)
	if want := `{"url1":"https://cars.example/1","url2":"https://cars.example/2","rate":"2650","lang":"sw"}`; err != nil || string(record.Input) != want {
		t.Errorf("the input is %s, %v, want %s", record.Input, err, want)
	}
	p.Succeed(t, job.ID, string(comparisonJSON(t, "/1", "/2", nil)))
	if got := apitest.Send(t, s.PostComparison, ask); got.Status != 202 && !got.Has(200, `"cached":`) {
		t.Errorf("after its end: got %d %.300s", got.Status, got.Body)
	}
}

// TestPairsThatAreRefused: with the URL that is to blame.
func TestPairsThatAreRefused(t *testing.T) {
	t.Parallel()
	s, _ := newResource(t)
	for body, want := range map[string][]string{
		`{}`:                                 {`"code":"url_missing"`, `url1: `, ` url2: `},
		`{"url1":"` + site + `/1"}`:          {`"code":"url_missing"`, `"param":"url2"`},
		`{"url1":5,"url2":"` + site + `/1"}`: {`"code":"url_missing"`},
		`{"url1":"ftp://x/","url2":"` + site + `/1"}`:   {`"code":"url_forbidden"`, `"error":"url1: `, `"param":"url1"`},
		`{"url1":"ftp://x/","url2":"http://10.0.0.1/"}`: {`"error":"url1: `, ` url2: `, `"param":"url1"`},
		pair("/1", "/1?utm_source=x", ""):               {`"code":"same_listing"`, `"param":"url2"`},
		pair("/1", "/2", `,"rate":1`):                   {`"code":"rate_invalid"`},
		pair("/1", "/2", `,"destination":"Zanzibar"`):   {`"code":"destination_unsupported"`},
		pair("/1", "/2", `,"lang":"fr"`):                {`"code":"lang_invalid"`},
		`[]`:                                            {`"code":"url_missing"`},
		`{"url1"`:                                       {`"code":"invalid_json"`},
	} {
		if got := apitest.Send(t, s.PostComparison, apitest.Ask{URL: "/v1/compare", Body: body}); !got.Has(400, want...) {
			t.Errorf("%s: got %d %s, want %q", body, got.Status, got.Body, want)
		}
	}
	strict := apitest.Ask{URL: "/v1/compare?strict=true", Body: pair("/1", "/2", `,"byMonth":true`)}
	if got := apitest.Send(t, s.PostComparison, strict); !got.Has(400, `"code":"field_unknown"`, `"param":"byMonth"`) {
		t.Errorf("strictly: got %d %s", got.Status, got.Body)
	}
}
