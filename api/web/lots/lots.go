// Package lots serves the pages of batches: a table of cars is sent, looked at and started,
// and its results are watched, sorted and downloaded. They are for callers who have logged
// in with their API key, and call the API with that key, so that its limits hold, and its
// owner sees the same batches.
package lots

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/mux"
	"github.com/redis/go-redis/v9"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/api/web/frame"
	"ushuru/pkg/batch"
	"ushuru/pkg/message"
	"ushuru/pkg/pace"
)

//go:embed templates
var templates embed.FS

// Path is the address of the pages.
const Path = "/lots"

const (
	pathLot = Path + "/{id:[0-9A-Za-z]{1,64}}"

	maxLogins   = 60 // of a network in an hour
	shownLots   = 20 // batches that the page lists
	reloadLots  = 5  // seconds after which the page of a running batch loads again
	maxLotsFile = 8 << 20
)

// errBusy is the response to a caller while there are too many.
var errBusy = frame.ErrBusy(15 * time.Second)

// Operator is the operator of the server, who has logged in elsewhere, without an API key.
type Operator struct {
	API        http.Handler // the endpoints under /v1/, for requests of the operator
	IsLoggedIn func(r *http.Request) (bool, error)
	Cookie     string // name of the cookie of its login
}

// Options are the parts of Lots. All but Operator are required.
type Options struct {
	Frame    *frame.Frame
	Keyed    http.Handler          // the endpoints under /v1/, for requests with an API key
	Operator Operator              // the zero value when there is no login for it
	Redis    redis.UniversalClient // holds the tables that are not started yet
}

// Lots are the pages of batches of one process.
type Lots struct {
	options Options
	frame   *frame.Frame
	tables  pace.Counts // that arrive
	logins  *pace.Rates // of keys that are typed
}

// New reads the embedded templates.
func New(o Options) (*Lots, error) {
	if o.Frame == nil || o.Keyed == nil || o.Redis == nil {
		return nil, errors.New("lots: options without Frame, Keyed or Redis")
	}
	if err := o.Frame.Add(templates, "templates"); err != nil {
		return nil, err
	}
	return &Lots{
		options: o, frame: o.Frame, logins: pace.NewRates(o.Redis),
	}, nil
}

// Register adds the addresses of the pages to a router.
func (l *Lots) Register(router *mux.Router) {
	get, post := []string{http.MethodGet, http.MethodHead}, []string{http.MethodPost}
	router.Handle(Path, l.frame.Page(l.member(l.lots))).Methods(get...)
	router.Handle(Path, l.frame.Page(l.Upload)).Methods(post...)
	router.Handle(Path+"/preview", l.frame.Page(l.member(l.lookAt))).Methods(get...)
	router.Handle(Path+"/login", l.frame.Page(l.member(l.lots))).Methods(get...)
	router.Handle(Path+"/login", l.frame.Page(l.login)).Methods(post...)
	router.Handle(Path+"/logout", l.frame.Page(l.logout)).Methods(post...)
	router.Handle(Path+"/start", l.frame.Page(l.member(l.startLots))).Methods(post...)
	router.Handle(pathLot, l.frame.Page(l.member(l.lot))).Methods(get...)
	router.Handle(pathLot+"/cancel", l.frame.Page(l.member(l.changeLot(http.MethodDelete, "")))).Methods(post...)
	router.Handle(pathLot+"/retry", l.frame.Page(l.member(l.changeLot(http.MethodPost, "/retry")))).Methods(post...)
	router.Handle(pathLot+"/results", l.frame.Page(l.member(l.lotResults))).Methods(get...)
}

// loginForm is the page where an API key is typed.
type loginForm struct {
	Next    string // where it leads
	Console bool   // the operator can log in there
	Problem message.Text
}

// logIn responds with the form for the API key.
func (l *Lots) logIn(w http.ResponseWriter, r *http.Request, status int, form loginForm) error {
	form.Console = l.options.Operator.IsLoggedIn != nil
	return l.frame.Render(w, r, status, frame.Screen{Name: "login", Body: form})
}

// withoutSession responds to a request whose session has ended, or whose key is revoked,
// with the form for the key. Other errors are returned.
func (l *Lots) withoutSession(w http.ResponseWriter, r *http.Request, err error) error {
	form := loginForm{Next: nextOf(r.URL.Path)}
	var why *problem.Problem
	switch {
	case errors.Is(err, errNoSession):
		if r.Method == http.MethodPost || hasCookie(r, cookieSession) || hasCookie(r, l.options.Operator.Cookie) {
			form.Problem = message.Say("page/lots.session_over", nil)
		}
		return l.logIn(w, r, http.StatusOK, form)
	case errors.As(err, &why) && why.Status == http.StatusUnauthorized:
		if err := l.setSession(w, r, ""); err != nil {
			return err
		}
		form.Problem = message.Say("page/lots.key_unknown", nil)
		return l.logIn(w, r, http.StatusOK, form)
	}
	return err
}

func hasCookie(r *http.Request, name string) bool {
	_, err := r.Cookie(name)
	return err == nil
}

var lotPattern = regexp.MustCompile(`^` + Path + `/[0-9A-Za-z]{1,64}$`)

// nextOf returns the page of batches to which a login leads.
func nextOf(path string) string {
	if lotPattern.MatchString(path) {
		return path
	}
	return Path
}

// keyPattern is what an API key may be.
var keyPattern = regexp.MustCompile(`^[!-~]{1,200}$`)

// login begins a session with the key that was typed.
func (l *Lots) login(w http.ResponseWriter, r *http.Request) error {
	if err := frame.ParseForm(w, r); err != nil {
		return err
	}
	form := loginForm{Next: nextOf(r.PostForm.Get("next"))}
	if err := l.countLogin(r); err != nil {
		return err
	}
	key := strings.TrimSpace(r.PostForm.Get("key"))
	err := error(problem.New(http.StatusUnauthorized, "unauthorized", nil))
	if keyPattern.MatchString(key) {
		_, err = l.withKey(key).Do(r.Context(), http.MethodGet, "/v1/batches?limit=1", nil, nil)
	}
	var why *problem.Problem
	switch {
	case errors.As(err, &why) && why.Status == http.StatusUnauthorized:
		form.Problem = message.Say("page/lots.key_unknown", nil)
		return l.logIn(w, r, http.StatusUnprocessableEntity, form)
	case err != nil:
		return err
	}
	if err := l.setSession(w, r, key); err != nil {
		return err
	}
	http.Redirect(w, r, form.Next, http.StatusSeeOther)
	return nil
}

// countLogin counts a key that was typed, unless the network has tried too many.
func (l *Lots) countLogin(r *http.Request) error {
	allowed, err := l.logins.Take(r.Context(), pace.Limit{
		Key: "rate:page:login:" + request.From(r).Network, Rate: maxLogins / time.Hour.Seconds(), Burst: maxLogins,
	})
	switch {
	case err != nil:
		return request.ErrUnavailable.WithCause(err)
	case !allowed.Allowed:
		return errBusy.After(allowed.RetryAfter)
	}
	return nil
}

// logout ends a session.
func (l *Lots) logout(w http.ResponseWriter, r *http.Request) error {
	if err := l.setSession(w, r, ""); err != nil {
		return err
	}
	http.Redirect(w, r, Path, http.StatusSeeOther)
	return nil
}

// lotsHome is the page where a table is chosen, with the batches of the key.
type lotsHome struct {
	Problem  message.Text
	Operator bool       // the batches are the operator's
	Batches  []lotBatch `json:"batches"`
}

// lotBatch is a batch as the API shows it.
type lotBatch struct {
	ID          string         `json:"id"`
	State       string         `json:"state"`
	Rows        int            `json:"rows"`
	Counts      map[string]int `json:"counts"`
	Created     time.Time      `json:"created"`
	Expires     time.Time      `json:"expires"`
	SecondsLeft int            `json:"secondsLeft"`
	Text        *message.Text  `json:"text"` // why it waits
	Options     batch.Terms    `json:"options"`
}

// Done returns how many rows have an outcome.
func (b lotBatch) Done() int { return b.Rows - b.Counts["waiting"] - b.Counts["running"] }

// Failed returns how many rows have failed.
func (b lotBatch) Failed() int { return b.Counts["failed"] }

// Runs reports whether the batch goes on.
func (b lotBatch) Runs() bool { return b.State == "running" }

// Minutes returns how long it still takes, in whole minutes; 0 when that is not known.
func (b lotBatch) Minutes() int { return (b.SecondsLeft + 59) / 60 }

// lots responds with the form for a table, and with the batches of the key.
func (l *Lots) lots(w http.ResponseWriter, r *http.Request, s session) error {
	return l.renderLots(w, r, s, http.StatusOK, message.Text{})
}

func (l *Lots) renderLots(w http.ResponseWriter, r *http.Request, s session, status int, why message.Text) error {
	view := lotsHome{Problem: why, Operator: s.isOperator}
	if err := s.Get(r.Context(), "/v1/batches?limit="+strconv.Itoa(shownLots), &view); err != nil {
		return err
	}
	return l.frame.Render(w, r, status, frame.Screen{Name: "lots", Body: view})
}

// changeLot returns a page that changes a batch by a request of the API, and leads to its page.
func (*Lots) changeLot(method, below string) func(http.ResponseWriter, *http.Request, session) error {
	return func(w http.ResponseWriter, r *http.Request, s session) error {
		if err := frame.ParseForm(w, r); err != nil {
			return err
		}
		id := mux.Vars(r)["id"]
		path := "/v1/batches/" + id + below
		if r.PostForm.Has("row") { // one that can be tried again; the API refuses one that is no number
			path += "?" + url.Values{"row": r.PostForm["row"], "sheet": r.PostForm["sheet"]}.Encode()
		}
		if _, err := s.Do(r.Context(), method, path, nil, nil); err != nil {
			return err
		}
		http.Redirect(w, r, Path+"/"+id, http.StatusSeeOther) //nolint:gosec // a path of ours
		return nil
	}
}

// lotResults sends all results of a batch as a file, as the API sends them.
func (l *Lots) lotResults(w http.ResponseWriter, r *http.Request, s session) error {
	path := "/v1/batches/" + mux.Vars(r)["id"]
	if _, err := s.Do(r.Context(), http.MethodGet, path, nil, nil); err != nil { // what is wrong is said on a page
		return err
	}
	asked := r.URL.Query()
	query := url.Values{
		"format": {cmp.Or(asked.Get("format"), "xlsx")}, "sort": {asked.Get("sort")},
		"lang": {l.frame.Language(w, r)}, "bom": {"true"},
	}
	//nolint:gosec // our own API
	inner, err := http.NewRequestWithContext(r.Context(), r.Method, frame.Address(path+"/results", query), http.NoBody)
	if err != nil {
		return fmt.Errorf("lots: request: %w", err)
	}
	maps.Copy(inner.Header, s.Header)
	s.API.ServeHTTP(w, inner)
	return nil
}
