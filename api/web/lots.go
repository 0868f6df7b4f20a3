package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/mux"

	"ushuru/api/problem"
	"ushuru/pkg/message"
)

// The pages of batches are for callers who have logged in with their API key. They call
// the API with that key, so that its limits hold, and its owner sees the same batches.
const (
	pathLots = "/lots"
	pathLot  = pathLots + "/{id:[0-9A-Za-z]{1,64}}"

	maxLogins   = 60 // of a network in an hour
	shownLots   = 20 // batches that the page lists
	reloadLots  = 5  // seconds after which the page of a running batch loads again
	maxLotsFile = 8 << 20
)

func (p *Pages) registerLots(router *mux.Router) {
	get, post := []string{http.MethodGet, http.MethodHead}, []string{http.MethodPost}
	router.Handle(pathLots, p.page(p.lots)).Methods(get...)
	router.Handle(pathLots, p.page(p.uploadLots)).Methods(post...)
	router.Handle(pathLots+"/login", p.page(p.login)).Methods(post...)
	router.Handle(pathLots+"/logout", p.page(p.logout)).Methods(post...)
	router.Handle(pathLots+"/start", p.page(p.startLots)).Methods(post...)
	router.Handle(pathLot, p.page(p.lot)).Methods(get...)
	router.Handle(pathLot+"/cancel", p.page(p.changeLot(http.MethodDelete, ""))).Methods(post...)
	router.Handle(pathLot+"/retry", p.page(p.changeLot(http.MethodPost, "/retry"))).Methods(post...)
	router.Handle(pathLot+"/results", http.HandlerFunc(p.lotResults)).Methods(get...)
}

// keyed calls the API with the key of a session.
func (p *Pages) keyed(
	ctx context.Context, s session, method, path string, body []byte, more http.Header,
) (*response, error) {
	header := http.Header{"X-Api-Key": {s.key}}
	maps.Copy(header, more)
	return client{p.options.Keyed}.call(ctx, method, path, body, header)
}

// getKeyed decodes what an address of the API has for the key of a session.
func (p *Pages) getKeyed(ctx context.Context, s session, path string, into any) error {
	got, err := p.keyed(ctx, s, http.MethodGet, path, nil, nil)
	if err != nil {
		return err
	}
	return json.Unmarshal(got.Bytes(), into)
}

// loginForm is the page where an API key is typed.
type loginForm struct {
	Next    string // where it leads
	Problem message.Text
}

// logIn responds with the form for the API key.
func (p *Pages) logIn(w http.ResponseWriter, r *http.Request, status int, form loginForm) error {
	return p.render(w, r, status, screen{Name: "login", Title: "lots.title", Body: form})
}

// withoutSession responds to a request whose session has ended, or whose key is revoked,
// with the form for the key. Other errors are returned.
func (p *Pages) withoutSession(w http.ResponseWriter, r *http.Request, err error) error {
	form := loginForm{Next: nextOf(r.URL.Path)}
	var why *problem.Problem
	switch {
	case errors.Is(err, errNoSession):
		if r.Method == http.MethodPost {
			form.Problem = message.Say("page/lots.session_over", nil)
		}
		return p.logIn(w, r, http.StatusOK, form)
	case errors.As(err, &why) && why.Status == http.StatusUnauthorized:
		if err := p.setSession(w, r, ""); err != nil {
			return err
		}
		form.Problem = message.Say("page/lots.key_unknown", nil)
		return p.logIn(w, r, http.StatusOK, form)
	}
	return err
}

// nextOf returns the page of batches to which a login leads.
func nextOf(path string) string {
	id, isLot := strings.CutPrefix(path, pathLots+"/")
	if !isLot || id == "" || len(id) > 64 || strings.ContainsFunc(id, isNotAlphanumeric) {
		return pathLots
	}
	return path
}

func isNotAlphanumeric(r rune) bool {
	return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}

// login begins a session with the key that was typed.
func (p *Pages) login(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(w, r); err != nil {
		return err
	}
	form := loginForm{Next: nextOf(r.PostForm.Get("next"))}
	network := window{"login", networkOf(p.options.Address(r)), time.Hour, maxLogins}
	if err := p.visitors.within(r.Context(), errBusy, network); err != nil {
		return err
	}
	key := strings.TrimSpace(r.PostForm.Get("key"))
	err := error(problem.New(http.StatusUnauthorized, "unauthorized", nil))
	if key != "" && len(key) <= maxKey && !strings.ContainsFunc(key, isNotPrintable) {
		_, err = p.keyed(r.Context(), session{key: key}, http.MethodGet, "/v1/batches?limit=1", nil, nil)
	}
	var why *problem.Problem
	switch {
	case errors.As(err, &why) && why.Status == http.StatusUnauthorized:
		form.Problem = message.Say("page/lots.key_unknown", nil)
		return p.logIn(w, r, http.StatusUnprocessableEntity, form)
	case err != nil:
		return err
	}
	if err := p.setSession(w, r, key); err != nil {
		return err
	}
	http.Redirect(w, r, form.Next, http.StatusSeeOther)
	return nil
}

func isNotPrintable(r rune) bool { return r <= ' ' || r > '~' }

// logout ends a session.
func (p *Pages) logout(w http.ResponseWriter, r *http.Request) error {
	if err := p.setSession(w, r, ""); err != nil {
		return err
	}
	http.Redirect(w, r, pathLots, http.StatusSeeOther)
	return nil
}

// lotsHome is the page where a table is chosen, with the batches of the key.
type lotsHome struct {
	Problem message.Text
	Batches []lotBatch `json:"batches"`
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
	Options     struct {
		Target json.RawMessage `json:"target"`
	} `json:"options"`
}

// Done returns how many rows have an outcome.
func (b lotBatch) Done() int { return b.Rows - b.Counts["waiting"] - b.Counts["running"] }

// Failed returns how many rows can be tried again.
func (b lotBatch) Failed() int { return b.Counts["failed"] }

// Runs reports whether the batch goes on.
func (b lotBatch) Runs() bool { return b.State == "running" || b.State == "cancelling" }

// Minutes returns how long it still takes, in whole minutes; 0 when that is not known.
func (b lotBatch) Minutes() int { return (b.SecondsLeft + 59) / 60 }

// lots responds with the form for a table, and with the batches of the key.
func (p *Pages) lots(w http.ResponseWriter, r *http.Request) error {
	s, err := p.sessionOf(r)
	if err == nil {
		err = p.renderLots(w, r, s, http.StatusOK, message.Text{})
	}
	return p.withoutSession(w, r, err)
}

func (p *Pages) renderLots(w http.ResponseWriter, r *http.Request, s session, status int, why message.Text) error {
	view := lotsHome{Problem: why}
	if err := p.getKeyed(r.Context(), s, "/v1/batches?limit="+strconv.Itoa(shownLots), &view); err != nil {
		return err
	}
	return p.render(w, r, status, screen{Name: "lots", Title: "lots.title", Body: view})
}

// changeLot returns a handler that changes a batch by a request of the API, and leads to
// its page.
func (p *Pages) changeLot(method, below string) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		s, err := p.sessionOf(r)
		path := "/v1/batches/" + mux.Vars(r)["id"] + below
		if err == nil {
			_, err = p.keyed(r.Context(), s, method, path, nil, nil)
		}
		if err != nil {
			return p.withoutSession(w, r, err)
		}
		http.Redirect(w, r, pathLots+"/"+mux.Vars(r)["id"], http.StatusSeeOther)
		return nil
	}
}

// lotResults sends all results of a batch as a file, as the API sends them.
func (p *Pages) lotResults(w http.ResponseWriter, r *http.Request) {
	s, err := p.sessionOf(r)
	path := "/v1/batches/" + mux.Vars(r)["id"]
	if err == nil { // what is wrong is said on a page
		_, err = p.keyed(r.Context(), s, http.MethodGet, path, nil, nil)
	}
	if err != nil {
		p.page(func(w http.ResponseWriter, r *http.Request) error { return p.withoutSession(w, r, err) }).ServeHTTP(w, r)
		return
	}
	asked := r.URL.Query()
	query := url.Values{"format": {cmp.Or(asked.Get("format"), "xlsx")}, "lang": {p.language(w, r)}, "bom": {"true"}}
	if sort := asked.Get("sort"); sort != "" {
		query.Set("sort", sort)
	}
	inner, err := http.NewRequestWithContext(r.Context(), r.Method, path+"/results?"+query.Encode(), bytes.NewReader(nil))
	if err != nil {
		p.fail(w, r, err)
		return
	}
	inner.Header.Set("X-Api-Key", s.key)
	p.options.Keyed.ServeHTTP(w, inner)
}
