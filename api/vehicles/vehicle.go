// Package vehicles answers the requests for what the authority knows: its makes, its
// labels, and the taxes of a model by year. It never calls the authority.
package vehicles

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
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
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// syncSlot is the time in which at most one sync of the catalogue is enqueued.
const syncSlot = 5 * time.Second

// maxNamed is how many words of a text are taken for the name of a car.
const maxNamed = 8

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

// catalogue returns what the authority lists; its absence lets a worker fetch it.
func (s *Resource) catalogue(ctx context.Context) (*catalogue.Catalogue, error) {
	cat, err := s.options.Catalogue.Catalogue(ctx)
	if errors.Is(err, tra.ErrNoCatalogue) {
		return nil, errCatalogueMissing.WithCause(s.requestSync(ctx))
	}
	return cat, err
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

// FindNamed returns the makes whose entries a text may name, by the name of a make, of a model
// or by a chassis number, and the words that the entries are searched for with. No make is
// returned when the text names none.
func (s *Resource) FindNamed(parent context.Context, text string) (makes []string, query string, err error) {
	cat, err := s.catalogue(parent)
	if err != nil {
		return nil, "", err
	}
	words := strings.Fields(chassis.Normalise(text))
	if len(words) > maxNamed {
		return nil, "", nil
	}
	all := cat.Makes()
	for _, code := range codesIn(words) {
		if makes := holding(cat, all, code); len(makes) > 0 {
			return makes, code, nil
		}
	}
	mk, rest, isNamed := makeIn(cat, words)
	if isNamed {
		all, words = []catalogue.Make{mk}, rest
	}
	for to := len(words); to > 0; to-- { // what follows the model may be anything
		query := strings.Join(words[:to], " ")
		if makes := holding(cat, all, query); len(makes) > 0 {
			return makes, query, nil
		}
	}
	if isNamed {
		return []string{mk.Name}, strings.Join(words, " "), nil
	}
	return nil, "", nil
}

// codesIn returns the chassis codes of what may be a chassis number, the likeliest first.
func codesIn(words []string) (codes []string) {
	for _, word := range words {
		if code, ok := chassis.FromFrame(word); ok {
			codes = append(codes, code.Code)
		}
		for _, cut := range chassis.RunTogether(word) {
			codes = append(codes, cut.Code)
		}
	}
	return codes
}

// makeIn returns the make that some words name, as the market or the authority spells it, and
// the other words.
func makeIn(cat *catalogue.Catalogue, words []string) (mk catalogue.Make, rest []string, ok bool) {
	for from := range words {
		for to := len(words); to > from; to-- {
			if mk, ok = cat.Make(chassis.AuthorityMake(strings.Join(words[from:to], " "))); ok {
				return mk, slices.Concat(words[:from], words[to:]), true
			}
		}
	}
	return mk, words, false
}

// holding returns those of some makes that have an entry which a query names.
func holding(cat *catalogue.Catalogue, of []catalogue.Make, query string) (makes []string) {
	for _, mk := range of {
		entries, known := cat.Of(mk.Name)
		if known && slices.ContainsFunc(entries.Search(query), func(l catalogue.Label) bool { return isNamedBy(l, query) }) {
			makes = append(makes, mk.Name)
		}
	}
	return makes
}

// isNamedBy reports whether a query begins with a word of the entry's model, or with its code:
// the words that follow may only say which (hybrid, wagon).
func isNamedBy(l catalogue.Label, query string) bool {
	words := strings.Fields(query)
	for to := range words {
		key := chassis.NameKey(strings.Join(words[:to+1], ""))
		isKey := func(word string) bool { return chassis.NameKey(word) == key }
		isCode := func(code string) bool { return strings.HasPrefix(code, key) && len(key) > 2 }
		names := append(strings.Fields(l.Model), l.Model)
		if key != "" && (slices.ContainsFunc(l.Codes, isCode) || slices.ContainsFunc(names, isKey)) {
			return true
		}
	}
	return false
}

// ListModels returns the models of a make that have entries which a query fits, the nearest
// first, and the chassis code that the query is; "" for none. No model is returned of a make that
// the authority does not have.
func (s *Resource) ListModels(parent context.Context, mk, query string) (models []string, code string, err error) {
	cat, err := s.catalogue(parent)
	if err != nil {
		return nil, "", err
	}
	entries, known := cat.Of(chassis.Normalise(mk))
	if !known {
		return nil, "", nil
	}
	for _, label := range entries.Search(query) {
		if !slices.Contains(models, label.Model) {
			models = append(models, label.Model)
		}
	}
	if query = chassis.Normalise(query); len(entries.ByCode(query)) > 0 {
		code = query
	}
	return models, code, nil
}

// KnownCosts returns what a car costs as some entries of its make, by the entry, on the terms of the
// address of a page and as of the time at which it was made, as far as the known answers of the
// authority say. It never asks the authority.
func (s *Resource) KnownCosts(
	ctx context.Context, car vehicle.Car, labels []string, query url.Values, made time.Time,
) (map[string]vehicle.Estimate, error) {
	priced, given, err := terms.OfAddress(query, made)
	if err != nil {
		return nil, err
	}
	given.Apply(&car)
	cat, err := s.options.Catalogue.Catalogue(ctx)
	if errors.Is(err, tra.ErrNoCatalogue) {
		return nil, nil //nolint:nilnil // none is known
	}
	if err != nil {
		return nil, err
	}
	costs := map[string]vehicle.Estimate{}
	for _, label := range labels {
		input := vehicle.QuoteInput{
			Make: chassis.Normalise(car.Make), ModelBody: label, Year: car.Year, Fuel: car.Fuel, EngineCC: car.EngineCC,
		}
		choice, err := s.matcher.ChooseLabel(input.Car(), cat, label)
		if err != nil {
			continue // the list has changed
		}
		matched, got, err := s.knownAnswer(ctx, choice, input)
		if _, refused := errors.AsType[*match.Error](err); refused || errors.Is(err, tra.ErrNotKnown) {
			continue
		}
		if err != nil {
			return nil, err
		}
		known := vehicle.Estimate{Car: car, Matched: matched, Tax: got.Tax, AsOf: localtime.Stamp(got.At)}
		answer := s.options.Costs.Calculate(known, priced, made)
		known.Summary = &answer.Summary
		costs[label] = known
	}
	return costs, nil
}
