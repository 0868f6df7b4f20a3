// Package vehicles answers the requests for what the authority knows: its makes, its
// labels, and the taxes of a model by year. It never calls the authority.
package vehicles

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"ushuru/api/await"
	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/api/terms"
	"ushuru/pkg/chassis"
	"ushuru/pkg/cost"
	"ushuru/pkg/jobs"
	"ushuru/pkg/localtime"
	"ushuru/pkg/match"
	"ushuru/pkg/match/facts"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/tra"
	"ushuru/pkg/tra/catalogue"
	"ushuru/tasks"
)

// syncSlot is the time in which at most one sync of the catalogue is enqueued.
const syncSlot = 5 * time.Second

// Each is named by its code.
var (
	errCatalogueMissing = problem.New(http.StatusServiceUnavailable, "catalogue_missing", nil).After(5 * time.Second)
	errMakeNotFound     = problem.NotFound("make_not_found").Of("make")
	errLabelNotFound    = problem.NotFound("label_not_found").Of("modelBody")
)

// Options are the parts of a Resource.
type Options struct {
	Catalogue *tra.Store
	Jobs      *jobs.Store
	Tasks     *tasks.Engine
	Costs     *cost.Tables
	Outages   *tra.Outages
	Limits    *await.Limits
	Work      *await.Work
}

// Resource answers the requests for vehicles.
type Resource struct {
	options Options
	matcher *match.Matcher // of labels that are named
}

// New returns the Resource of some parts.
func New(options Options) *Resource { return &Resource{options, match.New(match.Options{})} }

// vehicleList is the response of GET /v1/vehicles: makes, or the labels of one.
type vehicleList struct {
	Make     string         `json:"make,omitempty"`
	Total    int            `json:"total"` // of all pages
	Makes    []string       `json:"makes,omitzero"`
	Vehicles []vehicleEntry `json:"vehicles,omitzero"`
	AsOf     *time.Time     `json:"asOf"`
	Next     string         `json:"next,omitempty"`
}

// vehicleEntry is one label, with its parts.
type vehicleEntry struct {
	ModelBody string   `json:"modelBody"`
	Model     string   `json:"model"`
	Codes     []string `json:"codes"` // never null
	Body      string   `json:"body"`

	// What is known of the chassis code apart from the authority. What is not is absent.
	EngineCC int    `json:"engine_cc,omitempty"`
	Fuel     string `json:"fuel,omitempty"`
	From     int    `json:"from,omitempty"` // years of production
	To       int    `json:"to,omitempty"`
}

// List answers GET /v1/vehicles: TRA's makes and labels, as a worker last
// fetched them. It never calls TRA.
func (s *Resource) List(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	if query.Has("offset") { // it would have the first page again
		return request.ErrPageInvalid
	}
	for _, name := range []string{"make", "q"} {
		if utf8.RuneCountInString(query.Get(name)) > terms.MaxText {
			return problem.Field(name, "characters", terms.MaxText)
		}
	}
	ctx := r.Context()
	cat, err := s.catalogue(ctx)
	if err != nil {
		return err
	}
	search := func() (vehicleList, error) { return makesOf(cat, query) }
	if name := query.Get("make"); name != "" {
		entries, known := cat.Of(chassis.Normalise(name))
		switch {
		case !known:
			return errMakeNotFound
		case entries.Pending:
			return errCatalogueMissing.WithCause(s.requestSync(ctx))
		}
		search = func() (vehicleList, error) { return labelsOf(entries, query) }
	}
	state, err := s.options.Catalogue.State(ctx)
	if err != nil {
		return err
	}
	data, err := s.options.Limits.Compute(request.From(r), func() ([]byte, error) { //nolint:contextcheck // as above
		found, err := search()
		if err != nil {
			return nil, err
		}
		found.AsOf = localtime.OfPointer(state.AsOf)
		request.SetNext(w, r.URL, found.Next)
		return plainjson.Encode(found)
	})
	if err != nil {
		return err
	}
	request.WriteTagged(w, r, "application/json", "private, max-age=300", data)
	return nil
}

// requestSync lets a worker in Tanzania fetch the catalogue, unless one does
// already.
func (s *Resource) requestSync(ctx context.Context) error {
	due, err := s.options.Catalogue.SyncDue(ctx)
	if err != nil || !due {
		return err
	}
	return s.options.Tasks.EnqueueOnce(ctx, tasks.TypeSync, syncSlot, time.Now())
}

func makesOf(cat *catalogue.Catalogue, query url.Values) (found vehicleList, err error) {
	names, wanted := []string{}, chassis.NameKey(query.Get("q"))
	for _, mk := range cat.Makes() {
		if strings.Contains(chassis.NameKey(mk.Name), wanted) {
			names = append(names, mk.Name)
		}
	}
	found.Total = len(names)
	found.Makes, found.Next, err = request.Paginate(query, names)
	return found, err
}

func labelsOf(entries *catalogue.Entries, query url.Values) (vehicleList, error) {
	labels := entries.Search(query.Get("q"))
	found := vehicleList{Make: entries.Make.Name, Total: len(labels), Vehicles: []vehicleEntry{}}
	page, next, err := request.Paginate(query, labels)
	for _, label := range page {
		codes := append([]string{}, label.Codes...)
		fact := facts.Of(label)
		found.Vehicles = append(found.Vehicles, vehicleEntry{
			label.Text, label.Model, codes, label.Body, fact.CC, string(fact.Fuel), fact.From, fact.To,
		})
	}
	found.Next = next
	return found, err
}
