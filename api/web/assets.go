package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/gorilla/mux"
)

//go:embed assets
var assetFiles embed.FS

// asset is a file that browsers keep forever, because its name changes with its content.
type asset struct {
	data, packed []byte
	mediaType    string
}

// assets are the files by the names in their addresses.
type assets struct {
	files map[string]asset
	names map[string]string // in addresses, by the names of the files
}

// readAssets reads the embedded files.
func readAssets() (assets, error) {
	a := assets{map[string]asset{}, map[string]string{}}
	entries, err := assetFiles.ReadDir("assets")
	if err != nil {
		return a, fmt.Errorf("web: assets: %w", err)
	}
	for _, entry := range entries {
		data, err := assetFiles.ReadFile("assets/" + entry.Name())
		if err != nil {
			return a, fmt.Errorf("web: assets: %w", err)
		}
		sum := sha256.Sum256(data)
		ext := path.Ext(entry.Name())
		name := strings.TrimSuffix(entry.Name(), ext) + "." + hex.EncodeToString(sum[:6]) + ext
		a.names[entry.Name()] = name
		a.files[name] = asset{data, compress(data), mime.TypeByExtension(ext)}
	}
	return a, nil
}

// address returns the address of a file.
func (a assets) address(name string) (string, error) {
	hashed, ok := a.names[name]
	if !ok {
		return "", fmt.Errorf("web: no asset %q", name)
	}
	return "/static/" + hashed, nil
}

// serve responds with a file.
func (a assets) serve(w http.ResponseWriter, r *http.Request) {
	file, ok := a.files[mux.Vars(r)["name"]]
	if !ok {
		http.Error(w, http.StatusText(http.StatusNotFound), http.StatusNotFound)
		return
	}
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Set("Vary", "Accept-Encoding")
	if file.mediaType != "image/svg+xml" { // which a browser can show as a page of its own
		w.Header().Del("Content-Security-Policy")
		w.Header().Del("Referrer-Policy")
	}
	send(w, r, http.StatusOK, file.mediaType, file.data, file.packed)
}

// manifest responds with what a phone needs to offer this page where it shares links.
func (a assets) manifest(w http.ResponseWriter, r *http.Request) {
	body := fmt.Appendf(nil, `{"name":"Ushuru","short_name":"Ushuru","start_url":"/","display":"minimal-ui",`+
		`"background_color":"#ffffff","theme_color":"#0b5d3b",`+
		`"icons":[{"src":"/static/%s","type":"image/png","sizes":"192x192"},`+
		`{"src":"/static/%s","type":"image/png","sizes":"512x512"}],`+
		`"share_target":{"action":"/","method":"GET","enctype":"application/x-www-form-urlencoded",`+
		`"params":{"title":"title","text":"text","url":"u"}}}`,
		a.names["icon192.png"], a.names["icon512.png"])
	w.Header().Set("Cache-Control", "public, max-age=3600")
	send(w, r, http.StatusOK, "application/manifest+json", body, nil)
}

// send responds with a body, compressed when the browser can read it. packed is nil when
// the body has not been compressed yet.
func send(w http.ResponseWriter, r *http.Request, status int, mediaType string, body, packed []byte) {
	h := w.Header()
	h.Set("Content-Type", mediaType)
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		if packed == nil {
			packed = compress(body)
		}
		h.Set("Content-Encoding", "gzip")
		body = packed
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the visitor may have left
	}
}

// compress returns data in the format gzip.
func compress(data []byte) []byte {
	var packed bytes.Buffer
	writer, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level exists
	_, _ = writer.Write(data)
	_ = writer.Close() // nothing fails in memory
	return packed.Bytes()
}
