package apitest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"ushuru/pkg/testenv"
)

// Contract is openapi.yaml made strict: in the tests a field that it does not
// describe is an error, which for clients of the API it must never be.
// kin-openapi checks documents of version 3.1 with a JSON Schema 2020-12
// validator; null is a type there, and 3.0's "nullable" would be ignored.
var Contract = sync.OnceValues(func() (*openapi3.T, error) {
	for _, mediaType := range []string{ // taken as they are
		"application/x-ndjson", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "image/svg+xml", "text/html",
		"text/event-stream",
	} {
		openapi3filter.RegisterBodyDecoder(mediaType, openapi3filter.FileBodyDecoder)
	}
	root, err := testenv.Root()
	if err != nil {
		return nil, err
	}
	document, err := openapi3.NewLoader().LoadFromFile(filepath.Join(root, "api", "openapi.yaml"))
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
	document, err := Contract()
	if err != nil {
		return nil, err
	}
	return gorillamux.NewRouter(document)
})

// Violation says in what an answer of the server is not one that openapi.yaml describes; nil
// when it is one. Where it describes no such operation, the answer must be an error in the
// common shape.
func Violation(r *http.Request, response *http.Response, body []byte) error {
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
	return validate(r, route, params, response.StatusCode, response.Header, body)
}

// holdToContract fails the test when the answer of a handler is not one that openapi.yaml
// describes.
func holdToContract(t *testing.T, r *http.Request, w *httptest.ResponseRecorder) {
	t.Helper()
	route, params, err := findRoute(r)
	if err == nil {
		err = validate(r, route, params, w.Code, w.Header(), w.Body.Bytes())
	}
	if err != nil && r.Method != http.MethodHead { // which is as GET
		t.Errorf("%s %s: %d is not in openapi.yaml: %v\n%s", r.Method, r.URL, w.Code, err, w.Body)
	}
}

// validate holds an answer to what an operation describes.
func validate(
	r *http.Request, route *routers.Route, params map[string]string, status int, header http.Header, body []byte,
) error {
	return openapi3filter.ValidateResponse(r.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route},
		Status:                 status,
		Header:                 header,
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
	document, err := Contract()
	if err != nil {
		return err
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return err
	}
	return document.Components.Schemas["Error"].Value.VisitJSON(value, openapi3.EnableJSONSchema2020())
}
