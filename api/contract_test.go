package api_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"ushuru/pkg/message"
)

// contract is openapi.yaml made strict: in the tests a field that it does not
// describe is an error, which for clients of the API it must never be.
// kin-openapi checks documents of version 3.1 with a JSON Schema 2020-12
// validator; null is a type there, and 3.0's "nullable" would be ignored.
var contract = sync.OnceValues(func() (*openapi3.T, error) {
	for _, mediaType := range []string{ // taken as they are
		"application/x-ndjson", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "image/svg+xml", "text/html",
	} {
		openapi3filter.RegisterBodyDecoder(mediaType, openapi3filter.FileBodyDecoder)
	}
	document, err := openapi3.NewLoader().LoadFromFile("openapi.yaml")
	if err != nil {
		return nil, err
	}
	if err := document.Validate(openapi3.NewLoader().Context); err != nil {
		return nil, err
	}
	for _, schema := range document.Components.Schemas {
		closeFields(schema.Value)
	}
	return document, nil
})

// closeFields refuses fields that are not described, in objects inside a
// schema too.
func closeFields(schema *openapi3.Schema) {
	if schema.Properties != nil {
		no := false
		schema.AdditionalProperties.Has = &no
	}
	for _, inner := range schema.Properties {
		if inner.Ref == "" {
			closeFields(inner.Value)
		}
	}
	if items := schema.Items; items != nil && items.Ref == "" {
		closeFields(items.Value)
	}
}

var contractRoutes = sync.OnceValues(func() (routers.Router, error) {
	document, err := contract()
	if err != nil {
		return nil, err
	}
	return gorillamux.NewRouter(document)
})

// checkContract fails the test when an answer is not one that openapi.yaml
// describes. Where it describes no such operation, the answer must be an
// error in the common shape.
func checkContract(t *testing.T, r *http.Request, response *http.Response, body []byte) {
	t.Helper()
	if err := violation(r, response, body); err != nil {
		t.Errorf("%s %s: %d is not in openapi.yaml: %v\n%s", r.Method, r.URL.Path, response.StatusCode, err, body)
	}
}

func violation(r *http.Request, response *http.Response, body []byte) error {
	if strings.HasPrefix(r.URL.Path, "/monitoring") && response.Header.Get("Content-Type") != "application/json" {
		return nil // a page for people
	}
	if response.Header.Get("X-Request-ID") == "" || response.Header.Get("X-Content-Type-Options") != "nosniff" {
		return errors.New("the common headers are missing")
	}
	route, params, err := findRoute(r)
	switch {
	case err == nil:
	case !errors.Is(err, routers.ErrPathNotFound) && !errors.Is(err, routers.ErrMethodNotAllowed):
		return err
	case r.Method == http.MethodOptions || r.Method == http.MethodHead:
		if len(body) > 0 || response.StatusCode >= http.StatusInternalServerError {
			return errors.New("not an empty answer")
		}
		return nil
	default:
		return plainError(response, body)
	}
	return openapi3filter.ValidateResponse(r.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route},
		Status:                 response.StatusCode,
		Header:                 response.Header,
		Body:                   io.NopCloser(bytes.NewReader(body)),
		Options:                &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true},
	})
}

// findRoute finds the operation of a request. The document's server is "/".
func findRoute(r *http.Request) (*routers.Route, map[string]string, error) {
	router, err := contractRoutes()
	if err != nil {
		return nil, nil, err
	}
	return router.FindRoute(r)
}

func plainError(response *http.Response, body []byte) error {
	if response.StatusCode < http.StatusBadRequest || response.Header.Get("Content-Type") != "application/json" {
		return errors.New("no such operation, and not an error in JSON")
	}
	document, err := contract()
	if err != nil {
		return err
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return err
	}
	return document.Components.Schemas["Error"].Value.VisitJSON(value, openapi3.EnableJSONSchema2020())
}

// TestContractCanFail shows that the check sees what is wrong.
func TestContractCanFail(t *testing.T) { //nolint:tparallel // its cases follow one another
	t.Parallel()
	good := string(estimateOf(site + "/1"))
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
		{"without the drive-away cost", at, 200, swap(good, `"driveAway":`, `"driveaway":`), "driveAway"},
		{"without its date", at, 200, swap(good, `"asOf":"2026-11-21T`, `"asof":"2026-11-21T`), "asOf"},
		{"a status that is not described", at, 418, `{"error":"x","code":"x"}`, "status"},
		{"202 without Location", at, 202, `{}`, "Location"},
		{"another 401", at, 401, `{"error":"no"}`, "error"},
		{"a 401 with a code", at, 401, `{"error":"Invalid or missing API key","code":"x"}`, "code"},
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
			err := violation(r, &http.Response{StatusCode: c.status, Header: header}, []byte(c.body))
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
	before, rest, found := strings.Cut(document, from)
	_, after, ends := strings.Cut(rest, to)
	if !found || !ends {
		t.Fatal("no example")
	}
	const indent = "        "
	example := indent + strings.ReplaceAll(strings.TrimSpace(read("testdata/estimate.json")), "\n", "\n"+indent)
	if want := before + from + example + to + after; document != want {
		t.Error("the example of openapi.yaml is not testdata/estimate.json, indented")
	}
}

// swap replaces a piece of text that must be there.
func swap(text, from, to string) string {
	if !strings.Contains(text, from) {
		panic("no " + from + " in " + text)
	}
	return strings.Replace(text, from, to, 1)
}
