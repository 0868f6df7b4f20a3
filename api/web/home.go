package web

import (
	"cmp"
	"net/http"
	"strings"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/api/web/frame"
	"ushuru/pkg/message"
)

// home responds with the form for a car: its link, its name, or whatever else a visitor has of it. A
// link in the query, or in a text that a phone shares, fills it.
func (p *Pages) home(w http.ResponseWriter, r *http.Request) error {
	filled := r.URL.Query()
	typed, shared := strings.TrimSpace(filled.Get("u")), strings.TrimSpace(filled.Get("text"))
	link := cmp.Or(linkIn(typed), typed, linkIn(shared), shared)
	filled.Set("u", link[:min(len(link), maxText)])
	return p.showForm(w, r, http.StatusOK, formPage{name: "home", isStart: r.URL.RawQuery == "", Filled: filled})
}

// submit answers the forms that need an estimate: it starts the work, and leads to the
// page of its answer.
func (p *Pages) submit(w http.ResponseWriter, r *http.Request) error {
	page, release, err := p.readForm(w, r)
	defer release()
	typed := strings.TrimSpace(r.PostForm.Get("u"))
	switch {
	case err != nil:
		return err
	case page == nil:
		if answered, err := p.meant(w, r, typed); answered || err != nil {
			return err
		}
	case page.html == "":
		if page, err = p.sentFile(w, r, page.file); page == nil {
			return err
		}
	}
	wanted := linkOf(pathEstimate, r.PostForm)
	if page != nil {
		wanted.Fields.Set("upload", page.hash())
		wanted.page, request.From(r).Sender = page, page.sender
	}
	return p.lead(w, r, wanted, func(said message.Text, why *problem.Problem) error {
		return p.showForm(w, r, frame.StatusOf(why), homePage(typed, said))
	})
}
