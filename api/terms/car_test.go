package terms_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"ushuru/api/problem"
	"ushuru/api/terms"
	"ushuru/pkg/money"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/vehicle"
)

// canonical reads a car from JSON, as the bodies that embed it do.
func canonical(t *testing.T, body string) (string, error) {
	t.Helper()
	var car terms.Car
	err := json.Unmarshal([]byte(body), &car)
	if wrongType, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return "", terms.CarTypeProblem(wrongType.Field)
	}
	if err != nil {
		t.Fatal(err)
	}
	input, err := car.Canonical()
	if err != nil {
		return "", err
	}
	data, err := plainjson.Encode(input)
	return string(data), err
}

// TestEqualDescriptionsHaveOneForm, whatever their case, width and white space.
func TestEqualDescriptionsHaveOneForm(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"make":" toyota ","model":"corolla  fielder","modelCode":"ｄａａ-nke165","year":2016,"engine_cc":1500,"fuel":"hybrid","fobPriceUSD":6180.50,"m3":11.09}`: `{"make":"TOYOTA","model":"COROLLA FIELDER","modelCode":"NKE165","rawModelCode":"DAA-NKE165","year":2016,"engine_cc":1500,"fuel":"HYBRID","fobPriceUSD":6180.5,"m3":11.09}`,
		`{"make":"Toyota","rawModelCode":"DAA-NKE165","year":2015,"fobPriceUSD":null,"engine_cc":0}`:                                                            `{"make":"TOYOTA","modelCode":"NKE165","rawModelCode":"DAA-NKE165","year":2015}`,
		`{"make":"TOYOTA","modelCode":"NKE165","rawModelCode":"DAA-NKE165","year":2015}`:                                                                        `{"make":"TOYOTA","modelCode":"NKE165","rawModelCode":"DAA-NKE165","year":2015}`,
		`{"make":"TOYOTA","modelBody":" VITZ - NCP131 - HATCHBACK ","known":{"year":2015,"yearBasis":"model"},"priceCandidates":true}`:                          `{"make":"TOYOTA","year":2015,"modelBody":"VITZ - NCP131 - HATCHBACK","yearBasis":"model","priceCandidates":true}`,
	} {
		got, err := canonical(t, body)
		if err != nil || got != want {
			t.Errorf("%s\ngot  %s, %v\nwant %s", body, got, err, want)
		}
	}
}

// TestDescriptionsThatAreRefused: with the field that is to blame.
func TestDescriptionsThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, param, message string }{
		"an array":                    {`[]`, "", `{"make": "TOYOTA"`},
		"no make":                     {`{"model":"VITZ","year":2015}`, "make", "is required"},
		"no model":                    {`{"make":"TOYOTA","year":2015}`, "model", "is required"},
		"no year":                     {`{"make":"TOYOTA","model":"VITZ"}`, "year", "is required"},
		"a make that is a number":     {`{"make":5,"model":"VITZ","year":2015}`, "make", "must be text"},
		"a year that is text":         {`{"make":"TOYOTA","model":"VITZ","year":"2015"}`, "year", "must be a whole number"},
		"half a year":                 {`{"make":"TOYOTA","model":"VITZ","year":2015.5}`, "year", "must be a whole number"},
		"a year of two digits":        {`{"make":"TOYOTA","model":"VITZ","year":15}`, "year", "must be the year of manufacture"},
		"a year to come":              {`{"make":"TOYOTA","model":"VITZ","year":2999}`, "year", "must be the year of manufacture"},
		"an engine in litres":         {`{"make":"TOYOTA","model":"VITZ","year":2015,"engine_cc":2}`, "engine_cc", "must be from 50"},
		"a negative engine":           {`{"make":"TOYOTA","model":"VITZ","year":2015,"engine_cc":-1}`, "engine_cc", "must be from 50"},
		"an engine of a ship":         {`{"make":"TOYOTA","model":"VITZ","year":2015,"engine_cc":20001}`, "engine_cc", "must be from 50"},
		"two codes in one field":      {`{"make":"TOYOTA","modelCode":"NKE165 / NZE161","year":2015}`, "modelCode", "must be one"},
		"a code that is none":         {`{"make":"TOYOTA","modelCode":"??","year":2015}`, "modelCode", "must be one"},
		"codes that differ":           {`{"make":"TOYOTA","modelCode":"NKE165","rawModelCode":"DBA-NZE161","year":2015}`, "rawModelCode", ""},
		"a price that is text":        {`{"make":"TOYOTA","model":"VITZ","year":2015,"fobPriceUSD":"6180"}`, "fobPriceUSD", "greater than 0"},
		"a price of nothing":          {`{"make":"TOYOTA","model":"VITZ","year":2015,"cfPriceUSD":0}`, "cfPriceUSD", "greater than 0"},
		"a price that never ends":     {`{"make":"TOYOTA","model":"VITZ","year":2015,"cfPriceUSD":1e999999999}`, "cfPriceUSD", ""},
		"a price of a fleet":          {`{"make":"TOYOTA","model":"VITZ","year":2015,"cfPriceUSD":3000000.01}`, "cfPriceUSD", ""},
		"freight that pays the buyer": {`{"make":"TOYOTA","model":"VITZ","year":2015,"fobPriceUSD":5000,"cfPriceUSD":4000}`, "cfPriceUSD", "includes freight"},
		"the volume of a ship":        {`{"make":"TOYOTA","model":"VITZ","year":2015,"m3":20000}`, "m3", ""},
		"a fuel like a novel":         {`{"make":"TOYOTA","model":"VITZ","year":2015,"fuel":"` + strings.Repeat("x", 101) + `"}`, "fuel", "at most 100"},
		"what cannot be printed":      {`{"make":"TOYOTA","model":"VI\u0007TZ","year":2015}`, "model", "at most 100"},
		"a label too long":            {`{"make":"TOYOTA","year":2015,"modelBody":"` + strings.Repeat("x", 201) + `"}`, "modelBody", "200"},
		"a switch that is a word":     {`{"make":"TOYOTA","model":"VITZ","year":2015,"priceCandidates":"yes"}`, "priceCandidates", "true or false"},
		"known that is wrong":         {`{"make":"TOYOTA","model":"VITZ","year":2015,"known":{"year":1}}`, "known.year", `In "known"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := canonical(t, c.body)
			p, ok := errors.AsType[*problem.Problem](err)
			if !ok || p.Code != "field_invalid" || p.Param != c.param || !strings.Contains(p.Message, c.message) {
				t.Errorf("got %s, %v; want the field %q: %s", got, err, c.param, c.message)
			}
		})
	}
}

// TestPricesInYen are in dollars at the rate of the caller; those in dollars outrank them.
func TestPricesInYen(t *testing.T) {
	t.Parallel()
	rate, err := terms.ParseYenRate(json.RawMessage("150"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		usd, jpy, want string
		rate           *money.Number
		bad            bool
	}{
		{"", "", "", rate, false},
		{"null", "null", "", nil, false},
		{"5000", "1", "5000", nil, false},
		{"", "1000000", "6666.67", rate, false},
		{"", "1000000", "", nil, true},
		{"", "-1", "", rate, true},
		{"", `"1000000"`, "", rate, true},
	} {
		got, err := terms.InUSD(json.RawMessage(c.usd), json.RawMessage(c.jpy), "fobPriceJPY", c.rate)
		if string(got) != c.want || (err != nil) != c.bad {
			t.Errorf("%s and %s: got %s, %v; want %s", c.usd, c.jpy, got, err, c.want)
		}
	}
	for _, odd := range []string{"0.007", "49", "501", `"150"`, "true", "1e99"} {
		if rate, err := terms.ParseYenRate(json.RawMessage(odd)); err == nil {
			t.Errorf("%s is the rate %v", odd, rate)
		}
	}
	if rate, err := terms.ParseYenRate(nil); rate != nil || err != nil {
		t.Errorf("no rate: got %v, %v", rate, err)
	}
}

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
