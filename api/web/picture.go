package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/mux"

	"ushuru/api/problem"
	"ushuru/api/web/frame"
	"ushuru/api/web/visitor"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

const (
	// maxPictures is how many pictures a page shows of a car.
	maxPictures = 6

	// Pictures that are fetched in an hour, for a visitor and for a network. Cached ones
	// count against neither.
	picturesPerHour        = 120
	picturesPerNetworkHour = 1200
)

// Picture returns a picture of a car as a small JPEG. It calls admit before it has the
// picture fetched; cached ones are free. It returns ErrNoPicture for an address that has
// none.
type Picture func(ctx context.Context, address string, admit func(context.Context) error) ([]byte, error)

// ErrNoPicture means that there is no picture that can be shown at an address.
var ErrNoPicture = errors.New("web: no picture")

// errPictures is the response to a visitor who has had many pictures fetched.
var errPictures = problem.Because(http.StatusTooManyRequests, message.New("page/busy", nil), nil)

// image serves the pictures of the car that an answer shows, and no other address. The
// visitor's browser never asks the site.
func (p *Pages) image() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
		h.Set("Cache-Control", "no-store")
		h.Set("X-Robots-Tag", "noindex")
		data, err := p.picture(r)
		if err != nil {
			p.failPicture(w, r, err)
			return
		}
		h.Set("Cache-Control", "private, max-age=86400")
		h.Set("Content-Type", "image/jpeg")
		h.Set("Content-Disposition", `inline; filename="car.jpg"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	})
}

// failPicture responds with why there is no picture. The page shows the words that stand in
// its place.
func (p *Pages) failPicture(w http.ResponseWriter, r *http.Request, err error) {
	status := http.StatusInternalServerError
	var why *problem.Problem
	switch {
	case errors.Is(err, ErrNoPicture):
		status = http.StatusNotFound
	case errors.As(err, &why):
		status = why.Status
		why.SetHeader(w.Header())
	case r.Context().Err() == nil:
		p.options.Log.ErrorContext(r.Context(), "a picture failed", "path", LoggedPath(r.URL.Path), "error", err)
	}
	http.Error(w, http.StatusText(status), status)
}

// picture returns the picture that a request asks for.
func (p *Pages) picture(r *http.Request) ([]byte, error) {
	n, err := strconv.Atoi(mux.Vars(r)["n"])
	if err != nil {
		return nil, ErrNoPicture
	}
	found, err := p.links.find(r.Context(), mux.Vars(r)["token"])
	if err != nil {
		return nil, err
	}
	addresses, err := picturesOf(found)
	if err != nil {
		return nil, err
	}
	if n >= len(addresses) {
		return nil, ErrNoPicture
	}
	return p.options.Picture(r.Context(), addresses[n], p.admitPicture(r))
}

// picturesOf returns the addresses of the pictures that a link shows: those of the car, or
// the one of the sheet.
func picturesOf(found *link) ([]string, error) {
	if found.Shown == nil || found.Shown.Result == nil {
		return nil, nil
	}
	if kindOf(found.Path, found.Body) == kindSheet {
		asked, err := formOf(found.Path, found.Body)
		if err != nil || !isPicture(asked.URL) {
			return nil, err
		}
		return []string{asked.URL}, nil
	}
	var estimate vehicle.Estimate
	if err := json.Unmarshal(found.Shown.Result, &estimate); err != nil {
		return nil, fmt.Errorf("web: estimate: %w", err)
	}
	return estimate.Car.Images[:min(len(estimate.Car.Images), maxPictures)], nil
}

// isPicture reports whether a sheet may be a picture: it has a link, and is no PDF. A file
// that was sent is not kept, and has no link.
func isPicture(link string) bool {
	at, err := url.Parse(link)
	return err == nil && frame.Followable(link) != "" && !strings.EqualFold(path.Ext(at.Path), ".pdf")
}

// pictures are those of the car, on its page. They are loaded when the visitor asks for
// them.
type pictures struct {
	Count int
	KB    int // of all of them, about
	Shown []shownPicture
}

// shownPicture is a picture on the page.
type shownPicture struct {
	Address string
	Number  int // from 1
}

// pictureKB is what a small picture usually has.
const pictureKB = 34

// picturesFor returns the pictures for a request of an answer's page.
func picturesFor(r *http.Request, token string, car vehicle.Car) pictures {
	const step = 10 // a round number of kilobytes
	count := min(len(car.Images), maxPictures)
	view := pictures{Count: count, KB: count * pictureKB / step * step}
	if r.URL.Query().Get("pictures") == "" {
		return view
	}
	for n := range count {
		view.Shown = append(view.Shown, shownPicture{fmt.Sprintf("/img/%s/%d", token, n), n + 1})
	}
	return view
}

// admitPicture returns what is called before a picture is fetched for a request.
func (p *Pages) admitPicture(r *http.Request) func(context.Context) error {
	return func(ctx context.Context) error {
		secret, err := p.visitors.Secret(ctx)
		if err != nil {
			return err
		}
		network := visitor.Hourly("picnet", visitor.NetworkOf(p.options.Address(r)), picturesPerNetworkHour)
		if err := p.visitors.Within(ctx, errPictures, network); err != nil {
			return err
		}
		id, _, known := visitor.Of(r, secret)
		if !known { // no page of ours was opened before
			return errPictures.After(visitor.Youngest)
		}
		return p.visitors.Within(ctx, errPictures, visitor.Hourly("pic", id, picturesPerHour))
	}
}
