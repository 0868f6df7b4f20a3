package docs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ushuru/api/problem"
	"ushuru/pkg/message"
)

// described is what the quickstart shows of the description of the API.
type described struct {
	answer string // the most important part of an estimate
	errors []errorRow
}

// errorRow is an error that a caller can get.
type errorRow struct {
	Code, Text string
	Statuses   []int
	Again      bool // the same request can succeed later
}

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

// describe reads the description.
func describe(load func() ([]byte, error)) (described, error) {
	data, err := load()
	if err != nil {
		return described{}, err
	}
	var c contract
	if err := json.Unmarshal(data, &c); err != nil {
		return described{}, fmt.Errorf("docs: the description of the API: %w", err)
	}
	var answer bytes.Buffer
	if err := json.Indent(&answer, c.Components.Examples.Estimate.Value.Summary, "", "  "); err != nil {
		return described{}, fmt.Errorf("docs: the example of an estimate: %w", err)
	}
	statuses, err := c.statuses()
	if err != nil {
		return described{}, err
	}
	return described{answer.String(), errorRows(statuses)}, nil
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

// errorRows returns the errors of the table of texts, in the order of their codes.
func errorRows(statuses map[string]map[int]bool) (rows []errorRow) {
	for _, key := range message.Keys("error") {
		code := message.CodeOf(key)
		if slices.Contains(notForCallers, code) || len(rows) > 0 && rows[len(rows)-1].Code == code {
			continue // the first of its texts says what it is about
		}
		values := message.Values{}
		names, _ := message.ValueNames(key)
		for _, name := range names {
			values[name] = "{" + name + "}"
		}
		row := errorRow{Code: code, Text: message.Say(key, values).EN, Statuses: slices.Sorted(maps.Keys(statuses[code]))}
		if status, is := ofEveryAddress[code]; is {
			row.Statuses = []int{status}
		}
		for _, status := range row.Statuses {
			p := problem.Problem{Status: status, Notice: message.Notice{Code: code}}
			row.Again = row.Again || p.Retryable()
		}
		rows = append(rows, row)
	}
	return rows
}
