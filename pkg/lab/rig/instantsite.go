package rig

import (
	"bytes"
	"maps"
	"net/http"
	"sync"
)

// instantSite renders each page of a site once: the benchmark measures the
// service, not the templates of a simulator.
type instantSite struct {
	site  http.Handler
	pages sync.Map // path → *sitePage
}

// Instant returns a site that renders each of its pages once.
func Instant(site http.Handler) http.Handler { return &instantSite{site: site} }

// sitePage is a rendered page.
type sitePage struct {
	bytes.Buffer

	header http.Header
	status int
}

// Header implements http.ResponseWriter.
func (p *sitePage) Header() http.Header { return p.header }

// WriteHeader implements http.ResponseWriter.
func (p *sitePage) WriteHeader(status int) { p.status = status }

// ServeHTTP answers with the page at a path, whatever the query.
func (s *instantSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	known, _ := s.pages.Load(r.URL.Path)
	page, ok := known.(*sitePage)
	if !ok {
		page = &sitePage{header: http.Header{}, status: http.StatusOK}
		s.site.ServeHTTP(page, r)
		s.pages.Store(r.URL.Path, page)
	}
	maps.Copy(w.Header(), page.header)
	w.WriteHeader(page.status)
	_, _ = w.Write(page.Bytes()) //nolint:gosec // pages of the simulator
}
