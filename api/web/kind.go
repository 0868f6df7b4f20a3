package web

import (
	"net/url"
	"strings"
)

// The endpoints that pages start work at.
const (
	pathEstimate = "/v1/estimate"
	pathQuote    = "/v1/quote"
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

// kindOf returns the kind of the page that shows the result of a request on some terms.
func kindOf(path string, terms url.Values) string {
	switch path {
	case pathReport:
		return kindSheet
	case pathBill:
		return kindBill
	}
	switch {
	case terms.Has(termWith):
		return kindComparison
	case terms.Has(termTarget):
		return kindBid
	}
	return kindAnswer
}

// LoggedPath returns a path as the log shows it: without the token, which lets its
// reader see the page.
func LoggedPath(path string) string {
	for _, kind := range kinds {
		prefix := "/" + kind + "/"
		if rest, ok := strings.CutPrefix(path, prefix); ok && len(rest) >= tokenLength {
			return prefix + "…" + rest[tokenLength:]
		}
	}
	return path
}
