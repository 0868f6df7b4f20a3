package web

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/gorilla/mux"
)

// The endpoints that pages start work at.
const (
	pathEstimate = "/v1/estimate"
	pathQuote    = "/v1/quote"
	pathCompare  = "/v1/compare"
	pathReport   = "/v1/condition-report"
	pathBill     = "/v1/bill-check"
)

// The kinds of pages with a token: the first part of their addresses.
const (
	kindAnswer     = "e"
	kindComparison = "c"
	kindSheet      = "s"
	kindBid        = "bid"
	kindBill       = "bill"
)

var kinds = []string{kindAnswer, kindComparison, kindSheet, kindBid, kindBill}

// kindOf returns the kind of the page that shows the result of a request.
func kindOf(path string, body []byte) string {
	switch path {
	case pathCompare:
		return kindComparison
	case pathReport:
		return kindSheet
	case pathBill:
		return kindBill
	}
	var request struct {
		Target json.RawMessage `json:"target"`
	}
	if json.Unmarshal(body, &request) == nil && len(request.Target) > 0 {
		return kindBid
	}
	return kindAnswer
}

// addressOf returns the address of the page of a request.
func addressOf(path string, body []byte, token string) string {
	return "/" + kindOf(path, body) + "/" + token
}

// find returns what the address of a page leads to.
func (p *Pages) find(r *http.Request) (*link, error) {
	found, err := p.links.find(r.Context(), mux.Vars(r)["token"])
	if err == nil && !strings.HasPrefix(r.URL.Path, "/"+kindOf(found.Path, found.Body)+"/") {
		return nil, errUnknown
	}
	return found, err
}

// LoggedPath returns a path as the log shows it: without the token, which lets its
// reader see the page.
func LoggedPath(path string) string {
	for _, kind := range append([]string{"img"}, kinds...) {
		prefix := "/" + kind + "/"
		if rest, ok := strings.CutPrefix(path, prefix); ok && len(rest) >= tokenLength {
			return prefix + "…" + rest[tokenLength:]
		}
	}
	return path
}
