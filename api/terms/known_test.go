package terms_test

import (
	"encoding/json"
	"strings"
	"testing"

	"ushuru/api/problem"
	"ushuru/api/terms"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/vehicle"
)

// encoded returns known values as JSON, "" for none.
func encoded(t *testing.T, known *vehicle.Known) string {
	t.Helper()
	if known == nil {
		return ""
	}
	data, err := plainjson.Encode(known)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestParseKnown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ body, want, said string }{
		{``, "", ""},
		{`null`, "", ""},
		{`{}`, "", ""},
		{`{"yearBasis":"model"}`, "", ""},
		{`{"year":2016}`, `{"year":2016,"yearBasis":"manufacture"}`, ""},
		{`{"year":2016,"yearBasis":"registration"}`, `{"year":2016,"yearBasis":"registration"}`, ""},
		{`{"modelCode":"daa-nke165g"}`, `{"modelCode":"NKE165G","rawModelCode":"DAA-NKE165G"}`, ""},
		{`{"engine_cc":1496,"fuel":"hybrid","bodyType":"wagon"}`, `{"engine_cc":1496,"fuel":"HYBRID","bodyType":"WAGON"}`, ""},
		{`{"fobPriceUSD":5000,"cfPriceUSD":6500}`, `{"fobPriceUSD":5000,"cfPriceUSD":6500}`, ""},
		{`[]`, "", "must be an object"},
		{`{"years":2016}`, "", "must be an object"},
		{`{"year":"2016"}`, "", "must be an object"},
		{`{"year":1900}`, "", `In "known", "year" must be the year`},
		{`{"yearBasis":"import"}`, "", `"known.yearBasis" must be`},
		{`{"engine_cc":-1}`, "", `"engine_cc" must be`},
		{`{"modelCode":"no code"}`, "", `"modelCode" must be`},
		{`{"fobPriceUSD":0}`, "", `"fobPriceUSD" must be`},
		{`{"fuel":"` + strings.Repeat("x", 101) + `"}`, "", `"fuel" must be`},
	} {
		known, err := terms.ParseKnown(json.RawMessage(c.body))
		got := encoded(t, known)
		switch {
		case c.said == "" && (err != nil || got != c.want):
			t.Errorf("%s: %s, %v; want %s", c.body, got, err, c.want)
		case c.said != "" && (err == nil || !strings.Contains(err.(*problem.Problem).Message, c.said)): //nolint:errorlint // it is one
			t.Errorf("%s: %v, want %q", c.body, err, c.said)
		}
	}
}

func TestRowsOfATableHaveKnownValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cells map[string]string
		want  string
		bad   bool
	}{
		{map[string]string{"year": "2016", "fobpriceusd": "5,200", "yearbasis": "registration"}, `{"year":2016,"yearBasis":"registration","fobPriceUSD":5200}`, false},
		{nil, "", false},
		{map[string]string{"year": "soon"}, "", true},
		{map[string]string{"year": "2016", "colour": "red"}, "", true},
	} {
		known, err := terms.ParseKnown(terms.KnownOfCells(c.cells))
		if got := encoded(t, known); got != c.want || (err != nil) != c.bad {
			t.Errorf("%q: %s, %v; want %s", c.cells, encoded(t, known), err, c.want)
		}
	}
}
