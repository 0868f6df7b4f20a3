// Package lots serves the pages of batches: a table of cars is sent, looked at and started,
// and its results are watched, sorted and downloaded. They are for callers who have logged
// in with their API key, and call the API with that key, so that its limits hold, and its
// owner sees the same batches.
package lots

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/mux"
	"github.com/redis/go-redis/v9"

	"ushuru/api/web/frame"
	"ushuru/pkg/batch"
	"ushuru/pkg/export"
	"ushuru/pkg/message"
	"ushuru/pkg/pace"
	"ushuru/pkg/vehicle"
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

// lotRows is how many rows a page of a batch shows, and allRows how many it shows to be
// printed.
const (
	lotRows = 50
	allRows = 1000
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
	tables  pace.Counts   // that arrive
	logins  *pace.Rates   // of keys that are typed
	session frame.Session // its text is the API key
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
		session: frame.Session{Redis: o.Redis, Secret: "page:secret", Cookie: cookieSession},
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

// lotPage is the page of a batch.
type lotPage struct {
	Batch lotBatch
	Rows  []lotResult
	Sort  string
	Sorts []string // orders that make sense
	Next  string   // address of the rows that follow
	First string   // address of the first rows, unless they are shown
	All   string   // address of all rows on one page, to be printed
	Again int      // rows that have failed and can succeed
}

// States returns the states that rows have, in the order of their life.
func (l lotPage) States() []string {
	all := []string{"waiting", "running", "succeeded", "failed", "rejected", "cancelled"}
	return slices.DeleteFunc(all, func(state string) bool { return l.Batch.Counts[state] == 0 })
}

// lot responds with the progress of a batch and with its rows.
func (l *Lots) lot(w http.ResponseWriter, r *http.Request, s session) error {
	id := mux.Vars(r)["id"]
	view := lotPage{Sorts: []string{"", "onTheRoad"}}
	if err := s.Get(r.Context(), "/v1/batches/"+id, &view.Batch); err != nil {
		return err
	}
	if view.Batch.Options.Target != nil {
		view.Sorts = append(view.Sorts, "maxPrice", "margin")
	}
	asked := r.URL.Query()
	if sort := asked.Get("sort"); slices.Contains(view.Sorts, sort) {
		view.Sort = sort
	}
	rows := lotRows
	if asked.Has("all") {
		rows = allRows
	}
	query := url.Values{"format": {"json"}, "limit": {strconv.Itoa(rows)}}
	if view.Sort != "" {
		query.Set("sort", view.Sort)
	}
	if from, err := strconv.Atoi(asked.Get("from")); err == nil && from > 0 {
		query.Set("cursor", strconv.Itoa(from))
		view.First = frame.Address(Path+"/"+id, url.Values{"sort": {view.Sort}})
	}
	var got struct {
		Results []lotResult `json:"results"`
		Next    string      `json:"next"`
	}
	if err := s.Get(r.Context(), "/v1/batches/"+id+"/results?"+query.Encode(), &got); err != nil {
		return err
	}
	var err error
	if view.Again, err = countRetryable(r.Context(), s, view.Batch); err != nil {
		return err
	}
	for i := range got.Results {
		got.Results[i].batch = &view.Batch
	}
	view.Rows = got.Results
	if got.Next != "" {
		view.Next = frame.Address(Path+"/"+id, url.Values{"sort": {view.Sort}, "from": {got.Next}})
		if rows == lotRows {
			view.All = Path + "/" + id + "?all=1&sort=" + view.Sort
		}
	}
	shown := frame.Screen{Name: "lot", Body: view}
	if view.Batch.Runs() {
		shown.Again = reloadLots
	}
	return l.frame.Render(w, r, http.StatusOK, shown)
}

// countRetryable returns how many of the first failed rows of a batch that has ended can succeed.
func countRetryable(ctx context.Context, s session, b lotBatch) (count int, err error) {
	if b.Runs() || b.Failed() == 0 {
		return 0, nil
	}
	var failed struct {
		Items []lotResult `json:"items"`
	}
	err = s.Get(ctx, "/v1/batches/"+b.ID+"/items?state=failed&limit="+strconv.Itoa(allRows), &failed)
	for _, row := range failed.Items {
		if row.canSucceed() {
			count++
		}
	}
	return count, err
}

// lotResult is a row of a batch with its outcome.
type lotResult struct {
	lotRow

	State    string            `json:"state"`
	SameAs   int               `json:"sameAs"`
	Failure  *vehicle.Error    `json:"error"`
	Estimate *vehicle.Estimate `json:"estimate"`

	batch *lotBatch
}

// Found returns what is known of the car and its cost; nothing without an estimate.
func (l lotResult) Found() vehicle.Estimate {
	found := *cmp.Or(l.Estimate, &vehicle.Estimate{})
	found.Summary = cmp.Or(found.Summary, &vehicle.Summary{})
	return found
}

// Title returns what names the row: the car, as far as it is known.
func (l lotResult) Title() string {
	if l.Estimate != nil {
		return frame.NameOf(l.Estimate.Car)
	}
	return cmp.Or(frame.NameOf(*cmp.Or(l.failure().Car, &vehicle.Car{})), l.Name())
}

// failure returns why the row has no estimate; nothing for one that has none.
func (l lotResult) failure() vehicle.Error { return *cmp.Or(l.Failure, &vehicle.Error{}) }

// Link returns the address of the listing; "" when it is none that a browser may follow.
func (l lotResult) Link() string {
	if l.State == "rejected" {
		return ""
	}
	return frame.Followable(l.URL)
}

// Price returns the price of the car in dollars, of the row or of its page; "" without one.
func (l lotResult) Price() string {
	if l.Estimate != nil {
		l.Car.CFPriceUSD, l.Car.FOBPriceUSD = l.Estimate.Car.CFPriceUSD, l.Estimate.Car.FOBPriceUSD
	}
	return l.lotRow.Price()
}

// PriceBasis returns what the price of the car is.
func (l lotResult) PriceBasis() string {
	switch {
	case l.Basis != "":
		return l.Basis
	case l.Found().Car.CFPriceUSD != nil:
		return "cf"
	}
	return "fob"
}

// HighestPrice returns the highest price at which the car meets the target of the batch; ""
// without one.
func (l lotResult) HighestPrice() string {
	limits := cmp.Or(l.Found().MaxPrice, &vehicle.MaxPrice{}).FOB
	if limits == nil || limits.Likely == nil {
		return ""
	}
	return frame.InDollars(*limits.Likely)
}

// Margin returns how much that is above the price of the car; "" when it is not known.
func (l lotResult) Margin() string {
	found := l.Found()
	margin, known := export.Margin(&found)
	if !known {
		return ""
	}
	return frame.InDollars(margin.Round(0).IntPart())
}

// canSucceed reports whether the row has failed, and can succeed when it is tried again.
func (l lotResult) canSucceed() bool { return *cmp.Or(l.failure().Retryable, new(bool)) }

// CanRetry reports whether such a row can be tried again: its batch has ended.
func (l lotResult) CanRetry() bool { return l.canSucceed() && !l.batch.Runs() }

// Why returns why the row has no result, or the gravest doubt about the car; empty for none.
func (l lotResult) Why() message.Text {
	if l.Failure != nil {
		return frame.TextOf(frame.NoticeOf(*l.Failure))
	}
	return append(l.Found().Doubts, vehicle.Doubt{})[0].Text
}

// wholeForm leads to the whole answer of a row.
type wholeForm struct {
	Action string
	Fields url.Values
}

// Whole returns the form that leads to the whole answer on the terms of the batch; nil for a row
// that has none, or whose number the page of an answer cannot repeat: that page knows neither what
// an auction adds to the price of the row, nor all costs that a batch can have.
func (l lotResult) Whole() *wholeForm {
	if l.Estimate == nil || l.Basis == "start" || l.Basis == "hammer" || l.batch.Options.Costs != nil {
		return nil
	}
	fields := frame.FieldsOf(l.Car.Car())
	fields.Set("fuel", strings.ToLower(l.Car.Fuel))
	fields.Set("modelBody", l.Car.ModelBody)
	if rate := l.batch.Options.Rate; rate != nil {
		fields.Set("rate", rate.String())
	}
	if days := l.batch.Options.Landing; days != nil {
		fields.Set("landing", days.From+".."+days.To)
	}
	if l.URL != "" {
		fields.Set("u", l.Link())
		return &wholeForm{"/go", frame.Without(fields, "make")}
	}
	fields.Set("model", l.Car.Model)
	fields.Set("code", l.Car.ModelCode)
	return &wholeForm{"/hand", frame.Without(fields)}
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
