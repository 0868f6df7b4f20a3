// Package web serves the pages for buyers: a form for the link of a car, the progress of
// its estimate, and the answer. The pages calculate and translate nothing: every figure
// and every sentence is a field of the API's responses or a row of pkg/message. They call
// the API inside the process, as callers whose key is pace.Anonymous.
package web

import (
	"context"
	"embed"
	_ "embed"
	"errors"
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/mux"
	"github.com/redis/go-redis/v9"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/api/web/extension"
	"ushuru/api/web/frame"
	"ushuru/api/web/links"
	"ushuru/api/web/lots"
	"ushuru/pkg/message"
	"ushuru/pkg/metrics"
	"ushuru/pkg/pace"
)

// Options are the parts and settings of Pages. All parts but Operator, Draining and Log are
// required.
type Options struct {
	API   http.Handler // the endpoints under /v1/, for a visitor without a key
	Keyed http.Handler // the same, for requests with an API key
	// Operator is who has logged in at the console; the zero value without one.
	Operator lots.Operator
	Redis    redis.UniversalClient // holds what the addresses of answers lead to
	// Watch sends when a job may have changed, until unsubscribe is called.
	Watch  func(job string) (changed <-chan struct{}, unsubscribe func())
	Costs  Costs
	Names  Names
	Models Models
	// Processor is the time of the processors of this process.
	Processor *pace.Processor
	// Compute computes bytes in the turn of a visitor, unless they were computed in the last
	// minute: identity names what they depend on.
	Compute func(r *http.Request, identity any, compute func() ([]byte, error)) ([]byte, error)
	// Terms reads the terms of the address of a page that was made at a time, and returns what puts
	// an estimate on them.
	Terms func(terms url.Values, made time.Time) (Pricing, error)

	Metrics *metrics.Metrics // nil counts nothing

	BaseURL   string          // public, without a path: https://ushuru.example; "" is that of the request
	About     string          // who runs the pages, and how to reach them; "" is not said
	Simulated bool            // every page says that the figures are simulated
	Draining  context.Context //nolint:containedctx // the life of the server; nil never ends
	Log       *slog.Logger    // nil means slog.Default()
}

// Pages are the pages of one process.
type Pages struct {
	*frame.Frame

	options  Options
	forms    map[string]formKind // by the names of their screens
	api      frame.Client
	links    links.Store
	manifest []byte

	lots      *lots.Lots
	extension *extension.Pages
	uploads   *pace.Places // of pages and sheets that arrive
	streams   pace.Counts  // of events, by the network
}

// isWhole reports options with all that the pages cannot do without.
func (o Options) isWhole() bool {
	return o.API != nil && o.Keyed != nil && o.Redis != nil && o.Watch != nil && o.Costs != nil && o.Names != nil &&
		o.Models != nil && o.Terms != nil && o.Processor != nil && o.Compute != nil
}

// New reads the embedded templates and assets.
func New(o Options) (*Pages, error) {
	if !o.isWhole() {
		return nil, errors.New("web: options without API, Keyed, Redis, Watch, Costs, Names, Models, Terms, Processor or Compute")
	}
	if o.Draining == nil {
		o.Draining = context.Background()
	}
	p := &Pages{
		options: o, api: frame.Client{API: o.API}, links: links.Store{Redis: o.Redis, Room: links.DefaultRoom},
		uploads: pace.NewPlaces(maxUploads),
	}
	p.forms = p.formKinds()
	var err error
	p.Frame, err = frame.New(frame.Options{
		LoggedPath: LoggedPath, BaseURL: o.BaseURL, Simulated: o.Simulated, Log: o.Log, Viewed: o.Metrics.Viewed,
		Failed: func(why message.Text) frame.Screen { return frame.Screen{Name: "home", Body: &formPage{Problem: why}} },
	})
	if err != nil {
		return nil, err
	}
	if err := p.Add(templateFiles, "templates"); err != nil {
		return nil, err
	}
	if p.manifest, err = manifestOf(p.Assets()); err != nil {
		return nil, err
	}
	if p.lots, err = lots.New(lots.Options{Frame: p.Frame, Keyed: o.Keyed, Operator: o.Operator, Redis: o.Redis}); err != nil {
		return nil, err
	}
	p.extension, err = extension.New(p.Frame)
	return p, err
}

//go:embed templates
var templateFiles embed.FS

//go:embed manifest.json
var manifestText string

// manifestOf returns what a phone needs to offer these pages where it shares links.
func manifestOf(files *frame.Files) ([]byte, error) {
	text := manifestText
	for _, icon := range []string{"icon192.png", "icon512.png"} {
		address, err := files.Address(icon)
		if err != nil {
			return nil, err
		}
		text = strings.Replace(text, icon, address, 1)
	}
	return []byte(text), nil
}

const patternToken = "/{token:[A-Z2-7]{26}}" //nolint:gosec // the pattern of an address

// Register adds the addresses of the pages to a router.
func (p *Pages) Register(router *mux.Router) {
	get, post := []string{http.MethodGet, http.MethodHead}, []string{http.MethodPost}
	router.Handle("/", p.Page(p.home)).Methods(get...)
	router.Handle("/go", p.Page(p.submit)).Methods(post...)
	router.Handle("/go", p.Page(p.toHome)).Methods(get...)
	router.Handle("/about", p.Page(p.about)).Methods(get...)
	for at, name := range map[string]string{"/hand": "hand", "/s": "sheet", "/bid": "bid", "/bill": "bill"} {
		router.Handle(at, p.Page(p.form(name))).Methods(get...)
		router.Handle(at, p.Page(p.submitForm(name))).Methods(post...)
	}
	router.Handle("/c", p.Page(p.compare)).Methods(get...)
	router.Handle("/c", p.Page(p.submitCompare)).Methods(post...)
	for _, kind := range kinds {
		at := "/" + kind + patternToken
		router.Handle(at, p.Page(p.answer)).Methods(get...)
		router.Handle(at+"/events", p.stream(p.events)).Methods(get...)
	}
	router.Handle("/{kind:e|bid|c}"+patternToken+"/choose", p.Page(p.choose)).Methods(get...)
	router.Handle("/e"+patternToken+"/paper", p.Page(p.paper)).Methods(get...)
	router.Handle("/e"+patternToken+"/doubts", p.Page(p.doubts)).Methods(get...)
	router.Handle("/s"+patternToken+"/map.svg", p.Page(p.damageMap)).Methods(get...)
	for _, kind := range kinds {
		router.PathPrefix("/" + kind + "/").Handler(p.Page(p.notFound)).Methods(get...)
	}
	p.lots.Register(router)
	p.extension.Register(router)
	router.Handle("/static/{name}", p.Assets()).Methods(get...)
	router.Handle("/manifest.webmanifest", http.HandlerFunc(p.serveManifest)).Methods(get...)
}

// about responds with who runs the pages, and what is kept of a visitor.
func (p *Pages) about(w http.ResponseWriter, r *http.Request) error {
	return p.Render(w, r, http.StatusOK, frame.Screen{Name: "about", Index: true, Body: p.options.About})
}

// serveManifest responds with the manifest.
func (p *Pages) serveManifest(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "public, max-age=3600")
	frame.SendPacked(w, r, http.StatusOK, "application/manifest+json", p.manifest)
}

// ForBrowsers responds to an address that leads nowhere with a page where a browser asks, else as
// another handler.
func (p *Pages) ForBrowsers(other http.Handler) http.Handler {
	page := p.Page(p.notFound)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.Header.Get("Accept"), "text/html") {
			page.ServeHTTP(w, r)
			return
		}
		other.ServeHTTP(w, r)
	})
}

// notFound responds to an address that leads nowhere, or no longer.
func (*Pages) notFound(http.ResponseWriter, *http.Request) error { return errUnknown }

// Page is the middleware of every page: the visitors of a network use no more than their share
// of the processors of this process. What a page takes is billed to them afterwards, with
// as much for the collector of the runtime, and what the connection, the log and Redis take.
func (p *Pages) Page(next request.Handler) http.Handler {
	return p.admitted(next, func(r *http.Request, took time.Duration) time.Duration {
		if r.Method == http.MethodPost { // it may wait for its body, and the API bills what it computes
			return min(2*took+besideTime, postTime)
		}
		return 2*took + besideTime
	})
}

// besideTime is what a page takes beside what is measured.
const besideTime = 1500 * time.Microsecond

// postTime is what a form takes beside the work of the API.
const postTime = 5 * time.Millisecond

// stream is the middleware of a page that lasts: it takes next to nothing.
func (p *Pages) stream(next request.Handler) http.Handler {
	return p.admitted(next, func(*http.Request, time.Duration) time.Duration { return 0 })
}

// admitted refuses the visitors of a network that has used more than its share. The page that says
// so is the same for all, and takes next to nothing.
func (p *Pages) admitted(next request.Handler, used func(r *http.Request, took time.Duration) time.Duration) http.Handler {
	page := p.Frame.Page(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		owner := pace.Caller(pace.Anonymous, request.From(r).Network)
		err := p.options.Processor.Admit(owner)
		if err == nil {
			began := time.Now()
			page.ServeHTTP(w, r)
			p.options.Processor.Bill(owner, used(r, time.Since(began)))
			return
		}
		spent, _ := errors.AsType[*pace.SpentError](err)
		wait := time.Second
		if spent != nil {
			wait = max(request.WholeSeconds(spent.Account.RetryAfter), wait)
		}
		said := message.New("page/spent", message.Values{"seconds": strconv.Itoa(int(wait.Seconds()))})
		why := problem.Because(http.StatusTooManyRequests, said, err).After(wait)
		why.SetHeader(w.Header())
		if frame.WantsJSON(r) && frame.SendJSON(w, why.Status, why.Body()) == nil {
			return
		}
		lang := p.Language(w, r)
		frame.Send(w, why.Status, "text/html; charset=utf-8", fmt.Appendf(nil,
			"<!doctype html><html lang=%q><meta name=viewport content=\"width=device-width\">"+
				"<title>Ushuru</title><p>%s</p></html>", lang, html.EscapeString(frame.TextOf(said).In(lang))))
	})
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
