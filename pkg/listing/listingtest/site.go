// Package listingtest is the demo listing site: a simulated site of a few
// made-up cars, for tests and for the demo. Its pages have the structure of an
// exporter's detail page and of a plain dealer's page with schema.org data; all
// text and pictures are our own, and every page and answer says SIMULATED. Some
// cars have an inspection sheet.
//
// Doubts are cars whose pages can be misread: a year that is not taxed, another car's
// price, a hybrid under the code of the petrol car, no year. Besides the cars it has pages that go wrong on purpose:
//
//	/list              a list of all cars (also /)
//	/blocked           a challenge, status 202
//	/gone              status 410
//	/sold              a sold car that is no longer described
//	/huge              a compressed bomb of 256 MB
//	/slow              begins and never ends
//	/redirect-private  redirects to a private address
//	/flaky             the first car; every other request fails with 503
package listingtest

import (
	"compress/gzip"
	"embed"
	_ "embed"
	"encoding/json"
	"html/template"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
)

// Header is the header that every answer carries, and Banner its value.
const (
	Header = "X-Simulated"
	Banner = "SIMULATED listing site"
)

//go:embed templates
var templateFiles embed.FS

var templates = template.Must(template.ParseFS(templateFiles, "templates/*.html"))

// view is what a template shows.
type view struct {
	Car
	Cars   []Car
	Banner string
	Base   string // scheme and host
	Schema map[string]any
}

// New returns the site. Each site counts its own requests to /flaky.
func New() http.Handler { return Of(cars) }

// Of returns a site that shows other cars, as many as one likes. Their paths
// must differ.
func Of(cars []Car) http.Handler {
	mux := http.NewServeMux()
	list := func(w http.ResponseWriter, r *http.Request) { list(w, r, cars) }
	mux.HandleFunc("GET /{$}", list)
	mux.HandleFunc("GET /list", list)
	mux.HandleFunc("GET /stocklist/", list)
	mux.HandleFunc("GET /images/{name}", picture)
	mux.Handle("GET /sheets/", http.FileServerFS(sheetFiles))
	for _, car := range cars {
		mux.HandleFunc("GET "+exactly(car.Path()), func(w http.ResponseWriter, r *http.Request) { show(w, r, car) })
	}
	addDoubts(mux)
	addFaults(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(Header, Banner)
		mux.ServeHTTP(w, r)
	})
}

func exactly(path string) string {
	if strings.HasSuffix(path, "/") {
		return path + "{$}"
	}
	return path
}

func list(w http.ResponseWriter, r *http.Request, cars []Car) {
	render(w, "list.html", view{Cars: cars, Banner: Banner, Base: base(r)})
}

func show(w http.ResponseWriter, r *http.Request, car Car) {
	render(w, car.Page+".html", view{Car: car, Banner: Banner, Base: base(r), Schema: schema(car, base(r))})
}

func render(w http.ResponseWriter, name string, v any) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if err := templates.ExecuteTemplate(w, name, v); err != nil {
		panic(http.ErrAbortHandler)
	}
}

func base(r *http.Request) string {
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// schema is the car's JSON-LD. An exporter's is poor (no model, engine or fuel,
// and not all pictures), a dealer's rich.
func schema(c Car, base string) map[string]any {
	data := map[string]any{
		"@context": "https://schema.org",
		"@type":    []string{"Product", "Car"},
		"name":     strings.ToUpper(c.Make + " " + c.Model),
		"sku":      c.Ref,
		"url":      base + c.Path(),
		"brand":    map[string]any{"@type": "Brand", "name": c.Make},
		"image":    base + c.Pictures()[0],
		"offers": map[string]any{
			"@type": "Offer", "price": strconv.Itoa(c.Price), "priceCurrency": "USD",
			"availability": "https://schema.org/InStock",
		},
	}
	if c.Page == "dealer" {
		data["model"] = c.Model
		data["vehicleConfiguration"] = c.Version
		data["dateVehicleFirstRegistered"] = strings.Replace(c.Registration, "/", "-", 1)
		data["fuelType"] = c.Fuel
		data["bodyType"] = c.Body
		data["mileageFromOdometer"] = map[string]any{"@type": "QuantitativeValue", "value": c.Mileage, "unitCode": "KMT"}
		data["vehicleEngine"] = map[string]any{"@type": "EngineSpecification", "engineDisplacement": map[string]any{
			"@type": "QuantitativeValue", "unitCode": "CMQ", "value": strings.TrimSuffix(c.Engine, "cc"),
		}}
	}
	return data
}

// hugeBytes is what /huge unpacks to.
const hugeBytes = 256 << 20

// addFaults adds the pages that go wrong on purpose.
func addFaults(mux *http.ServeMux) {
	mux.HandleFunc("GET /blocked", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusAccepted)
		render(w, "blocked.html", view{Banner: Banner})
	})
	mux.HandleFunc("GET /gone", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "SIMULATED: this listing has been removed.", http.StatusGone)
	})
	mux.HandleFunc("GET /sold", func(w http.ResponseWriter, _ *http.Request) {
		render(w, "sold.html", view{Banner: Banner})
	})
	mux.HandleFunc("GET /huge", huge)
	mux.HandleFunc("GET /slow", slow)
	mux.Handle("GET /redirect-private", http.RedirectHandler("http://10.0.0.1/", http.StatusFound))
	var asked atomic.Int64
	mux.HandleFunc("GET /flaky", func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1)%2 == 1 {
			w.Header().Set("Retry-After", "1")
			http.Error(w, "SIMULATED: busy, try again.", http.StatusServiceUnavailable)
			return
		}
		show(w, r, cars[0])
	})
}

// huge sends a few hundred kilobytes that unpack to hugeBytes, whether or not
// the caller said that it can unpack.
func huge(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Encoding", "gzip")
	packed, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
	line := strings.Repeat("<p>SIMULATED</p>\n", 4096)
	for sent := 0; sent < hugeBytes; sent += len(line) {
		if _, err := io.WriteString(packed, line); err != nil {
			return // the reader had enough
		}
	}
	_ = packed.Close()
}

// slow sends the beginning of a page and then nothing until the reader leaves.
func slow(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(w, "<!DOCTYPE html><title>SIMULATED slow page</title>")
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

// Doubt is a made-up car whose page a reader can misread.
type Doubt struct {
	Car

	Rows      [][2]string `json:"rows"`      // labels and values of its table
	Neighbour bool        `json:"neighbour"` // the page shows the price of another car, and none of its own
	Known     string      `json:"known"`     // what the seller said, as the field of a request; "" when nothing is needed
}

//go:embed doubts.json
var doubtData []byte

// Doubts returns the cars whose pages a reader can misread. They are not among Cars.
func Doubts() (list []Doubt) {
	if err := json.Unmarshal(doubtData, &list); err != nil {
		panic("listingtest: doubts.json: " + err.Error())
	}
	return list
}

// addDoubts serves the pages of Doubts.
func addDoubts(mux *http.ServeMux) {
	for _, doubt := range Doubts() {
		mux.HandleFunc("GET "+exactly(doubt.Path()), func(w http.ResponseWriter, _ *http.Request) {
			render(w, "doubt.html", struct {
				Doubt
				Banner string
			}{doubt, Banner})
		})
	}
}
