package api

import (
	_ "embed"
	"net/http"
	"sync"

	"github.com/oasdiff/yaml"

	"ushuru/api/request"
)

//go:embed openapi.yaml
var openAPIYAML []byte

// openAPIJSON is the description of the API as JSON.
var openAPIJSON = sync.OnceValues(func() ([]byte, error) { return yaml.YAMLToJSON(openAPIYAML) })

// documents are the descriptions of the API, compressed.
var documents = sync.OnceValues(func() (of [2]*request.Document, err error) {
	data, err := openAPIJSON()
	if err == nil {
		of[0], err = request.NewDocument("application/json", data)
	}
	if err == nil {
		of[1], err = request.NewDocument("application/yaml", openAPIYAML)
	}
	return of, err
})

// serveJSON answers GET /openapi.json.
func serveJSON(w http.ResponseWriter, r *http.Request) error { return serveDocument(w, r, 0) }

// serveYAML answers GET /openapi.yaml.
func serveYAML(w http.ResponseWriter, r *http.Request) error { return serveDocument(w, r, 1) }

func serveDocument(w http.ResponseWriter, r *http.Request, which int) error {
	of, err := documents()
	if err == nil {
		of[which].Write(w, r)
	}
	return err
}
