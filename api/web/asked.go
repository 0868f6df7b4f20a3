package web

import (
	"errors"
	"net/http"
	"net/url"

	"ushuru/api/problem"
	"ushuru/pkg/metrics"
)

// askOf returns what is counted of work that a visitor wants.
func askOf(wanted *link) metrics.Ask {
	asked := metrics.Ask{Network: wanted.Network, Kind: kindOf(wanted.Path, wanted.terms)}
	if listing, err := url.Parse(wanted.Fields.Get("u")); err == nil { // what is sent has none
		asked.Host = listing.Hostname()
	}
	return asked
}

// countRefused counts work that the API refused before there was a page of it.
func (p *Pages) countRefused(r *http.Request, wanted *link, err error) {
	wanted.Network, _ = p.networkOf(r) // without Redis all count as one
	p.options.Metrics.Asked(askOf(wanted))
	code := errInternal
	if why, ok := errors.AsType[*problem.Problem](err); ok {
		code = why.Code
	}
	p.options.Metrics.Answered(askOf(wanted), code, 0)
}

// countAsked counts work that has a page now, with its end when that is there already.
func (p *Pages) countAsked(made *link) {
	p.options.Metrics.Asked(askOf(made))
	if made.Shown != nil {
		p.countAnswered(made, &job{})
	}
}

// countAnswered counts the end of work, when a visitor sees it first.
func (p *Pages) countAnswered(found *link, ended *job) {
	why, err := found.failure()
	if err != nil && found.Shown.Failed != nil {
		why.Code = errInternal
	}
	p.options.Metrics.Answered(askOf(found), why.Code, ended.Ended.Sub(ended.Created))
}

// errInternal is the code of a failure that says nothing of itself.
const errInternal = "internal"
