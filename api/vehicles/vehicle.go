// Package vehicles answers the requests for what the authority knows: its makes, its
// labels, and the taxes of a model by year. It never calls the authority.
package vehicles

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
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
	"ushuru/pkg/plainjson"
	"ushuru/pkg/tra"
	"ushuru/tasks"
)

const (
	defaultVehiclePageSize = 50
	maxVehiclePageSize     = 200
	maxOffset              = 1_000_000

	// syncSlot is the time in which at most one sync of the catalogue is enqueued.
	syncSlot = 5 * time.Second
)

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

// pageRange is the requested part of a list.
type pageRange struct{ limit, offset int }

// vehicleList is the response of GET /v1/vehicles: makes, or the labels of one.
type vehicleList struct {
	Make     string         `json:"make,omitempty"`
	Total    int            `json:"total"` // of all pages
	Offset   int            `json:"offset"`
	Makes    []string       `json:"makes,omitzero"`
	Vehicles []vehicleEntry `json:"vehicles,omitzero"`
	AsOf     *time.Time     `json:"asOf"`
}

// vehicleEntry is one label, with its parts.
type vehicleEntry struct {
	ModelBody string   `json:"modelBody"`
	Model     string   `json:"model"`
	Codes     []string `json:"codes"` // never null
	Body      string   `json:"body"`
}

// List answers GET /v1/vehicles: TRA's makes and labels, as a worker last
// fetched them. It never calls TRA.
func (s *Resource) List(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	part, err := parsePage(query)
	if err != nil {
		return err
	}
	for _, name := range []string{"make", "q"} {
		if utf8.RuneCountInString(query.Get(name)) > terms.MaxText {
			return problem.Field(name, "characters", terms.MaxText)
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), request.RedisTimeout)
	defer cancel()
	catalogue, err := s.options.Catalogue.Catalogue(ctx)
	if errors.Is(err, tra.ErrNoCatalogue) {
		return errCatalogueMissing.WithCause(s.requestSync(ctx))
	}
	if err != nil {
		return request.ErrUnavailable.WithCause(err)
	}
	search := func() vehicleList { return makesOf(catalogue, query.Get("q"), part) }
	if name := query.Get("make"); name != "" {
		entries, known := catalogue.Of(chassis.Normalise(name))
		switch {
		case !known:
			return errMakeNotFound
		case entries.Pending:
			return errCatalogueMissing.WithCause(s.requestSync(ctx))
		}
		search = func() vehicleList { return labelsOf(entries, query.Get("q"), part) }
	}
	asOf, err := s.options.Catalogue.AsOf(ctx)
	if err != nil {
		return request.ErrUnavailable.WithCause(err)
	}
	data, err := s.options.Limits.Compute(request.From(r), nil, func() ([]byte, error) {
		found := search()
		found.AsOf = localtime.OfPointer(asOf)
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

func makesOf(catalogue *tra.Catalogue, query string, part pageRange) vehicleList {
	found := vehicleList{Offset: part.offset}
	names, query := []string{}, chassis.NameKey(query)
	for _, mk := range catalogue.Makes() {
		if strings.Contains(chassis.NameKey(mk.Name), query) {
			names = append(names, mk.Name)
		}
	}
	found.Total, found.Makes = len(names), paginate(names, part)
	return found
}

func labelsOf(entries *tra.Entries, query string, part pageRange) vehicleList {
	labels := entries.Search(query)
	found := vehicleList{Make: entries.Make.Name, Total: len(labels), Offset: part.offset, Vehicles: []vehicleEntry{}}
	for _, label := range paginate(labels, part) {
		codes := append([]string{}, label.Codes...)
		found.Vehicles = append(found.Vehicles, vehicleEntry{label.Text, label.Model, codes, label.Body})
	}
	return found
}

// paginate returns one page of a list.
func paginate[T any](all []T, part pageRange) []T {
	from := min(part.offset, len(all))
	return all[from:min(from+part.limit, len(all))]
}

// parsePage parses the parameters "limit" and "offset".
func parsePage(query url.Values) (pageRange, error) {
	part := pageRange{limit: defaultVehiclePageSize}
	for _, field := range []struct {
		name     string
		min, max int
		target   *int
	}{{"limit", 1, maxVehiclePageSize, &part.limit}, {"offset", 0, maxOffset, &part.offset}} {
		text := query.Get(field.name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < field.min || n > field.max {
			return part, problem.Field(field.name, "range", field.min, field.max)
		}
		*field.target = n
	}
	return part, nil
}
