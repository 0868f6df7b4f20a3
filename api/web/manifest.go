package web

import (
	_ "embed"
	"net/http"
	"strings"

	"ushuru/api/web/frame"
)

//go:embed manifest.json
var manifestText string

// manifestOf returns what a phone needs to offer these pages where it shares links.
func manifestOf(files *frame.Files) ([]byte, error) {
	text := manifestText
	for _, icon := range []string{"icon192.png", "icon512.png"} {
		address, err := files.Address(icon)
		if err != nil {
			return nil, err
		}
		text = strings.Replace(text, icon, address, 1)
	}
	return []byte(text), nil
}

// serveManifest responds with the manifest.
func (p *Pages) serveManifest(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "public, max-age=3600")
	frame.SendPacked(w, r, http.StatusOK, "application/manifest+json", p.manifest)
}
