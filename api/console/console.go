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
	"strings"
	"time"

	"github.com/gorilla/mux"
	"github.com/redis/go-redis/v9"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/api/web/frame"
	"ushuru/pkg/localtime"
	"ushuru/pkg/money"
	"ushuru/pkg/operate"
	"ushuru/pkg/operate/status"
)

// Path is where the console is.
const Path = "/console"

const filePath = Path + "/files/"

// policy lets a page load its style only, and send its forms to this server only.
const policy = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; " +
	"frame-ancestors 'none'"

// timeout bounds every call of Redis for a page.
const timeout = 10 * time.Second

// reloadSeconds is how often the overview is loaded again.
const reloadSeconds = 10

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
	session frame.Session // its text names the login
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
		session: frame.Session{
			Redis: o.Redis, Secret: "console:secret", Cookie: CookieName, With: fmt.Sprintf("%q %q", o.User, o.Password),
		},
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

// page is the middleware of every page.
func (c *Console) page(next request.Handler) http.Handler {
	around := frame.Around{Policy: policy, Cache: "no-store", Fail: c.fail}
	return around.Page(func(w http.ResponseWriter, r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), timeout)
		defer cancel()
		return next(w, r.WithContext(ctx))
	})
}

// view is what the overview shows.
type view struct {
	status.Status

	Monitoring string
	Still      bool // the page is not loaded again
}

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

// functions are what templates can call.
func functions(files *frame.Files) template.FuncMap {
	return template.FuncMap{
		"asset":   files.Address,
		"at":      func(at any) string { return clock(at, time.Now()) },
		"ago":     func(at any) string { return ago(at, time.Now()) },
		"in":      func(at time.Time) string { return length(time.Until(at)) },
		"ms":      func(ms int64) string { return length(time.Duration(ms) * time.Millisecond) },
		"n":       grouped,
		"bytes":   size,
		"uses":    uses,
		"agrees":  func(agree *bool) bool { return agree != nil && *agree },
		"strip":   newStrip,
		"reasons": reasons,
	}
}

// timeOf returns a time, or one that a pointer leads to; zero for none.
func timeOf(at any) time.Time {
	switch at := at.(type) {
	case time.Time:
		return at
	case *time.Time:
		if at != nil {
			return *at
		}
	}
	return time.Time{}
}

// clock returns a time as an operator reads it: the hour alone today, else with the day.
func clock(at any, now time.Time) string {
	when := timeOf(at)
	if when.IsZero() {
		return "never"
	}
	local, today := when.In(localtime.Zone), now.In(localtime.Zone)
	layout := "15:04"
	switch {
	case local.Year() != today.Year():
		layout = "2 Jan 2006"
	case local.YearDay() != today.YearDay():
		layout = "2 Jan 15:04"
	}
	return local.Format(layout)
}

// ago returns how long ago a time is.
func ago(at any, now time.Time) string {
	when := timeOf(at)
	if when.IsZero() {
		return "never"
	}
	return length(max(now.Sub(when), 0)) + " ago"
}

// length returns a duration in the unit that suits it.
func length(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d <= 0:
		return "0 s"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 2*day:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d d", int(d/day))
}

// grouped returns a whole number with commas for thousands.
func grouped(n any) string { return money.Grouped(fmt.Sprint(n)) }

// size returns a number of bytes in the unit that suits it.
func size(n int64) string {
	const unit = 1000
	value, names := float64(n), []string{"B", "KB", "MB", "GB", "TB"}
	at := 0
	for value >= unit && at < len(names)-1 {
		value, at = value/unit, at+1
	}
	if at == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", value, names[at])
}

// uses returns how much of a limit is used.
func uses(use status.Use) string {
	used, limit := grouped(use.Used), grouped(use.Limit)
	if use.What == status.UseBytes {
		used, limit = size(use.Used), size(use.Limit)
	}
	if use.Limit == 0 {
		return used
	}
	return used + " of " + limit
}

// reasons returns what failed by reason, the most frequent first.
func reasons(failed map[string]int64) string {
	names := status.Commonest(failed)
	for i, name := range names {
		names[i] = name + " " + grouped(failed[name])
	}
	return strings.Join(names, ", ")
}

const (
	stripHeight = 24
	barWidth    = 4 // of an hour, with its gap
)

// strip is a drawing of what happened in each hour: what went well below, what failed
// above.
type strip struct {
	Width, Height int
	Bars          []bar
	Says          string // the same in words
}

type bar struct {
	X, OKY, OK, FailedY, Failed int
}

// newStrip draws hours, the oldest first. ok and failed are the words for what they count.
func newStrip(hours []status.Hour, ok, failed string) strip {
	most := int64(1)
	for _, hour := range hours {
		most = max(most, hour.OK+hour.Failed)
	}
	drawn := strip{Width: barWidth * len(hours), Height: stripHeight}
	var sum status.Hour
	var said []string
	for i, hour := range hours {
		// What is not nothing is to be seen.
		up := func(n int64) int { return int((n*stripHeight + most - 1) / most) }
		b := bar{X: barWidth * i, OK: up(hour.OK), Failed: up(hour.Failed)}
		b.OK = min(b.OK, stripHeight-min(b.Failed, stripHeight/2))
		b.Failed = min(b.Failed, stripHeight-b.OK)
		b.OKY = stripHeight - b.OK
		b.FailedY = b.OKY - b.Failed
		drawn.Bars = append(drawn.Bars, b)
		sum.OK, sum.Failed = sum.OK+hour.OK, sum.Failed+hour.Failed
		if hour.OK+hour.Failed > 0 {
			said = append(said, fmt.Sprintf("%s: %s %s, %s %s", hour.Start.In(localtime.Zone).Format("15:00"),
				grouped(hour.OK), ok, grouped(hour.Failed), failed))
		}
	}
	drawn.Says = fmt.Sprintf("%s %s and %s %s in %d hours.", grouped(sum.OK), ok, grouped(sum.Failed), failed, len(hours))
	if len(said) > 0 {
		drawn.Says += " " + strings.Join(said, "; ") + "."
	}
	return drawn
}
