package api

import (
	"net/http"
	"net/url"
	"time"

	"ushuru/api/console"
	"ushuru/api/docs"
	"ushuru/api/monitoring"
	"ushuru/api/request"
	"ushuru/api/terms"
	"ushuru/api/web"
	"ushuru/api/web/lots"
	"ushuru/pkg/keys"
	"ushuru/pkg/operate"
	"ushuru/pkg/operate/status"
	"ushuru/pkg/pace"
)

// PageOptions are about the pages for buyers.
type PageOptions struct {
	Enabled bool
	BaseURL string // public address of the pages; "" is that of the request
	About   string // who runs them, and how to reach them; "" is not said
	Jobs    int    // running jobs of the visitors of a network; 0 means 40
	Rate    int    // requests per minute of the visitors of a network that need work; 0 means 120

	// Key is an API key that everybody may know, and Listing a page of a car: the pages
	// for programmers fill them in. Only a server with simulated figures has them.
	Key, Listing string
}

// Defaults of PageOptions.
const (
	defaultPageJobs = 40
	defaultPageRate = 120
	// pageBytes is what the work of the visitors of a network may take in Redis on a day: room
	// for the largest sheet, or for two thousand cars.
	pageBytes = 12<<20 + 64<<10
)

// registerPages adds the pages for buyers and those for programmers to the router. v1
// has the endpoints that the former call. operators knows who has logged in as the operator;
// nil means that no one can.
func (s *Server) registerPages(v1 http.Handler, operators *console.Console) error {
	o := s.options
	operator := lots.Operator{}
	if operators != nil {
		operator = lots.Operator{API: s.forOperator(v1), IsLoggedIn: operators.IsLoggedIn, Cookie: console.CookieName}
	}
	pages, err := web.New(web.Options{
		API: s.forVisitors(v1), Keyed: s.forKeys(v1), Operator: operator,
		Redis: o.Redis, Watch: o.Hub.Watch,
		Costs: s.vehicles.KnownCosts,
		Names: s.vehicles.FindNamed, Models: s.vehicles.ListModels,
		Terms: func(query url.Values, made time.Time) (web.Pricing, error) {
			return terms.ParseAddress(o.Costs, query, made)
		}, BaseURL: o.Page.BaseURL, About: o.Page.About, Simulated: o.Simulated,
		Processor: o.Processor, Compute: func(r *http.Request, identity any, compute func() ([]byte, error)) ([]byte, error) {
			visitor := &request.Request{Request: r, Network: request.From(r).Network, Key: keys.Key{ID: pace.Anonymous}}
			visitor.Place.Turn = s.limits.Turn(visitor.Caller())
			if identity == nil {
				return s.limits.Compute(visitor, compute)
			}
			return s.limits.ComputeOnce(visitor, nil, identity, compute)
		},
		Draining: s.draining, Metrics: o.Metrics, Log: o.Log,
	})
	if err != nil {
		return err
	}
	pages.Register(s.router)
	s.router.NotFoundHandler = pages.ForBrowsers(s.router.NotFoundHandler)
	s.router.MethodNotAllowedHandler = pages.ForBrowsers(request.ProblemHandler(request.ErrMethodNotAllowed))
	forProgrammers, err := docs.New(docs.Options{Frame: pages.Frame, Key: o.Page.Key, Listing: o.Page.Listing})
	if err != nil {
		return err
	}
	forProgrammers.Register(s.router)
	return nil
}

// forVisitors serves endpoints to visitors without an API key. Those of one network have
// limits as a key has, and less of what is scarce.
func (s *Server) forVisitors(v1 http.Handler) http.Handler {
	o := s.options.Page
	key := keys.Key{ID: pace.Anonymous, Limits: pace.Limits{PerMinute: o.Rate, Jobs: o.Jobs, Bytes: pageBytes}}
	return s.asCaller(v1, key)
}

// forOperator serves endpoints to the operator, who has logged in at the console. The
// operator has no API key, and the limits of one.
func (s *Server) forOperator(v1 http.Handler) http.Handler {
	return s.asCaller(v1, keys.Key{ID: pace.Operator, Name: pace.Operator})
}

// asCaller serves endpoints to a caller whose requests have no API key.
func (s *Server) asCaller(v1 http.Handler, key keys.Key) http.Handler {
	return request.Handler(func(w http.ResponseWriter, plain *http.Request) error {
		rec, r := inPage(w, plain)
		defer r.Place.Leave()
		r.Key = key
		r.Place.Turn = s.limits.Turn(r.Caller())
		if err := r.ReadParameters(s.options.WaitMax); err != nil {
			return err
		}
		v1.ServeHTTP(rec, r.Request)
		return nil
	})
}

// forKeys serves endpoints to those who have logged in on a page with their API key.
func (s *Server) forKeys(v1 http.Handler) http.Handler {
	authenticated := s.authenticated(v1)
	return request.Handler(func(w http.ResponseWriter, plain *http.Request) error {
		rec, r := inPage(w, plain)
		defer r.Place.Leave()
		authenticated.ServeHTTP(rec, r.Request)
		return nil
	})
}

// inPage returns the request that a page makes, beside that for the page.
func inPage(w http.ResponseWriter, plain *http.Request) (*request.Recorder, *request.Request) {
	of := request.From(plain)
	r := &request.Request{ID: "page", Network: of.Network, Visitor: of.Visitor, Sender: of.Sender}
	r.Request = plain.WithContext(request.With(plain.Context(), r))
	return &request.Recorder{ResponseWriter: w, Request: r}, r
}

// newConsole returns the operator's pages; nil without a password. Guesses at it are counted
// together with those at Asynqmon, which is made too.
func (s *Server) newConsole() (_ *console.Console, err error) {
	o := s.options
	if o.MonitoringPassword == "" {
		return nil, nil //nolint:nilnil // the console is off
	}
	if s.ui, err = monitoring.New(monitoring.Options{
		Redis: o.AsynqRedis, User: o.MonitoringUser, Password: o.MonitoringPassword,
		Writable: o.MonitoringWritable, Address: s.addressOf, Metrics: o.Metrics, Log: o.Log,
	}); err != nil {
		return nil, err
	}
	also := []string(nil)
	if o.Page.Enabled {
		also = []string{lots.Path}
	}
	return console.New(console.Options{
		Redis: o.Redis, Status: status.New(status.Options{Redis: o.Redis, Limits: o.Limits}),
		Operate: operate.New(operate.Options{Redis: o.Redis, Log: o.Log, AllowLoopback: o.AllowLoopback}),
		Login:   s.ui.CheckPassword, User: o.MonitoringUser, Password: o.MonitoringPassword,
		Also: also, Monitoring: monitoring.Path, Simulated: o.Simulated, Log: o.Log,
	})
}
