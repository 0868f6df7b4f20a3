package docs

// The errors and the example that the quickstart shows are written from the description of the
// API: go test ./api/docs -run Described -update.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/oasdiff/yaml"

	"ushuru/api/problem"
	"ushuru/pkg/golden"
	"ushuru/pkg/message"
)

// contract is what is read of the description.
type contract struct {
	Paths      map[string]map[string]json.RawMessage `json:"paths"`
	Components struct {
		Responses map[string]response `json:"responses"`
		Examples  struct {
			Estimate struct {
				Value struct {
					Summary json.RawMessage `json:"summary"`
				} `json:"value"`
			} `json:"Estimate"` //nolint:tagliatelle // its name in the description
		} `json:"examples"`
	} `json:"components"`
}

type operation struct {
	Responses map[string]response `json:"responses"`
}

type response struct {
	Ref         string `json:"$ref"`
	Description string `json:"description"`
}

func TestWhatIsDescribedIsInTheFiles(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var c contract
	if _, err := yaml.Unmarshal(text, &c, yaml.DecodeOpts{}); err != nil {
		t.Fatal(err)
	}
	var answer bytes.Buffer
	if err := json.Indent(&answer, c.Components.Examples.Estimate.Value.Summary, "", "  "); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "answer.json", answer.String()+"\n")
	statuses, err := c.statuses()
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "errors.csv", errorTable(statuses))
}

// codeInText matches the codes that the text of a response names.
var codeInText = regexp.MustCompile("`([a-z_]+)`")

// statuses returns the statuses of the responses that name a code, by the code.
func (c *contract) statuses() (map[string]map[int]bool, error) {
	found := map[string]map[int]bool{}
	for path, operations := range c.Paths {
		for method, raw := range operations {
			if method == "parameters" {
				continue
			}
			var o operation
			if err := json.Unmarshal(raw, &o); err != nil {
				return nil, fmt.Errorf("docs: %s %s: %w", method, path, err)
			}
			for number, r := range o.Responses {
				status, err := strconv.Atoi(number)
				if err != nil {
					return nil, errors.New("docs: a response without a number at " + path)
				}
				c.addStatus(found, status, r)
			}
		}
	}
	return found, nil
}

// addStatus adds the status of a response to the codes that it names.
func (c *contract) addStatus(found map[string]map[int]bool, status int, r response) {
	if name, is := strings.CutPrefix(r.Ref, "#/components/responses/"); is {
		r = c.Components.Responses[name]
	}
	for _, code := range codeInText.FindAllStringSubmatch(r.Description, -1) {
		if found[code[1]] == nil {
			found[code[1]] = map[int]bool{}
		}
		found[code[1]][status] = true
	}
}

// ofEveryAddress are the errors that come before an operation is known, with their status.
var ofEveryAddress = map[string]int{
	"method_not_allowed": http.StatusMethodNotAllowed, "not_found": http.StatusNotFound,
	"malformed_request": http.StatusBadRequest, "length_ambiguous": http.StatusBadRequest,
	"header_too_large":              http.StatusRequestHeaderFieldsTooLarge,
	"expectation_unsupported":       http.StatusExpectationFailed,
	"transfer_encoding_unsupported": http.StatusNotImplemented,
	"http_version_unsupported":      http.StatusHTTPVersionNotSupported,
}

// notForCallers are the errors of the operator's pages, and one that only the log shows.
var notForCallers = []string{"login_required", "login_slowed", "cross_origin", "client_closed_request"}

// errorTable returns the errors of the table of texts, in the order of their codes.
func errorTable(statuses map[string]map[int]bool) string {
	var table strings.Builder
	table.WriteString("# Written by go test ./api/docs -run Described -update. Retryable: the same request can succeed later.\n")
	table.WriteString("key,statuses,retryable\n")
	last := ""
	for _, key := range message.Keys("error") {
		code := message.CodeOf(key)
		if slices.Contains(notForCallers, code) || code == last {
			continue // the first of its texts says what it is about
		}
		last = code
		with, again := slices.Sorted(maps.Keys(statuses[code])), false
		if status, is := ofEveryAddress[code]; is {
			with = []int{status}
		}
		for _, status := range with {
			p := problem.Problem{Status: status, Notice: message.Notice{Code: code}}
			again = again || p.Retryable()
		}
		fmt.Fprintf(&table, "%s,%s,%t\n", key, strings.Trim(fmt.Sprint(with), "[]"), again)
	}
	return table.String()
}
