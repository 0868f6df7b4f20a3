package fetch

import "net/http"

// Validators are what a site gives with a page to ask later whether it has
// changed (RFC 9110, 8.8).
type Validators struct {
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"lastModified,omitempty"`
}

// maxValidator is the longest validator in bytes that is kept.
const maxValidator = 256

// Validators returns those of the page; they are empty when it has none.
func (p *Page) Validators() Validators {
	v := Validators{p.Header.Get("ETag"), p.Header.Get("Last-Modified")}
	if len(v.ETag) > maxValidator || len(v.LastModified) > maxValidator {
		return Validators{}
	}
	return v
}

// set asks for the page only if it has changed.
func (v Validators) set(h *http.Header) {
	if v.ETag != "" {
		h.Set("If-None-Match", v.ETag)
	}
	if v.LastModified != "" {
		h.Set("If-Modified-Since", v.LastModified)
	}
}
