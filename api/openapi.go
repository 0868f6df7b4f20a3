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

// serveDocument answers GET /openapi.json (0) and GET /openapi.yaml (1).
func serveDocument(which int) request.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		of, err := documents()
		if err == nil {
			of[which].Write(w, r)
		}
		return err
	}
}
