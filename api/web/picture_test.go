package web

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/vehicle"
)

func TestPicturesOfAnAnswerOnly(t *testing.T) {
	t.Parallel()
	pages, h := served(t, answering(t, func(e *vehicle.Estimate) {
		e.Car.Images = []string{"https://cars.example/1.jpg", "http://169.254.169.254/", "https://cars.example/none.jpg", "4", "5", "6", "7"}
	}))
	var asked []string
	pages.options.Picture = func(ctx context.Context, address string, admit func(context.Context) error) ([]byte, error) {
		asked = append(asked, address)
		if err := admit(ctx); err != nil {
			return nil, err
		}
		if address != "https://cars.example/1.jpg" {
			return nil, ErrNoPicture
		}
		return []byte("\xff\xd8\xff a picture"), nil
	}
	at := ask(t, h, "u=https://cars.example/1")
	image := strings.Replace(at, "/e/", "/img/", 1)
	ann := http.Header{"Cookie": {cookieOf(t, pages, "ann", 0)}}
	for path, want := range map[string]int{
		image + "/0": http.StatusOK, image + "/2": http.StatusNotFound, image + "/6": http.StatusNotFound,
		image + "/9": http.StatusNotFound, "/img/AAAAAAAAAAAAAAAAAAAAAAAAAA/0": http.StatusNotFound,
		image + "/0?url=http://169.254.169.254/": http.StatusOK, image + "/10": http.StatusNotFound, image + "/-1": http.StatusNotFound,
	} {
		w := get(h, path, ann.Clone())
		if w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
		if w.Code != http.StatusOK {
			continue
		}
		for header, value := range map[string]string{
			"Content-Type": "image/jpeg", "Cache-Control": "private, max-age=86400", "X-Robots-Tag": "noindex",
			"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
		} {
			if got := w.Header().Get(header); got != value {
				t.Errorf("%s: %s %q", path, header, got)
			}
		}
	}
	for _, address := range asked {
		if !strings.HasPrefix(address, "https://cars.example/") {
			t.Errorf("%s was asked for", address)
		}
	}
	if w := get(h, image+"/0", http.Header{}); w.Code != http.StatusTooManyRequests {
		t.Errorf("without a cookie: %d", w.Code)
	}
	for range picturesPerHour {
		get(h, image+"/0", ann.Clone())
	}
	if w := get(h, image+"/0", ann.Clone()); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" {
		t.Errorf("picture %d of an hour: %d %v", picturesPerHour+1, w.Code, w.Header())
	}
	ben := http.Header{"Cookie": {cookieOf(t, pages, "ben", time.Minute)}}
	if w := get(h, image+"/0", ben); w.Code != http.StatusOK {
		t.Errorf("another visitor: %d", w.Code)
	}
}

func TestPicturesAreShownWhenTheyAreAskedFor(t *testing.T) {
	t.Parallel()
	_, h := served(t, answering(t, func(e *vehicle.Estimate) {
		e.Car.Images = nil
		for n := range 9 {
			e.Car.Images = append(e.Car.Images, fmt.Sprintf(`https://cars.example/%d"><script>.jpg`, n))
		}
	}))
	at := ask(t, h, "u=https://cars.example/1")
	if body := get(h, at, nil).Body.String(); strings.Contains(body, "<img") || !strings.Contains(body, "Show pictures (6, about 200 KB)") {
		t.Errorf("before\n%s", body)
	}
	body := get(h, at+"?pictures=1", nil).Body.String()
	if strings.Count(body, "<img") != maxPictures || !strings.Contains(body, `src="/img`+at[len("/e"):]+`/5"`) ||
		!strings.Contains(body, `loading="lazy"`) || strings.Contains(body, "cars.example/0") {
		t.Errorf("after\n%s", body)
	}
}
