package web

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"ushuru/api/request"
	"ushuru/api/web/links"
	"ushuru/pkg/localtime"
	"ushuru/pkg/redisx"
)

// tokenLength is that of the tokens: 26 letters, 130 bits.
const tokenLength = 26

var errUnknown = links.ErrUnknown

// linkAt returns what a token leads to, without the terms of an address.
func (p *Pages) linkAt(ctx context.Context, token string) (*link, error) {
	kept, err := p.links.Find(ctx, token)
	if err != nil {
		return nil, err
	}
	return &link{Link: *kept, token: token}, nil
}

// seal returns a text that only a server of these pages can make of some others.
func (p *Pages) seal(ctx context.Context, texts ...string) (string, error) {
	secret, err := redisx.Secret(ctx, p.options.Redis, "page:secret")
	if err != nil {
		return "", request.ErrUnavailable.WithCause(err)
	}
	mac := hmac.New(sha256.New, secret)
	_, _ = mac.Write([]byte(strings.Join(texts, "\n")))
	return base32.StdEncoding.EncodeToString(mac.Sum(nil))[:tokenLength], nil
}

// networkOf returns a hash of the visitor's network.
func (p *Pages) networkOf(r *http.Request) (string, error) {
	return p.seal(r.Context(), "network", request.From(r).Network)
}

// tokenOf returns the token of a request of a network on the day of a time.
func (p *Pages) tokenOf(ctx context.Context, network, path string, fields url.Values, at time.Time) (string, error) {
	return p.seal(ctx, "token", network, path, at.In(localtime.Zone).Format(time.DateOnly), fields.Encode())
}

// addressOf returns the address of the page of a request on some terms.
func (p *Pages) addressOf(ctx context.Context, path, token string, terms url.Values) (string, error) {
	address := "/" + kindOf(path, terms) + "/" + token
	if len(terms) == 0 {
		return address, nil
	}
	signature, err := p.seal(ctx, "terms", token, terms.Encode())
	signed := maps.Clone(terms)
	signed.Set(termSignature, signature)
	return address + "?" + signed.Encode(), err
}

// find returns what the address of a page leads to.
func (p *Pages) find(r *http.Request) (*link, error) { return p.findAt(r, r.URL) }

var tokenPattern = regexp.MustCompile(`^/[a-z]+/([A-Z2-7]{26})(?:/|$)`)

// findAt returns what an address of these pages leads to.
func (p *Pages) findAt(r *http.Request, at *url.URL) (*link, error) {
	named := tokenPattern.FindStringSubmatch(at.Path)
	if named == nil {
		return nil, errUnknown
	}
	token, query := named[1], at.Query()
	terms := termsIn(query)
	found, err := p.linkAt(r.Context(), token)
	if err != nil {
		return nil, err
	}
	address, err := p.addressOf(r.Context(), found.Path, token, terms)
	if err != nil {
		return nil, err
	}
	page, signed, _ := strings.Cut(address, "?")
	given := maps.Clone(terms)
	given.Set(termSignature, query.Get(termSignature))
	if page != at.Path && !strings.HasPrefix(at.Path, page+"/") ||
		len(terms) > 0 && !hmac.Equal([]byte(signed), []byte(given.Encode())) {
		return nil, errUnknown
	}
	found.terms, found.query = terms, signed
	return found, p.price(r, found)
}

// price puts what a link has shown on the terms of its address.
func (p *Pages) price(r *http.Request, found *link) error {
	figures := found.figures()
	if len(figures) == 0 || found.Shown == nil || found.Shown.Result == nil {
		return nil
	}
	pricing, err := p.options.Terms(figures, found.Made)
	if err != nil {
		return err
	}
	identity := []any{"page", found.token, found.Made, figures.Encode()}
	found.Shown.Result, err = p.options.Compute(r, identity, func() ([]byte, error) {
		return pricing(found.Shown.Result, found.Path == pathQuote)
	})
	return err
}
