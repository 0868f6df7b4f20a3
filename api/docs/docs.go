// Package docs serves the pages for programmers: a quickstart, and the description of the
// API with a form to try every operation. The programs of the quickstart are run by the
// tests, and its table of errors is made from the description and the table of texts.
package docs

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"github.com/gorilla/mux"
	"github.com/swaggest/swgui/v5/static"

	"ushuru/api/web/frame"
	"ushuru/pkg/datatable"
	"ushuru/pkg/message"
)

// Options are the parts and settings of Pages. Frame is required.
type Options struct {
	Frame *frame.Frame // of the pages for buyers, whose style these share

	// Key is an API key that everybody may know, and Listing a page of a car that can be
	// estimated. Only a service with simulated figures has them.
	Key, Listing string
}

// Pages are the pages of one process.
type Pages struct {
	options    Options
	files      *frame.Files
	quick, try *template.Template
	texts      map[string]string // of the programs

	mu    sync.Mutex
	shown map[string][]byte // quickstart by the address of the service, one at most
}

//go:embed assets snippets templates
var embedded embed.FS

// filePath is where the files of these pages are.
const filePath = "/docs/files/"

// New reads the embedded files.
func New(o Options) (*Pages, error) {
	if o.Frame == nil {
		return nil, errors.New("docs: options without Frame")
	}
	if (o.Key != "" || o.Listing != "") && !o.Frame.Simulated() {
		return nil, errors.New("docs: a key for everybody, and the figures are real")
	}
	p := &Pages{options: o, shown: map[string][]byte{}}
	var err error
	if p.texts, err = readPrograms(); err != nil {
		return nil, err
	}
	own, err := frame.ReadFiles(filePath, embedded, "assets/docs.css", "assets/try.css", "assets/try.js")
	if err != nil {
		return nil, fmt.Errorf("docs: %w", err)
	}
	swagger, err := frame.ReadFiles(filePath, static.FS, "swagger-ui-bundle.js.gz", "swagger-ui.css.gz")
	if err != nil {
		return nil, fmt.Errorf("docs: %w", err)
	}
	p.files = own.With(swagger)
	functions := template.FuncMap{
		"asset": func(name string) (string, error) {
			if address, err := p.files.Address(name); err == nil {
				return address, nil
			}
			return o.Frame.Assets().Address(name)
		},
		"simulated": func() string { return message.Say("page/layout.simulated", nil).EN },
	}
	for name, page := range map[string]**template.Template{"quickstart.html": &p.quick, "try.html": &p.try} {
		if *page, err = template.New(name).Funcs(functions).ParseFS(embedded, "templates/"+name); err != nil {
			return nil, fmt.Errorf("docs: %w", err)
		}
	}
	return p, nil
}

// Register adds the addresses of the pages to a router.
func (p *Pages) Register(router *mux.Router) {
	methods := []string{http.MethodGet, http.MethodHead}
	around := frame.Around{
		Policy: policy, Cache: "private, no-cache", Vary: "Accept-Encoding, Host", Listed: true,
		Fail: func(w http.ResponseWriter, _ *http.Request, _ error) {
			http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		},
	}
	router.Handle("/docs", around.Page(p.quickstart)).Methods(methods...)
	router.Handle("/docs/", http.RedirectHandler("/docs", http.StatusPermanentRedirect)).Methods(methods...)
	router.Handle("/docs/api", http.RedirectHandler("/docs/api/", http.StatusPermanentRedirect)).Methods(methods...)
	router.Handle("/docs/api/", around.Page(p.tryIt)).Methods(methods...)
	router.PathPrefix(filePath).Handler(p.files).Methods(methods...)
}

// policy lets a page run and load only what this server serves, and nothing inline. The
// description of the API has pictures that stand in its style.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// quickstart responds with the page that begins with a first request.
func (p *Pages) quickstart(w http.ResponseWriter, r *http.Request) error {
	body, err := p.quickstartFor(p.baseURL(r))
	if err == nil {
		frame.Send(w, http.StatusOK, "text/html; charset=utf-8", body)
	}
	return err
}

// quickstartFor returns the quickstart with the address of the service in its programs.
// The page is kept for the next reader of the same address.
func (p *Pages) quickstartFor(base string) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if body, is := p.shown[base]; is {
		return body, nil
	}
	var body bytes.Buffer
	err := p.quick.Execute(&body, map[string]any{
		"Simulated": p.options.Frame.Simulated(), "Key": p.options.Key,
		"Answer": strings.TrimSpace(answer), "Errors": errorRows(),
		"First": p.programs(base, "estimate", "curl", "js", "py", "go", "php"), "Batch": p.programs(base, "batch", "curl")[0],
		"Verify": p.programs(base, "verify", "js", "py", "go", "php"),
	})
	if err != nil {
		return nil, fmt.Errorf("docs: %w", err)
	}
	p.shown = map[string][]byte{base: body.Bytes()}
	return body.Bytes(), nil
}

// What the quickstart shows of the description of the API: the most important part of an estimate,
// and the errors that a caller can get.
var (
	//go:embed answer.json
	answer string
	//go:embed errors.csv
	errorsFile string
)

// errorRow is an error that a caller can get.
type errorRow struct {
	Code, Text, Statuses string
	Again                bool // the same request can succeed later
}

// errorRows returns the errors, with the values of their texts in braces.
func errorRows() (rows []errorRow) {
	for _, row := range datatable.Rows(errorsFile) {
		values := message.Values{}
		names, _ := message.ValueNames(row[0])
		for _, name := range names {
			values[name] = "{" + name + "}"
		}
		rows = append(rows, errorRow{
			message.CodeOf(row[0]), message.Say(row[0], values).EN, strings.ReplaceAll(row[1], " ", ", "), row[2] == "true",
		})
	}
	return rows
}

// tryIt responds with the description of the API.
func (p *Pages) tryIt(w http.ResponseWriter, _ *http.Request) error {
	var body bytes.Buffer
	err := p.try.Execute(&body, map[string]any{
		"Simulated": p.options.Frame.Simulated(), "Key": p.options.Key, "Listing": p.options.Listing,
		"Documented": documentedListing,
	})
	if err == nil {
		frame.Send(w, http.StatusOK, "text/html; charset=utf-8", body.Bytes())
	}
	return err
}

// What the programs say for the service and for a page of a car, to be replaced by those
// of the reader.
const (
	documentedBase    = "http://127.0.0.1:8080"
	documentedListing = "https://www.beforward.jp/toyota/corolla-fielder/cb123456/id/1234567/"
)

// program is a text that readers copy and run.
type program struct{ ID, Name, Text string }

// languages are the names of the languages by the ends of the files' names.
var languages = map[string]string{"curl": "curl", "js": "JavaScript", "py": "Python", "go": "Go", "php": "PHP"}

// readPrograms returns the texts of all programs by their ids.
func readPrograms() (map[string]string, error) {
	entries, err := embedded.ReadDir("snippets")
	if err != nil {
		return nil, fmt.Errorf("docs: %w", err)
	}
	texts := map[string]string{}
	for _, entry := range entries {
		text, err := embedded.ReadFile("snippets/" + entry.Name())
		if err != nil {
			return nil, fmt.Errorf("docs: %w", err)
		}
		texts[strings.TrimSuffix(entry.Name(), ".txt")] = string(text)
	}
	return texts, nil
}

// programs returns the programs that do one thing in some languages, for the service at
// an address.
func (p *Pages) programs(base, what string, in ...string) []program {
	fill := strings.NewReplacer(documentedBase, base, documentedListing, cmp.Or(p.options.Listing, documentedListing))
	list := make([]program, len(in))
	for i, language := range in {
		id := what + "." + language
		list[i] = program{id, languages[language], fill.Replace(p.texts[id])}
	}
	return list
}

// plainBase matches the addresses that can stand in a program as they are.
var plainBase = regexp.MustCompile(`^https?://([\p{L}\p{M}\d._\-]+|\[[0-9a-f:]+\])(:\d+)?$`)

// baseURL returns the public address of the service.
func (p *Pages) baseURL(r *http.Request) string {
	if base := p.options.Frame.BaseURL(r); plainBase.MatchString(base) {
		return base
	}
	return documentedBase
}
