package web

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"ushuru/api/request"
	"ushuru/api/web/frame"
	"ushuru/pkg/bill"
)

// sentFile answers a file as what its bytes are, whatever its name says: an auction sheet, a table
// of cars, or the lines of a bill. It returns the page of a car that a browser has saved, with its
// address in the form: its answer is yet to be made.
func (p *Pages) sentFile(w http.ResponseWriter, r *http.Request, data []byte) (page *upload, err error) {
	plain := bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	kind, _, _ := strings.Cut(http.DetectContentType(plain), ";")
	switch {
	case len(data) == 0:
		return nil, p.unclear(w, r, "page/file.none", "")
	case kind == "text/html":
		return p.savedPage(w, r, plain)
	case kind == "text/plain":
		lines, isBill := "", false
		err := p.inTurn(r.Context(), r, func(context.Context) error {
			lines, isBill = bill.Lines(string(plain[:min(len(plain), maxText)]))
			if len(plain) > maxText {
				lines = string(plain[:min(len(plain), frame.MaxForm)]) // which the API says is too long
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if isBill {
			r.PostForm = url.Values{"text": {lines}}
			return nil, p.submitForm("bill")(w, r)
		}
		return nil, p.forward(w, r, data, p.lots.Upload)
	case kind == "application/zip": // a workbook is one
		return nil, p.forward(w, r, data, p.lots.Upload)
	}
	return nil, p.forward(w, r, data, p.sendSheet) // which says of other files what they are
}

// forward gives a file to who reads it from a form with nothing else, without copying it.
func (*Pages) forward(w http.ResponseWriter, r *http.Request, data []byte, to request.Handler) error {
	var around bytes.Buffer
	form := multipart.NewWriter(&around)
	if _, err := form.CreateFormFile("file", "file"); err != nil {
		return fmt.Errorf("web: a form in memory: %w", err)
	}
	head := around.Len()
	if err := form.Close(); err != nil {
		return fmt.Errorf("web: a form in memory: %w", err)
	}
	whole := around.Bytes()
	body := io.MultiReader(bytes.NewReader(whole[:head]), bytes.NewReader(data), bytes.NewReader(whole[head:]))
	r = r.Clone(r.Context())
	r.Body, r.ContentLength = io.NopCloser(body), int64(len(whole)+len(data))
	r.PostForm, r.Form, r.MultipartForm = nil, nil, nil // this form is read from its beginning
	r.Header.Set("Content-Type", form.FormDataContentType())
	return to(w, r)
}

// addressPattern is where a saved page says where it is from.
var addressPattern = regexp.MustCompile(
	`(?i)<!-- saved from url=[^>]*>|<link\b[^>]*\bcanonical\b[^>]*>|<meta\b[^>]*\bog:url\b[^>]*>`)

// savedPage returns the page of a car that a browser has saved.
func (p *Pages) savedPage(w http.ResponseWriter, r *http.Request, data []byte) (*upload, error) {
	page, err := pageOf(data)
	if err != nil {
		return nil, err
	}
	said := strings.Join(addressPattern.FindAllString(page.html, -1), "\n")
	links := linksIn(html.UnescapeString(said))
	if len(links) == 0 {
		return nil, p.unclear(w, r, "page/file.no_address", "")
	}
	r.PostForm = url.Values{"u": links[:1]}
	return page, nil
}
