package web

import (
	"net/http"
	"strings"
	"testing"

	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// A price that the visitor gave is never called that of the listing or of the seller: on the page,
// in what is shared, in the preview of a messenger and as JSON, in both languages.
func TestAPriceOfTheVisitorIsNeverTheListings(t *testing.T) {
	t.Parallel()
	_, listed := served(t, answering(t, nil))
	_, described := served(t, answering(t, func(e *vehicle.Estimate) {
		price, _ := money.ParseNumber("5000")
		e.Car.FOBPriceUSD, e.Input.URL = &price, ""
	}))
	car := "u=https://cars.example/1"
	for name, c := range map[string]struct {
		h          http.Handler
		path, body string
		en, sw     string
	}{
		"FOB":    {listed, "/go", car + "&price=100", "With the price you gave, USD 100", "Kwa bei uliyotoa, USD 100"},
		"C&F":    {listed, "/go", car + "&price=9,000&basis=cf", "With the price you gave, USD 9,000", "Kwa bei uliyotoa, USD 9,000"},
		"hand":   {described, "/hand", "make=TOYOTA&modelBody=IST&year=2010&price=4000&basis=fob", "With the price you gave, USD 4,000", "Kwa bei uliyotoa, USD 4,000"},
		"target": {listed, "/bid", car + "&price=4000&target=30000000", "With the price you gave, USD 4,000: ", "Kwa bei uliyotoa, USD 4,000: "},
	} {
		at := post(c.h, c.path, c.body, http.Header{}).Header().Get("Location")
		for lang, want := range map[string]string{"en": c.en, "sw": c.sw} {
			body := get(c.h, at+"&lang="+lang, nil).Body.String()
			if !strings.Contains(body, want) {
				t.Errorf("%s, %s: no %q\n%s", name, lang, want, body)
			}
			for _, never := range []string{"listing&#39;s price", "bei iliyo kwenye tangazo", "The seller asks", "Muuzaji anataka"} {
				if strings.Contains(body, never) {
					t.Errorf("%s, %s: the page says %q", name, lang, never)
				}
			}
			if name == "target" {
				continue
			}
			for _, where := range []string{`og:title" content="`, "wa.me/?text="} {
				_, shared, _ := strings.Cut(body, where)
				shared, _, _ = strings.Cut(shared, "\"")
				shared = strings.NewReplacer("%20", " ", "%2C", ",").Replace(shared)
				if !strings.Contains(shared, want) {
					t.Errorf("%s, %s: %s has no %q: %s", name, lang, where, want, shared)
				}
			}
		}
		data := get(c.h, at, http.Header{"Accept": {"application/json"}}).Body.String()
		if strings.Contains(data, "listing's price") || name != "hand" && !strings.Contains(data, `"given":["`) ||
			!strings.Contains(data, "the price you gave") {
			t.Errorf("%s: as JSON %s", name, data)
		}
	}
	if body := get(listed, ask(t, listed, car), nil).Body.String(); strings.Contains(body, "you gave") || !strings.Contains(body, "listing&#39;s price") {
		t.Errorf("the listing's own price is called another's\n%s", body)
	}
}
