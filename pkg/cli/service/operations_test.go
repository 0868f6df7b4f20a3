package service

import (
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/getkin/kin-openapi/openapi3"

	"ushuru/pkg/client"
	"ushuru/pkg/testenv"
)

// sent answers every request with an error and records it.
type sent []string

func (s *sent) RoundTrip(r *http.Request) (*http.Response, error) {
	*s = append(*s, r.Method+" "+r.URL.Path)
	return &http.Response{StatusCode: http.StatusTeapot, Body: io.NopCloser(strings.NewReader(`{"error":"no"}`))}, nil
}

// What the table of commands calls is an operation of the API.
func TestDeedsCallOperationsOfTheAPI(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromFile(testenv.InRepository(t, "api", "openapi.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			documented = append(documented, method+" "+regexp.MustCompile(`\{\w+\}`).ReplaceAllString(path, "x1"))
		}
	}
	for name, d := range operations {
		if d.caller == nil {
			continue
		}
		var requests sent
		api, err := client.New(client.Options{URL: "http://api.example", Key: "secret", Transport: &requests})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.caller(t.Context(), api, "x1"); err == nil {
			t.Errorf("%s: got no error, want that of the API", name)
		}
		if len(requests) != 1 || !slices.Contains(documented, requests[0]) {
			t.Errorf("%s: got requests %q, want one operation of openapi.yaml", name, requests)
		}
	}
}

// Each command that is in the table has what it needs there, and each row is a command.
func TestEveryCommandHasItsDeed(t *testing.T) {
	t.Parallel()
	var root struct {
		Jobs     Jobs     `cmd:"" set:"noun=job" set:"nouns=jobs"`         //nolint:staticcheck // kong reads both
		Batches  Batches  `cmd:"" set:"noun=batch" set:"nouns=batches"`    //nolint:staticcheck // kong reads both
		Webhooks Webhooks `cmd:"" set:"noun=webhook" set:"nouns=webhooks"` //nolint:staticcheck // kong reads both
	}
	parser, err := kong.New(&root)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for _, leaf := range parser.Model.Leaves(false) {
		name := nameOf(leaf)
		d := operations[name]
		var caller, operator bool
		switch leaf.Target.Addr().Interface().(type) {
		case *ofBoth:
			caller, operator = true, true
		case *ofCaller:
			caller = true
		default:
			continue
		}
		if rows[name] = true; caller && d.caller == nil || operator && d.operator == nil {
			t.Errorf("%s: got caller %t, operator %t, want caller %t, operator %t", name, d.caller != nil, d.operator != nil, caller, operator)
		}
	}
	for name := range operations {
		if !rows[name] {
			t.Errorf("no command is %q", name)
		}
	}
}
