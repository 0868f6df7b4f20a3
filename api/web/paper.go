package web

import (
	"net/http"
	"strings"

	"ushuru/api/web/frame"
)

// paper responds with an answer on one page for the clearing agent: the customs value, the taxes,
// the authority's reference and the frame number. It folds nothing, so that it prints whole.
func (p *Pages) paper(w http.ResponseWriter, r *http.Request) error {
	lang := p.Language(w, r)
	found, view, err := p.resultAbove(r, "/paper", lang)
	if err != nil {
		return err
	}
	view.Change = changesOf(view, found.terms, lang)
	return p.Render(w, r, http.StatusOK, frame.Screen{Name: "paper", Title: view.Name, Body: view})
}

// doubts responds with the parts of an answer that its auction sheet changes; with none while that
// is being read.
func (p *Pages) doubts(w http.ResponseWriter, r *http.Request) error {
	lang := p.Language(w, r)
	_, view, err := p.resultAbove(r, "/doubts", lang)
	if err != nil {
		return err
	}
	if view.Linked != nil && view.Linked.Reading {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	if err := view.share(lang, estimateNote.In(lang), view.headline(lang)...); err != nil {
		return err
	}
	return p.Render(w, r, http.StatusOK, frame.Screen{Name: "answer", Part: "doubts", Body: view})
}

// resultAbove returns the answer that an address belongs to.
func (p *Pages) resultAbove(r *http.Request, below, lang string) (*link, *result, error) {
	found, err := p.find(r)
	if err != nil {
		return nil, nil, err
	}
	if found.Shown == nil || found.Shown.Failed != nil {
		return nil, nil, errUnknown
	}
	answer := r.Clone(r.Context()) // whose address the page has
	answer.URL.Path = strings.TrimSuffix(r.URL.Path, below)
	view, err := p.resultOf(answer, found, lang)
	return found, &view, err
}
