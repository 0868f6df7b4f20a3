package api_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ushuru/api/apitest"
	"ushuru/pkg/message"
)

// contract is openapi.yaml made strict.
var contract = apitest.Contract

// checkContract fails the test when an answer is not one that openapi.yaml
// describes. Where it describes no such operation, the answer must be an
// error in the common shape.
func checkContract(t *testing.T, r *http.Request, response *http.Response, body []byte) {
	t.Helper()
	if err := apitest.Violation(r, response, body); err != nil {
		t.Errorf("%s %s: %d is not in openapi.yaml: %v\n%s", r.Method, r.URL.Path, response.StatusCode, err, body)
	}
}

// TestContractCanFail shows that the check sees what is wrong.
func TestContractCanFail(t *testing.T) { //nolint:tparallel // its cases follow one another
	t.Parallel()
	good := string(message.View{Both: true}.Of(estimateOf(site + "/1")))
	type table struct {
		name, path string
		status     int
		body       string
		want       string // part of the complaint; "" for none
	}
	const at = "/v1/estimate"
	for _, c := range []table{
		{"an estimate", at, 200, good, ""},
		{"null where the price may be", at, 200, swap(good, `"fobPriceUSD":6180`, `"fobPriceUSD":null`), ""},
		{"text where the price may be", at, 200, swap(good, `"fobPriceUSD":6180`, `"fobPriceUSD":"6180"`), "fobPriceUSD"},
		{"null where a list must be", at, 200, swap(good, `"adjustments":[`, `"adjustments":null,"x":[`), "adjustments"},
		{"a field too many", at, 200, swap(good, `"cached":`, `"extra":1,"cached":`), "extra"},
		{"a field too few", at, 200, swap(good, `"cached":false`, `"warnings":[]`), "cached"},
		{"an amount without commas", at, 200, swap(good, `13,807,283.34`, `13807283.34`), "totalTaxesInTZS"},
		{"a misspelt line", at, 200, swap(good, `"standing":"quoted"`, `"standings":"quoted"`), "standing"},
		{"a misspelt rate", at, 200, swap(good, `"others":2650`, `"others":2650,"other":1`), "other"},
		{"a tax too many", at, 200, swap(good, `"recomputed":{`, `"recomputed":{"extraInUSD":"1.00",`), "extraInUSD"},
		{"without the drive-away cost", at, 200, swap(good, `"driveAway":`, `"driveaway":`), "driveaway"},
		{"without its date", at, 200, swap(good, `"asOf":"2026-11-21T`, `"asof":"2026-11-21T`), "asof"},
		{"a status that is not described", at, 418, `{"error":"x","code":"x"}`, "status"},
		{"202 without Location", at, 202, `{}`, "Location"},
		{"a 401 without a code", at, 401, `{"error":"Invalid or missing API key"}`, "code"},
		{"an unknown path", "/nowhere", 404, `{"error":"x","code":"not_found"}`, ""},
		{"an unknown path with success", "/nowhere", 200, `{}`, "no such operation"},
		{"an error without a message", "/nowhere", 404, `{"code":"not_found"}`, "error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			header := http.Header{}
			header.Set("Content-Type", "application/json")
			header.Set("X-Request-ID", "test")
			header.Set("X-Content-Type-Options", "nosniff")
			header.Set("WWW-Authenticate", "Bearer realm")
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, c.path, http.NoBody)
			err := apitest.Violation(r, &http.Response{StatusCode: c.status, Header: header}, []byte(c.body))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("complaint %v, want one about %q", err, c.want)
			}
		})
	}
}

// TestEveryCodeIsDescribed: programs go by the codes of errors, all of which are in the
// table of texts.
func TestEveryCodeIsDescribed(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	ofThePage := []string{"login_required", "login_slowed", "cross_origin"} // for people, at /monitoring
	keys := message.Keys("error")
	for _, key := range keys {
		code := message.CodeOf(key)
		if !bytes.Contains(document, []byte("`"+code+"`")) && !slices.Contains(ofThePage, code) {
			t.Errorf("%s of the table of texts is not described", code)
		}
	}
	if len(keys) < 50 {
		t.Errorf("only %d codes were found", len(keys))
	}
}

// TestTheDocumentedExampleIsThatOfTheTests, which they hold to the schema.
func TestTheDocumentedExampleIsThatOfTheTests(t *testing.T) {
	t.Parallel()
	read := func(path string) string {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	const from, to = "    Estimate:\n      value:\n", "\n\n  schemas:\n"
	document := read("openapi.yaml")
	_, rest, found := strings.Cut(document, from)
	if !found || !strings.Contains(rest, to) {
		t.Fatal("no example")
	}
	example, _, _ := strings.Cut(rest, to)
	var documented, want any
	if err := errors.Join(json.Unmarshal([]byte(example), &documented),
		json.Unmarshal([]byte(shown(read("testdata/estimate.json"))), &want)); err != nil {
		t.Fatal(err)
	}
	differ(t, "", documented, want) // the example of openapi.yaml is testdata/estimate.json as a caller reads it
}

// TestAnEstimateIsLean: it says every sentence once, but the messages of warnings twice.
func TestAnEstimateIsLean(t *testing.T) {
	t.Parallel()
	answer := shown(string(estimateOf(site + "/1")))
	if len(answer) > 12<<10 {
		t.Errorf("got %d bytes, want at most 12 KB", len(answer))
	}
	said := map[string]int{}
	for _, sentence := range regexp.MustCompile(`"[^"]*[a-z]{3}[^"]{25,}"`).FindAllString(answer, -1) {
		said[sentence]++
	}
	for sentence, times := range said {
		if times > 1 && !strings.Contains(answer, `"message":`+sentence) || times > 2 {
			t.Errorf("%s is there %d times", sentence, times)
		}
	}
}

// swap replaces a piece of text that must be there.
func swap(text, from, to string) string {
	if !strings.Contains(text, from) {
		panic("no " + from + " in " + text)
	}
	return strings.Replace(text, from, to, 1)
}
