package api

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"net/http"
	"sync"
	"time"

	"github.com/oasdiff/yaml"

	"ushuru/api/request"
)

//go:embed openapi.yaml
var openAPIDoc []byte

// document is a file that every process serves as it is.
type document struct {
	mediaType, tag string
	data           []byte
}

func newDocument(mediaType string, data []byte) document {
	sum := sha256.Sum256(data)
	return document{mediaType, `W/"` + hex.EncodeToString(sum[:8]) + `"`, data}
}

// openAPIYAML and openAPIJSON are the description of the API in both formats.
var (
	openAPIYAML = sync.OnceValues(func() (document, error) {
		return newDocument("application/yaml", openAPIDoc), nil
	})
	openAPIJSON = sync.OnceValues(func() (document, error) {
		data, err := yaml.YAMLToJSON(openAPIDoc)
		return newDocument("application/json", data), err
	})
)

// contractJSON returns the description of the API as JSON.
func contractJSON() ([]byte, error) {
	doc, err := openAPIJSON()
	return doc.data, err
}

// serveDocument is the handler of a document.
func serveDocument(load func() (document, error)) request.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		doc, err := load()
		if err != nil {
			return err
		}
		w.Header().Set("Content-Type", doc.mediaType)
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("ETag", doc.tag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(doc.data))
		return nil
	}
}
