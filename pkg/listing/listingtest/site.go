package listingtest

import (
	"embed"
	"html/template"
	"net/http"
	"strconv"
	"strings"
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
