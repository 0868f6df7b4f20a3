package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"ushuru/pkg/chassis"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/tra"
	"ushuru/tasks"
)

const (
	defaultPage        = 50
	maxVehiclePageSize = 200
	maxOffset          = 1_000_000

	// syncSlot is how soon a sync of the catalogue is asked for again.
	syncSlot = 5 * time.Second
)

// page is what part of a list is asked for.
type page struct{ limit, offset int }

// list is the answer of GET /v1/vehicles: makes, or the labels of one.
type list struct {
	Make     string     `json:"make,omitempty"`
	Total    int        `json:"total"` // of all pages
	Offset   int        `json:"offset"`
	Makes    []string   `json:"makes,omitzero"`
	Vehicles []entry    `json:"vehicles,omitzero"`
	AsOf     *time.Time `json:"asOf"`
}

// entry is one label, with its parts.
type entry struct {
	ModelBody string   `json:"modelBody"`
	Model     string   `json:"model"`
	Codes     []string `json:"codes"` // never null
	Body      string   `json:"body"`
}

// vehicles searches the authority's makes and labels, as they were last
// fetched. Nothing here ever calls the authority.
func (s *Server) vehicles(w http.ResponseWriter, r *http.Request) error {
	asked := r.URL.Query()
	part, err := pageOfQuery(asked)
	if err != nil {
		return err
	}
	for _, name := range []string{"make", "q"} {
		if utf8.RuneCountInString(asked.Get(name)) > maxTextLength {
			return fieldProblem(name, fmt.Sprintf("must be at most %d characters", maxTextLength))
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), redisTimeout)
	defer cancel()
	catalogue, err := s.options.Catalogue.Catalogue(ctx)
	if errors.Is(err, tra.ErrNoCatalogue) {
		return errCatalogueMissing.withCause(s.askForSync(ctx))
	}
	if err != nil {
		return errUnavailable.withCause(err)
	}
	found := makesOf(catalogue, asked.Get("q"), part)
	if name := asked.Get("make"); name != "" {
		entries, known := catalogue.Of(chassis.Normalise(name))
		switch {
		case !known:
			return errMakeNotFound
		case entries.Pending:
			return errCatalogueMissing.withCause(s.askForSync(ctx))
		}
		found = labelsOf(entries, asked.Get("q"), part)
	}
	if found.AsOf, err = s.options.Catalogue.AsOf(ctx); err != nil {
		return errUnavailable.withCause(err)
	}
	data, err := plainjson.Encode(found)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "private, max-age=300")
	w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:8])+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	return nil
}

// askForSync has a worker in Tanzania fetch the catalogue, if nobody has.
func (s *Server) askForSync(ctx context.Context) error {
	due, err := s.options.Catalogue.SyncDue(ctx)
	if err != nil || !due {
		return err
	}
	return s.options.Tasks.EnqueueOnce(ctx, tasks.TypeSync, syncSlot, time.Now())
}

func makesOf(catalogue *tra.Catalogue, query string, part page) list {
	found := list{Offset: part.offset}
	names := []string{}
	for _, mk := range catalogue.Makes() {
		if strings.Contains(chassis.NameKey(mk.Name), chassis.NameKey(query)) {
			names = append(names, mk.Name)
		}
	}
	found.Total, found.Makes = len(names), paginate(names, part)
	return found
}

func labelsOf(entries *tra.Entries, query string, part page) list {
	labels := entries.Search(query)
	found := list{Make: entries.Make.Name, Total: len(labels), Offset: part.offset, Vehicles: []entry{}}
	for _, label := range paginate(labels, part) {
		found.Vehicles = append(found.Vehicles, entry{label.Text, label.Model, append([]string{}, label.Codes...), label.Body})
	}
	return found
}

// paginate is one page of a list.
func paginate[T any](all []T, part page) []T {
	from := min(part.offset, len(all))
	return all[from:min(from+part.limit, len(all))]
}

func pageOfQuery(asked url.Values) (page, error) {
	part := page{limit: defaultPage}
	for _, field := range []struct {
		name        string
		least, most int
		into        *int
	}{{"limit", 1, maxVehiclePageSize, &part.limit}, {"offset", 0, maxOffset, &part.offset}} {
		text := asked.Get(field.name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < field.least || n > field.most {
			return part, fieldProblem(field.name, fmt.Sprintf("must be a whole number from %d to %d", field.least, field.most))
		}
		*field.into = n
	}
	return part, nil
}
