package web

import (
	"net/http"
	"strings"

	"ushuru/api/web/frame"
)

// paper responds with an answer on one page for the clearing agent: the customs value, the taxes,
// the authority's reference and the frame number. It folds nothing, so that it prints whole.
func (p *Pages) paper(w http.ResponseWriter, r *http.Request) error {
	view, err := p.resultAbove(w, r, "/paper")
	if err != nil {
		return err
	}
	view.Change = changesOf(view, view.found.terms, nil, view.lang)
	return p.Render(w, r, http.StatusOK, frame.Screen{Name: "paper", Body: view})
}

// doubts responds with the parts of an answer that its auction sheet changes; with none while that
// is being read.
func (p *Pages) doubts(w http.ResponseWriter, r *http.Request) error {
	view, err := p.resultAbove(w, r, "/doubts")
	if err != nil {
		return err
	}
	if view.Linked != nil && view.Linked.Reading {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	p.share(&view.made, view.say(estimateNote), view.headline()...)
	return p.Render(w, r, http.StatusOK, frame.Screen{Name: "answer", Part: "doubts", Body: view})
}

// resultAbove returns the answer that an address belongs to.
func (p *Pages) resultAbove(w http.ResponseWriter, r *http.Request, below string) (*result, error) {
	found, err := p.find(r)
	if err != nil {
		return nil, err
	}
	answer := r.Clone(r.Context()) // whose address the page has
	answer.URL.Path = strings.TrimSuffix(r.URL.Path, below)
	return p.resultOf(w, answer, found)
}
