// Package console serves the operator's pages: what needs attention, how TRA's calculator,
// workers, sites, batches, keys, the AI, webhooks and queues do, and forms to act. They are
// made by the server and need no JavaScript; the overview is loaded again every 10 s.
package console

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"time"

	"github.com/gorilla/mux"
	"github.com/redis/go-redis/v9"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/api/web/frame"
	"ushuru/pkg/operate"
	"ushuru/pkg/operate/status"
)

// Path is where the console is.
const Path = "/console"

const filePath = Path + "/files/"

// Options are the parts of a Console. All but Log are required.
type Options struct {
	Redis   redis.UniversalClient // holds the secret that signs logins
	Status  *status.Reader
	Operate *operate.Operator // acts for the operator who is logged in
	// Login checks a name and a password. It returns nil, or what to answer; then
	// guesses are slowed.
	Login func(r *http.Request, user, password string) error
	// Credentials are the name and the password. A change of them ends every login.
	User, Password string

	// Also are other addresses at which a login counts, with all below them.
	Also []string

	// Monitoring is the address of Asynqmon.
	Monitoring string
	Simulated  bool
	Log        *slog.Logger // nil means slog.Default()
}

// Console is the console of one process.
type Console struct {
	options Options
	files   *frame.Files
	pages   map[string]*template.Template
	session session
}

//go:embed assets templates
var embedded embed.FS

// New reads the embedded files.
func New(o Options) (*Console, error) {
	if o.Redis == nil || o.Status == nil || o.Operate == nil || o.Login == nil || o.User == "" || o.Password == "" {
		return nil, errors.New("console: options without Redis, Status, Operate, Login, User or Password")
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	c := &Console{
		options: o, pages: map[string]*template.Template{},
		session: session{redis: o.Redis, user: o.User, password: o.Password},
	}
	var err error
	if c.files, err = frame.ReadFiles(filePath, embedded, "assets/console.css", "assets/console.svg"); err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	for _, name := range []string{"login", "overview", "form", "done"} {
		c.pages[name], err = template.New("layout.html").Funcs(functions(c.files)).
			ParseFS(embedded, "templates/layout.html", "templates/"+name+".html")
		if err != nil {
			return nil, fmt.Errorf("console: %w", err)
		}
	}
	return c, nil
}

// Register adds the addresses of the console to a router.
func (c *Console) Register(router *mux.Router) {
	get, post := []string{http.MethodGet, http.MethodHead}, []string{http.MethodPost}
	router.Handle(Path, c.page(c.private(c.overview))).Methods(get...)
	router.Handle(Path+"/", http.RedirectHandler(Path, http.StatusPermanentRedirect)).Methods(get...)
	router.Handle(Path+"/login", c.page(c.showLogin)).Methods(get...)
	router.Handle(Path+"/login", c.page(c.login)).Methods(post...)
	router.Handle(Path+"/logout", c.page(c.logout)).Methods(post...)
	router.Handle(Path+"/do/{action:[a-z-]{1,30}}", c.page(c.private(c.showAction))).Methods(get...)
	router.Handle(Path+"/do/{action:[a-z-]{1,30}}", c.page(c.private(c.act))).Methods(post...)
	router.PathPrefix(filePath).Handler(c.files).Methods(get...)
}

// policy lets a page load its style only, and send its forms to this server only.
const policy = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; " +
	"frame-ancestors 'none'"

// timeout bounds every call of Redis for a page.
const timeout = 10 * time.Second

// page is the middleware of every page.
func (c *Console) page(next request.Handler) http.Handler {
	around := frame.Around{Policy: policy, Cache: "no-store", Fail: c.fail}
	return around.Page(func(w http.ResponseWriter, r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), timeout)
		defer cancel()
		return next(w, r.WithContext(ctx))
	})
}

// shown is what a template shows.
type shown struct {
	Title     string
	Reload    int    // seconds after which the page is loaded again; 0 for never
	User      string // the operator who is logged in; "" for none
	Problem   string // what went wrong
	Said      string // what was done
	Simulated bool
	Body      any
}

// render responds with a page.
func (c *Console) render(w http.ResponseWriter, r *http.Request, code int, name string, s shown) error {
	s.Simulated = c.options.Simulated
	if s.User == "" {
		s.User = userOf(r)
	}
	var body bytes.Buffer
	if err := c.pages[name].Execute(&body, s); err != nil {
		return fmt.Errorf("console: %w", err)
	}
	frame.Send(w, code, "text/html; charset=utf-8", body.Bytes())
	return nil
}

// errNothing is the response to an address that leads nowhere.
var errNothing = errors.New("console: no such page")

// fail responds with the page of an error.
func (c *Console) fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, errNothing) {
		said := shown{Title: "There is no such page", Body: done{Back: Path}}
		err = c.render(w, r, http.StatusNotFound, "done", said)
	}
	if err == nil {
		return
	}
	why := problemOf(err)
	if why.Status >= http.StatusInternalServerError {
		c.options.Log.ErrorContext(r.Context(), "the console failed", "path", r.URL.Path, "error", err)
	}
	why.SetHeader(w.Header())
	said := shown{Title: "This did not work", Problem: why.Message, Body: done{Back: Path}}
	if err := c.render(w, r, why.Status, "done", said); err != nil {
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
	}
}

// problemOf returns what to answer to an error.
func problemOf(err error) *problem.Problem {
	if why, ok := errors.AsType[*problem.Problem](err); ok {
		return why
	}
	return problem.New(http.StatusServiceUnavailable, "unavailable", nil).WithCause(err)
}

// reloadSeconds is how often the overview is loaded again.
const reloadSeconds = 10

// overview responds with the status of the service.
func (c *Console) overview(w http.ResponseWriter, r *http.Request) error {
	if next := c.nextOf(r.URL.Query()); next != "" {
		http.Redirect(w, r, next, http.StatusSeeOther) //nolint:gosec // nextOf returns addresses of ours
		return nil
	}
	now, err := c.options.Status.Read(r.Context())
	if err != nil {
		return err
	}
	title := "Nothing needs you"
	if n := len(now.Needs); n == 1 {
		title = "1 thing needs you"
	} else if n > 1 {
		title = fmt.Sprintf("%d things need you", n)
	}
	view := view{Status: now, Monitoring: c.options.Monitoring, Still: r.URL.Query().Has("still")}
	s := shown{Title: title, Body: view, Said: Actions()[r.URL.Query().Get("done")].Done}
	if !view.Still {
		s.Reload = reloadSeconds
	}
	return c.render(w, r, http.StatusOK, "overview", s)
}
