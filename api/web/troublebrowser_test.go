package web_test

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"ushuru/api"
	"ushuru/pkg/app"
	"ushuru/pkg/demo"
	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
)

// behind returns the address of a proxy in front of the demo, which answers for all scripts itself.
func behind(t *testing.T, service *demo.Demo, script http.HandlerFunc) *demo.Demo {
	t.Helper()
	at, err := url.Parse(service.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(at)
		r.Out.Host = r.In.Host
	}, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".js") {
			script(w, r)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	seen := *service
	seen.URL = server.URL
	return &seen
}

// TestThePagesWorkWhenScriptsFailToLoad: the browser runs scripts, but none arrives.
func TestThePagesWorkWhenScriptsFailToLoad(t *testing.T) {
	testenv.Long(t)
	for name, script := range map[string]http.HandlerFunc{
		"an error": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusInternalServerError) },
		"cut off":  func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"a page":   func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>Log in to the hotel") },
	} {
		t.Run(name, func(t *testing.T) {
			service, b := behind(t, start(t), script), open(t)
			b.view(360, "light")
			cars := carsWithSheets()
			first, second := service.Site+cars[0].Path(), service.Site+cars[1].Path()
			b.ask(service.URL+"/?lang=en", first)
			b.run(chromedp.WaitVisible("#number"))
			before := b.text(`document.getElementById("number").textContent`)
			b.run(chromedp.Click("#change > summary"), chromedp.SetValue("#price", "9,000"), chromedp.Click("#change button"))
			b.await(`location.search.includes("price=9000") && document.getElementById("number") && document.readyState === "complete"`)
			if now := b.text(`document.getElementById("number").textContent`); now == before {
				t.Errorf("got %s for another price, want another sum", now)
			}
			b.send(service.URL+"/c", "c", [2]string{"u1", first}, [2]string{"u2", second})
			b.run(chromedp.WaitVisible("table.two"))
			b.sendFile(service.URL, sheetFile(t, service))
			b.run(chromedp.WaitVisible("img.map"))
			b.run(chromedp.Navigate(service.URL+"/"), chromedp.SetUploadFiles("#file", []string{sheetFile(t, service)}),
				chromedp.Click(`form[enctype] button`))
			b.await(ended("s") + ` && document.querySelector("img.map")`)
			b.run(chromedp.Navigate(service.URL+"/?lang=en"), chromedp.SendKeys("#u", "toyota passo 2018\r"))
			b.await(`location.pathname === "/hand" && document.querySelector("form") && document.readyState === "complete"`)
			b.run(chromedp.Navigate(service.URL+"/lots"), chromedp.SendKeys("#key", service.Key), chromedp.Click("form.card button"))
			b.await(`document.getElementById("file") && document.readyState === "complete"`)
			b.lookAt(tableOfCars(t, service))
			b.run(chromedp.Click(`input[name=skip]`), chromedp.Click("form.card > button"))
			b.await(`document.querySelector("b.sum") && !document.querySelector("progress") && document.readyState === "complete"`)
		})
	}
}

// holding is a listing site that keeps back the pages of cars until it is released.
type holding struct {
	http.Handler

	released chan struct{}
	mu       sync.Mutex
	asked    int // pages of cars
}

func (h *holding) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == listingtest.Cars()[0].Path() {
		h.mu.Lock()
		h.asked++
		h.mu.Unlock()
		select {
		case <-h.released:
		case <-r.Context().Done():
		}
	}
	h.Handler.ServeHTTP(w, r)
}

// serveAPI runs an API without workers at an address, "" for any, until stop is called.
func serveAPI(t *testing.T, conn *redisx.Conn, at string) (address string, stop func()) {
	t.Helper()
	if at == "" {
		at = "127.0.0.1:0"
	}
	listener, err := app.Listen(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	process, err := app.New(app.Options{
		Redis: conn, Log: slog.New(slog.DiscardHandler), AllowLoopback: true, Simulated: true,
		API: &app.APIOptions{Listener: listener, Page: api.PageOptions{Enabled: true}},
	})
	if err == nil {
		err = process.Start(context.WithoutCancel(t.Context()))
	}
	if err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(process.Stop)
	t.Cleanup(stop)
	return listener.Addr().String(), stop
}

// TestAWaitSurvivesARestartOfTheAPI: the page comes back by itself, with the same job.
func TestAWaitSurvivesARestartOfTheAPI(t *testing.T) {
	testenv.Long(t)
	for name, scripts := range map[string]bool{"with scripts": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			conn, site := redistest.Embedded(t), &holding{Handler: listingtest.New(), released: make(chan struct{})}
			service, err := demo.Start(t.Context(), demo.Options{Redis: conn, Log: slog.New(slog.DiscardHandler), Pages: site})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(service.Stop)
			address, stop := serveAPI(t, conn, "")
			b := open(t)
			b.view(360, "light")
			b.run(emulation.SetScriptExecutionDisabled(!scripts), chromedp.Navigate("http://"+address+"/?lang=en"),
				chromedp.SendKeys("#u", service.Site+listingtest.Cars()[0].Path()), chromedp.Click("form button"), chromedp.WaitVisible("#steps"))
			page := b.text("location.pathname")
			stop()
			if scripts { // the page stays, and says that nobody answers
				b.await(`document.getElementById("why").textContent === document.getElementById("steps").dataset.moment`)
			}
			serveAPI(t, conn, address)
			close(site.released)
			b.await(`document.getElementById("number") && document.readyState === "complete"`)
			if now := b.text("location.pathname"); now != page || site.asked != 1 {
				t.Errorf("got the page %s and %d readings of the site, want %s and 1", now, site.asked, page)
			}
		})
	}
}

// TestAPhotoIsMadeSmallerBeforeItIsSent: upload.js sends at most 2,000 pixels of it, and what is no
// photo as it is.
func TestAPhotoIsMadeSmallerBeforeItIsSent(t *testing.T) {
	testenv.Long(t)
	var mu sync.Mutex
	var sent []byte
	service := start(t)
	at, err := url.Parse(service.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(at)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			if file, _, err := r.FormFile("file"); err == nil {
				mu.Lock()
				sent, _ = io.ReadAll(file)
				mu.Unlock()
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	photo := image.NewRGBA(image.Rect(0, 0, 3000, 1500))
	dice := rand.New(rand.NewPCG(1, 2)) // noise, which no coding makes small
	for i := range photo.Pix {
		photo.Pix[i] = byte(dice.Uint32())
	}
	photo.Set(0, 0, color.Black)
	var large bytes.Buffer
	if err := jpeg.Encode(&large, photo, nil); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := map[string][]byte{"photo.jpg": large.Bytes(), "note.jpg": []byte("no photo at all")}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := open(t)
	b.view(360, "light")
	send := func(page, file string) []byte {
		mu.Lock()
		sent = nil
		mu.Unlock()
		b.run(chromedp.Navigate(server.URL+page), chromedp.SetUploadFiles("#file", []string{filepath.Join(dir, file)}))
		b.await(`document.getElementById("file").form.onsubmit`)
		b.run(chromedp.Click("form[enctype] button"))
		b.await(`document.readyState === "complete" && (location.pathname.startsWith("/s/") || document.querySelector("[role=alert]"))`)
		mu.Lock()
		defer mu.Unlock()
		return sent
	}
	for _, page := range []string{"/", "/s"} {
		got := send(page, "photo.jpg")
		size, format, err := image.DecodeConfig(bytes.NewReader(got))
		if err != nil || format != "jpeg" || size.Width != 2000 || size.Height != 1000 || len(got) >= large.Len() {
			t.Errorf("%s: got %d bytes of %s, %d × %d, %v; want a JPEG of 2000 × 1000 in less than %d", page, len(got), format, size.Width, size.Height, err, large.Len())
		}
		if got := send(page, "note.jpg"); !bytes.Equal(got, files["note.jpg"]) {
			t.Errorf("%s: got %.40q, want the file as it is", page, got)
		}
	}
}
