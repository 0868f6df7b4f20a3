package web

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"html"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/api/web/frame"
	"ushuru/pkg/bill"
	"ushuru/pkg/pace"
)

// Bounds of a page that a visitor's browser sends.
const (
	maxPage = 4 << 20 // bytes
	// uploadTime is for its arrival.
	uploadTime = 2 * time.Minute
	// maxUploads is how many pages arrive at once. One network never has all places.
	maxUploads = 8
	placeTime  = 15 * time.Second
)

var (
	errPageTooLarge = problem.New(http.StatusRequestEntityTooLarge, "page_too_large", nil)
	errFileTooLarge = problem.New(http.StatusRequestEntityTooLarge, "sheet_too_large", nil)
)

// errBusy is the response while too many visitors send pages.
var errBusy = frame.ErrBusy(placeTime)

// upload is the page of a car as a visitor's browser showed it, or a file that has not been examined
// yet. It is passed to the job that reads it and stored nowhere else.
type upload struct {
	html string
	file []byte
	// sender is who sent it: the work on the page and its result are for this request alone. Equal
	// pages of two visitors are two pages.
	sender string
}

// readForm reads a form that may have the page of a car as its last field, from the
// extension, or a file. release must be called when the page is no longer needed.
func (p *Pages) readForm(w http.ResponseWriter, r *http.Request) (page *upload, release func(), err error) {
	if !isMultipart(r) {
		return nil, func() {}, frame.ParseForm(w, r)
	}
	if release, err = p.place(r); err != nil {
		return nil, func() {}, err
	}
	body := r.Body
	if page, err = readUpload(w, r); err != nil {
		r.Body = body
		drop(w, r)
	}
	return page, release, err
}

// isMultipart reports whether a form may have a file.
func isMultipart(r *http.Request) bool {
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && mediaType == "multipart/form-data"
}

// place waits for a place for a large body, which release gives back.
func (p *Pages) place(r *http.Request) (release func(), err error) {
	ctx, cancel := context.WithTimeout(r.Context(), placeTime)
	defer cancel()
	release, err = p.uploads.Take(ctx, pace.Caller(pace.Anonymous, request.From(r).Network))
	if err != nil {
		return nil, errBusy.WithCause(err)
	}
	return release, nil
}

// readUpload reads the fields, and the page or file; nil when there is none.
func readUpload(w http.ResponseWriter, r *http.Request) (sent *upload, err error) {
	frame.Bound(w, r, uploadTime, maxSheet+frame.MaxForm)
	r.PostForm = url.Values{}
	tooLarge := errPageTooLarge
	err = request.EachPart(r, func(part *multipart.Part) (err error) {
		var data []byte
		switch part.FormName() {
		case "page":
			if data, err = request.UpTo(part, maxPage, -1); err == nil {
				sent, err = pageOf(data)
			}
		case "file":
			tooLarge = errFileTooLarge
			if data, err = request.UpTo(part, maxSheet, r.ContentLength); len(data) > maxSheet {
				err = tooLarge
			}
			sent = &upload{file: data}
		default:
			data, err = io.ReadAll(io.LimitReader(part, frame.MaxForm))
			r.PostForm.Add(part.FormName(), string(data))
		}
		return err
	})
	if err != nil {
		return nil, request.BodyProblem(err, tooLarge, frame.ErrForm)
	}
	return sent, nil
}

// pageOf returns the page of a car that was sent.
func pageOf(html []byte) (*upload, error) {
	if len(html) > maxPage {
		return nil, errPageTooLarge
	}
	return &upload{html: strings.ToValidUTF8(string(html), "\uFFFD"), sender: rand.Text()}, nil
}

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

// addressPattern is where a saved page says where it is from.
var addressPattern = regexp.MustCompile(
	`(?i)<!-- saved from url=[^>]*>|<link\b[^>]*\bcanonical\b[^>]*>|<meta\b[^>]*\bog:url\b[^>]*>`)

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
