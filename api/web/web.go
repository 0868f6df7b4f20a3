// Package web serves the pages for buyers: a form for the link of a car, the progress of
// its estimate, and the answer. The pages calculate and translate nothing: every figure
// and every sentence is a field of the API's responses or a row of pkg/message. They call
// the API inside the process, as one caller whose key is fair.Anonymous.
package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/gorilla/mux"
	"github.com/redis/go-redis/v9"

	"ushuru/api/problem"
	"ushuru/api/web/asset"
	"ushuru/pkg/fair"
	"ushuru/pkg/message"
)

// Options are the parts and settings of Pages. API, Keyed, Redis, Watch, Address, Costs and
// Picture are required.
type Options struct {
	API   http.Handler          // the endpoints under /v1/, for a visitor without a key
	Keyed http.Handler          // the same, for requests with an API key
	Redis redis.UniversalClient // holds what the addresses of answers lead to
	// Watch sends when a job may have changed, until unsubscribe is called.
	Watch func(job string) (changed <-chan struct{}, unsubscribe func())
	// Address returns the address that a request came from.
	Address func(r *http.Request) netip.Addr
	Costs   Costs
	Picture Picture

	BaseURL   string          // public, without a path: https://ushuru.example; "" is that of the request
	Simulated bool            // every page says that the figures are simulated
	Draining  context.Context //nolint:containedctx // the life of the server; nil never ends
	Log       *slog.Logger    // nil means slog.Default()
}

// Pages are the pages of one process.
type Pages struct {
	options Options
	api     client
	links   links
	assets  *asset.Files
	screens screens

	manifest []byte

	visitors visitors
	uploads  *fair.Places // of pages that arrive
	streams  places
	tables   places // that arrive
}

// New reads the embedded templates and assets.
func New(o Options) (*Pages, error) {
	if o.API == nil || o.Keyed == nil || o.Redis == nil || o.Watch == nil || o.Address == nil || o.Costs == nil ||
		o.Picture == nil {
		return nil, errors.New("web: options without API, Keyed, Redis, Watch, Address, Costs or Picture")
	}
	o.Log = cmp.Or(o.Log, slog.Default())
	if o.Draining == nil {
		o.Draining = context.Background()
	}
	p := &Pages{
		options: o, api: client{o.API}, links: links{o.Redis}, visitors: visitors{redis: o.Redis},
		uploads: fair.NewPlaces(maxUploads),
	}
	var err error
	if p.assets, err = readAssets(); err != nil {
		return nil, err
	}
	if p.manifest, err = manifestOf(p.assets); err != nil {
		return nil, err
	}
	if p.screens, err = readScreens(p.assets); err != nil {
		return nil, err
	}
	return p, nil
}

const patternToken = "/{token:[A-Z2-7]{26}}" //nolint:gosec // the pattern of an address

// Register adds the addresses of the pages to a router.
func (p *Pages) Register(router *mux.Router) {
	get, post := []string{http.MethodGet, http.MethodHead}, []string{http.MethodPost}
	router.Handle("/", p.page(p.home)).Methods(get...)
	router.Handle("/go", p.page(p.submit)).Methods(post...)
	router.Handle("/hand", p.page(p.byHand)).Methods(get...)
	router.Handle("/hand", p.page(p.submitHand)).Methods(post...)
	router.Handle("/img/{token:[A-Z2-7]{26}}/{n:[0-9]}", p.image()).Methods(get...)
	router.Handle("/extension", p.page(p.install)).Methods(get...)
	router.Handle(extensionPath, p.page(p.extension)).Methods(get...)
	router.Handle("/c", p.page(p.compare)).Methods(get...)
	router.Handle("/c", p.page(p.submitCompare)).Methods(post...)
	router.Handle("/s", p.page(p.sheet)).Methods(get...)
	router.Handle("/s", p.page(p.submitSheet)).Methods(post...)
	router.Handle("/bid", p.page(p.bid)).Methods(get...)
	router.Handle("/bid", p.page(p.submitBid)).Methods(post...)
	for _, kind := range kinds {
		at := "/" + kind + patternToken
		router.Handle(at, p.page(p.answer)).Methods(get...)
		router.Handle(at+"/events", p.page(p.events)).Methods(get...)
	}
	router.Handle("/e"+patternToken+"/choose", p.page(p.choose)).Methods(get...)
	router.Handle("/bid"+patternToken+"/choose", p.page(p.choose)).Methods(get...)
	router.Handle("/s"+patternToken+"/map.svg", p.page(p.damageMap)).Methods(get...)
	for _, kind := range kinds {
		router.PathPrefix("/" + kind + "/").Handler(p.page(p.notFound)).Methods(get...)
	}
	p.registerLots(router)
	router.Handle("/static/{name}", p.assets).Methods(get...)
	router.Handle("/manifest.webmanifest", http.HandlerFunc(p.serveManifest)).Methods(get...)
}

// policy lets a page run and load only what this server serves, and nothing inline.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// handler responds to a request, or returns the error to respond with.
type handler func(w http.ResponseWriter, r *http.Request) error

// page is the middleware of every page: headers, the check of cross-origin requests,
// and the page of an error.
func (p *Pages) page(next handler) http.Handler {
	sameOrigin := http.NewCrossOriginProtection()
	sameOrigin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.fail(w, r, problem.New(http.StatusForbidden, "cross_origin", nil))
	}))
	return sameOrigin.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
		h.Set("Cache-Control", "private, no-cache")
		h.Set("X-Robots-Tag", "noindex")
		h.Set("Vary", "Accept, Accept-Encoding, Accept-Language, Cookie")
		err := error(nil)
		if r.Method == http.MethodGet {
			err = p.greet(w, r)
		}
		if err == nil {
			err = next(w, r)
		}
		if err != nil {
			p.fail(w, r, err)
		}
	}))
}

// fail responds with the page of an error. One that is not a problem is a 500 without
// details.
func (p *Pages) fail(w http.ResponseWriter, r *http.Request, err error) {
	var why *problem.Problem
	switch {
	case r.Context().Err() != nil:
		return // the visitor has left
	case !errors.As(err, &why):
		p.options.Log.ErrorContext(r.Context(), "a page failed", "path", LoggedPath(r.URL.Path), "error", err)
		why = problem.New(http.StatusInternalServerError, "internal", nil)
	case why.Status >= http.StatusInternalServerError:
		p.options.Log.WarnContext(r.Context(), "a page failed", "path", LoggedPath(r.URL.Path), "error", err)
	}
	why.SetHeader(w.Header())
	if wantsJSON(r) {
		if err := sendJSON(w, r, why.Status, why.Body()); err == nil {
			return
		}
	}
	if err := p.render(w, r, why.Status, screen{Name: "home", Body: home{Problem: textOf(why.Notice)}}); err != nil {
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
	}
}

// notFound responds to an address that leads nowhere, or no longer.
func (*Pages) notFound(http.ResponseWriter, *http.Request) error { return errUnknown }

var errUnknown = problem.Because(http.StatusNotFound, message.New("page/unknown", nil), nil)

// redisTimeout bounds every call of Redis.
const redisTimeout = 3 * time.Second

// errRedis is the response while Redis does not answer.
func errRedis(cause error) error {
	return problem.New(http.StatusServiceUnavailable, "unavailable", nil).After(redisTimeout).WithCause(cause)
}

// baseURL returns the public address of this server, for links that leave the browser.
func (p *Pages) baseURL(r *http.Request) string {
	if p.options.BaseURL != "" {
		return strings.TrimSuffix(p.options.BaseURL, "/")
	}
	base := url.URL{Scheme: "http", Host: r.Host}
	if r.TLS != nil {
		base.Scheme = "https"
	}
	return base.String()
}

// isSecure reports whether visitors come over TLS, so that cookies need it.
func (p *Pages) isSecure(r *http.Request) bool {
	return r.TLS != nil || strings.HasPrefix(p.options.BaseURL, "https://")
}

// CheckBaseURL returns an error when a text is not the public address of a server.
func CheckBaseURL(text string) error {
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.Trim(u.Path, "/") != "" ||
		u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return fmt.Errorf("web: %q is not the address of a server; example: https://ushuru.example", text)
	}
	return nil
}
