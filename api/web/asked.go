package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"

	"ushuru/api/problem"
	"ushuru/pkg/metrics"
)

// askOf returns what is counted of work that a visitor of a network wants.
func askOf(network, path string, body []byte, terms url.Values) metrics.Ask {
	var request struct {
		URL string `json:"url"`
	}
	asked := metrics.Ask{Network: network, Kind: kindOf(path, terms)}
	if json.Unmarshal(body, &request) != nil {
		return asked // an upload that was refused has none
	}
	if listing, err := url.Parse(request.URL); err == nil {
		asked.Host = listing.Hostname()
	}
	return asked
}

// countRefused counts work that the API refused before there was a page of it.
func (p *Pages) countRefused(r *http.Request, wanted work, err error) {
	network, _ := p.networkOf(r) // without Redis all count as one
	asked, code := askOf(network, wanted.path, wanted.body, wanted.terms), errInternal
	if why, ok := errors.AsType[*problem.Problem](err); ok {
		code = why.Code
	}
	p.options.Metrics.Asked(asked)
	p.options.Metrics.Answered(asked, code, 0)
}

// countAsked counts work that has a page now, with its end when that is there already.
func (p *Pages) countAsked(wanted work, made link) {
	p.options.Metrics.Asked(askOf(made.Network, wanted.path, wanted.body, wanted.terms))
	if made.Shown != nil {
		made.terms = wanted.terms
		p.countAnswered(&made, &job{})
	}
}

// countAnswered counts the end of work, when a visitor sees it first.
func (p *Pages) countAnswered(found *link, ended *job) {
	var why struct {
		Code string `json:"code"`
	}
	if found.Shown.Failed != nil && json.Unmarshal(found.Shown.Failed, &why) != nil {
		why.Code = errInternal
	}
	asked := askOf(found.Network, found.Path, found.Body, found.terms)
	p.options.Metrics.Answered(asked, why.Code, ended.Ended.Sub(ended.Created))
}

// errInternal is the code of a failure that says nothing of itself.
const errInternal = "internal"
