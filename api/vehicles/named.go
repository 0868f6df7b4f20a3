package vehicles

import (
	"context"
	"errors"
	"slices"
	"strings"

	"ushuru/pkg/chassis"
	"ushuru/pkg/tra"
	"ushuru/pkg/tra/catalogue"
)

// maxNamed is how many words of a text are taken for the name of a car.
const maxNamed = 8

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

// catalogue returns what the authority lists; its absence lets a worker fetch it.
func (s *Resource) catalogue(ctx context.Context) (*catalogue.Catalogue, error) {
	cat, err := s.options.Catalogue.Catalogue(ctx)
	if errors.Is(err, tra.ErrNoCatalogue) {
		return nil, errCatalogueMissing.WithCause(s.requestSync(ctx))
	}
	return cat, err
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
