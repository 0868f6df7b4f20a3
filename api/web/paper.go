package web

import (
	"net/http"
	"strings"

	"ushuru/api/web/frame"
)

// paper responds with an answer on one page for the clearing agent: the customs value, the taxes,
// the authority's reference and the frame number. It folds nothing, so that it prints whole.
func (p *Pages) paper(w http.ResponseWriter, r *http.Request) error {
	found, err := p.find(r)
	if err != nil {
		return err
	}
	if found.Shown == nil || found.Shown.Failed != nil {
		return errUnknown
	}
	answer := r.Clone(r.Context()) // whose address the paper has
	answer.URL.Path = strings.TrimSuffix(r.URL.Path, "/paper")
	lang := p.Language(w, r)
	view, err := p.resultOf(answer, found, lang)
	if err != nil {
		return err
	}
	view.Change = changesOf(&view, found.terms, lang)
	return p.Render(w, r, http.StatusOK, frame.Screen{Name: "paper", Title: view.Name, Body: &view})
}
