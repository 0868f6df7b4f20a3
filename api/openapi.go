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

// serveYAML answers GET /openapi.yaml.
func serveYAML(w http.ResponseWriter, r *http.Request) error {
	request.WriteTagged(w, r, "application/yaml", "no-cache", openAPIYAML)
	return nil
}

// serveJSON answers GET /openapi.json.
func serveJSON(w http.ResponseWriter, r *http.Request) error {
	data, err := openAPIJSON()
	if err == nil {
		request.WriteTagged(w, r, "application/json", "no-cache", data)
	}
	return err
}
