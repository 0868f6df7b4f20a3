package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// failing is an API whose every job ends with an error.
func failing(why vehicle.Error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost:
			w.Header().Set("Location", "/v1/jobs/1")
			w.WriteHeader(http.StatusAccepted)
		case r.URL.Path == "/v1/vehicles" && r.URL.Query().Get("make") == "":
			_, _ = w.Write([]byte(`{"total":1,"makes":["NISSAN"]}`))
		case r.URL.Path == "/v1/vehicles":
			_, _ = w.Write([]byte(`{"total":1,"vehicles":[{"modelBody":"NOTE - E12"}]}`))
		default:
			_ = json.NewEncoder(w).Encode(map[string]any{"id": "1", "state": "failed", "created": time.Now(), "error": why})
		}
	}
}

func TestEveryFailureNamesTheNextStep(t *testing.T) {
	t.Parallel()
	car := &vehicle.Car{Make: "NISSAN", Model: "NOTE", Images: []string{}}
	for code, c := range map[string]struct {
		want []string // on the page
		car  *vehicle.Car
	}{
		"listing_blocked":       {[]string{"does not let us read", "/hand"}, nil},
		"listing_gone":          {[]string{"no longer on the site", "Another car"}, nil},
		"listing_sold":          {[]string{"This car is sold"}, nil},
		"not_a_listing":         {[]string{"not the page of one car", "/hand"}, nil},
		"several_cars":          {[]string{"lists several cars", `value="https://x.example.com/1"`, "Nissan Note, 2014, US$ 2,350"}, nil},
		"host_busy":             {[]string{"does not answer", "Try again", "/hand"}, nil},
		"fetch_timeout":         {[]string{"does not answer", "Try again"}, nil},
		"ambiguous_match":       {[]string{"several cars that fit", "begins with the code", `value="NOTE - HE12"`, "/choose"}, car},
		"no_match":              {[]string{"no such car", "/choose", "/hand?make=NISSAN"}, car},
		"listing_incomplete":    {[]string{"Something is missing", `name="year"`}, car},
		"authority_unavailable": {[]string{"calculator does not answer", "Try again"}, nil},
		"deadline_exceeded":     {[]string{"wrong on our side", "Try again"}, nil},
		"internal":              {[]string{"wrong on our side", "Try again"}, nil},
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			said := message.Text{EN: "<b>The reason.</b>", SW: "Sababu."}
			why := vehicle.Error{Code: code, Message: said.EN, Text: &said, Car: c.car}
			if code == "several_cars" {
				why.Cars = []vehicle.ListedCar{{Name: "Nissan Note", Year: 2014, Price: "US$ 2,350", URL: "https://x.example.com/1"}}
			}
			if code == "ambiguous_match" {
				why.Candidates = []vehicle.Candidate{
					{Make: "NISSAN", ModelBody: "NOTE - HE12", EngineCC: 1200}, {Make: "NISSAN", ModelBody: "NOTE - E12"},
				}
			}
			_, h := served(t, failing(why))
			w := post(h, "/go", "u=https://cars.example/1", http.Header{})
			at := w.Header().Get("Location")
			w = get(h, at, http.Header{})
			for _, want := range c.want {
				if !strings.Contains(w.Body.String(), want) {
					t.Errorf("no %q\n%s", want, w.Body)
				}
			}
			if n := strings.Count(strings.ToLower(w.Body.String()), "cost not known yet"); n != min(len(why.Candidates), 1) {
				t.Errorf("the page says %d times that no cost is known", n)
			}
			if w.Code != http.StatusOK || strings.Contains(w.Body.String(), "<b>The") {
				t.Errorf("%d\n%s", w.Code, w.Body)
			}
			if again := post(h, "/go", "u=https://cars.example/1", http.Header{}); again.Header().Get("Location") != at {
				t.Errorf("trying again leads to %s, not to %s", again.Header().Get("Location"), at)
			}
		})
	}
}

func TestACarIsDescribedInThreeSteps(t *testing.T) {
	t.Parallel()
	_, h := served(t, failing(vehicle.Error{Code: "internal"}))
	for path, want := range map[string]string{
		"/hand": "<option>NISSAN</option>", "/hand?q=note": "<option>BMW</option><option>NISSAN</option>",
		"/hand?make=NISSAN&q=note&year=2019":             "<option>NOTE</option><option>NOTE NISMO</option>",
		"/hand?make=NISSAN&model=NOTE&year=2019":         `value="2019"`,
		"/hand?make=TOYOTA&q=NKE165&fuel=petrol&year=19": `name="code" value="NKE165"`, // the only model is taken
		"/hand?make=TOYOTA&q=axio&price=4000&basis=fob":  `<a href="/hand?basis=fob&amp;make=TOYOTA&amp;price=4000">`,
		"/hand?make=TOYOTA&q=zzzz&year=2019":             "nothing like that",
	} {
		if w := get(h, path, nil); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d, no %s\n%s", path, w.Code, want, w.Body)
		}
	}
	w := post(h, "/hand", "make=NISSAN&modelBody=NOTE&year=2019&price=5%2C000&basis=cf", http.Header{})
	at := w.Header().Get("Location")
	if w.Code != http.StatusSeeOther {
		t.Fatalf("%d\n%s", w.Code, w.Body)
	}
	body := get(h, at, nil).Body.String()
	for _, want := range []string{`action="/hand"`, `name="make" value="NISSAN"`, `name="price" value="5000"`, `name="basis" value="cf"`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s\n%s", want, body)
		}
	}
}

// TestTheCodeIsAskedOnlyOfWhatRemains: of the model that was chosen, by year, engine and fuel.
func TestTheCodeIsAskedOnlyOfWhatRemains(t *testing.T) {
	t.Parallel()
	why := vehicle.Error{Code: "no_match", Message: "No.", Car: &vehicle.Car{Make: "TOYOTA", Model: "PASSO", Year: 2009, EngineCC: 1000}}
	for label, c := range map[string]vehicle.Candidate{
		"PASSO - KGC10 - HATCHBACK": {EngineCC: 996, YearFrom: 2004, YearTo: 2010}, "PASSO - KGC15 - HATCHBACK": {},
		"PASSO - QNC10 - HATCHBACK": {EngineCC: 1297}, "PASSO - KGC30 - HATCHBACK": {YearFrom: 2010}, "PREMIO - ZRT260 - SEDAN": {},
	} {
		c.Make, c.ModelBody = "TOYOTA", label
		why.Candidates = append(why.Candidates, c)
	}
	_, h := served(t, failing(why))
	at := post(h, "/hand", "make=TOYOTA&model=PASSO&year=2009&cc=1000&price=4500&basis=fob", http.Header{}).Header().Get("Location")
	body := get(h, at, nil).Body.String()
	for _, want := range []string{"KGC10", "KGC15", "Which chassis code has your car?", `href="/hand?`, `name="basis" value="fob"`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q in\n%s", want, body)
		}
	}
	for _, never := range []string{"QNC10", "KGC30", "PREMIO", "no such car"} {
		if strings.Contains(body, never) {
			t.Errorf("the page has %q\n%s", never, body)
		}
	}
}

// TestAFieldThatIsWrongIsNamedAndMarked: what was typed stays in all fields.
func TestAFieldThatIsWrongIsNamedAndMarked(t *testing.T) {
	t.Parallel()
	_, h := served(t, refusing(http.StatusBadRequest, `{"error":"No.","code":"field_invalid","param":"year"}`))
	const car = "make=NISSAN&model=NOTE&cc=1200&fuel=petrol"
	for body, want := range map[string][2]string{
		car + "&year=17&price=4,500&basis=fob":       {"Mwaka: andika", `value="17" autocomplete="off" aria-invalid="true"`},
		car + "&year=2017&price=much&basis=fob":      {"Bei: iandike", `value="much" autocomplete="off" aria-invalid="true"`},
		car + "&year=2017&price=milioni+9&basis=fob": {"Bei: iandike", `value="9000000"`},
		car + "&year=2017&price=TSh+9m&basis=fob":    {"Bei: iandike", `value="TSh 9m"`}, // which is no price in dollars
		car + "&year=2017&price=USD+4,500":           {"Bei: chagua", `value="fob" aria-invalid="true"`},
	} {
		w := post(h, "/hand", body, http.Header{"Cookie": {"lang=sw"}})
		for _, piece := range append(want[:], `value="1200"`, `value="petrol" selected`, `role="alert"`) {
			if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), piece) {
				t.Errorf("%s: %d, no %q\n%s", body, w.Code, piece, w.Body)
			}
		}
	}
}

func TestAPriceThatIsMissingIsAskedFor(t *testing.T) {
	t.Parallel()
	_, h := served(t, answering(t, func(e *vehicle.Estimate) {
		e.Summary.PortAndTaxesOnly, e.Summary.OnTheRoad, e.Summary.CarAndShipping = e.Summary.OnTheRoad, nil, nil
		e.Stale = true
	}))
	body := get(h, ask(t, h, "u=https://cars.example/1"), nil).Body.String()
	for _, want := range []string{`name="price"`, "Without the price of the car", "does not answer now"} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s\n%s", want, body)
		}
	}
}

func TestATextOfAListingIsNeverMarkup(t *testing.T) {
	t.Parallel()
	const evil = `"><script>alert(1)</script><img src=x onerror=alert(1)>`
	_, h := served(t, answering(t, func(e *vehicle.Estimate) {
		e.Car.Make, e.Car.Version, e.Car.StockNo, e.Matched.ModelBody = evil, evil, evil, evil
		e.Input.URL = "javascript:alert(1)"
		e.Warnings = append(e.Warnings, message.Notice{Code: "x", Level: message.Danger, Message: evil})
		e.DriveAway.Lines[0].Source = evil
	}))
	for _, path := range []string{"", "/choose"} {
		body := get(h, ask(t, h, "u=https://cars.example/1")+path, nil).Body.String()
		for _, bad := range []string{"<script>alert", "<img", `href="javascript:`} {
			if strings.Contains(body, bad) {
				t.Errorf("%s: the page has %s", path, bad)
			}
		}
	}
}

func TestProgramsGetTheSnapshot(t *testing.T) {
	t.Parallel()
	_, h := served(t, answering(t, nil))
	w := get(h, ask(t, h, "u=https://cars.example/1"), http.Header{"Accept": {"application/json"}})
	var estimate vehicle.Estimate
	if err := json.Unmarshal(w.Body.Bytes(), &estimate); err != nil || estimate.Summary == nil ||
		!strings.Contains(fmt.Sprint(w.Header()["Vary"]), "Accept") {
		t.Errorf("%v %v\n%s", err, w.Header(), w.Body)
	}
}

// A job may be over before the API responds. Its error has the same page as that of a
// slower one; an error of the request stays beside the form.
func TestAnErrorThatComesAtOnceHasItsPage(t *testing.T) {
	t.Parallel()
	for code, c := range map[string]struct{ status, want int }{
		"listing_gone": {http.StatusUnprocessableEntity, http.StatusSeeOther}, "host_busy": {http.StatusServiceUnavailable, http.StatusSeeOther},
		"url_invalid": {http.StatusBadRequest, http.StatusUnprocessableEntity}, "too_many_jobs": {http.StatusTooManyRequests, http.StatusTooManyRequests},
		"unavailable": {http.StatusServiceUnavailable, http.StatusServiceUnavailable},
	} {
		_, h := served(t, refusing(c.status, `{"error":"The reason.","code":"`+code+`"}`))
		w := post(h, "/go", "u=https://cars.example/1", http.Header{})
		if w.Code != c.want {
			t.Errorf("%s: %d, want %d", code, w.Code, c.want)
		}
		if w.Code != http.StatusSeeOther {
			continue
		}
		page := get(h, w.Header().Get("Location"), nil)
		if want := "state." + stateOf(code).Key; page.Code != http.StatusOK || !strings.Contains(page.Body.String(), message.Say("page/"+want, nil).EN) {
			t.Errorf("%s: %d\n%s", code, page.Code, page.Body)
		}
	}
}

// What a car costs as each of the entries that it may be is on the terms of the address.
func TestEntriesToChooseFromAreOnTheTermsOfTheAddress(t *testing.T) {
	t.Parallel()
	pages, h := served(t, failing(vehicle.Error{
		Code: "ambiguous_match", Message: "Which?", Car: &vehicle.Car{Make: "NISSAN", Model: "NOTE", Year: 2016},
		Candidates: []vehicle.Candidate{{Make: "NISSAN", ModelBody: "NOTE - HE12"}, {Make: "NISSAN", ModelBody: "NOTE - E12"}},
	}))
	var asked url.Values
	pages.options.Costs = func(_ context.Context, _ vehicle.Car, _ []string, terms url.Values, _ time.Time) (map[string]vehicle.Estimate, error) {
		asked = terms
		return map[string]vehicle.Estimate{}, nil
	}
	at := post(h, "/go", "u=https://cars.example/1&price=5,000&freight=1300", http.Header{}).Header().Get("Location")
	if w := get(h, at, nil); w.Code != http.StatusOK || asked.Encode() != "freight=1300&price=5000" {
		t.Errorf("got %d and costs on the terms %q, want the price and the freight", w.Code, asked.Encode())
	}
}
