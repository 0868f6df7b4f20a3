package api

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"net/http"
	"time"
)

//go:embed openapi.yaml
var openAPIDoc []byte

// openAPIDocTag is the ETag of openAPIDoc.
var openAPIDocTag = func() string {
	sum := sha256.Sum256(openAPIDoc)
	return `"` + hex.EncodeToString(sum[:8]) + `"`
}()

// openapi answers GET /openapi.yaml.
func (s *Server) openapi(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Content-Type", "application/yaml")
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("ETag", openAPIDocTag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(openAPIDoc))
	return nil
}
