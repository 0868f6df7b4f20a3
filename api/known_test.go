package api

import (
	"encoding/json"
	"strings"
	"testing"

	"ushuru/api/problem"
	"ushuru/pkg/plainjson"
)

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
		known, err := parseKnown(json.RawMessage(c.body))
		got := ""
		if known != nil {
			data, encodeErr := plainjson.Encode(known)
			if encodeErr != nil {
				t.Fatal(encodeErr)
			}
			got = string(data)
		}
		switch {
		case c.said == "" && (err != nil || got != c.want):
			t.Errorf("%s: %s, %v; want %s", c.body, got, err, c.want)
		case c.said != "" && (err == nil || !strings.Contains(err.(*problem.Problem).Message, c.said)): //nolint:errorlint // it is one
			t.Errorf("%s: %v, want %q", c.body, err, c.said)
		}
	}
}

func TestKnownValuesAreMarkedInAnExplanation(t *testing.T) {
	t.Parallel()
	known, err := parseKnown(json.RawMessage(`{"year":2012,"fuel":"HYBRID"}`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := explainKnown([]byte(`{"explain":[{"name":"fuel","value":"PETROL","source":"labels","rank":2}],"notes":["n"]}`), known)
	const want = `{"explain":[{"name":"fuel","others":[{"code":"overridden","rank":2,"reason":"overridden by the request",` +
		`"source":"labels","text":{"en":"overridden by the request","sw":"imebadilishwa na ombi","draft":true},"value":"PETROL"}],` +
		`"source":"request","value":"HYBRID"},{"name":"year","source":"request","value":"2012"},` +
		`{"name":"yearBasis","source":"request","value":"manufacture"}],"notes":["n"]}`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v\nwant %s", got, err, want)
	}
}
