package web

import (
	"fmt"
	"net/http"

	"ushuru/api/web/frame"
)

// manifestOf returns what a phone needs to offer these pages where it shares links.
func manifestOf(files *frame.Files) ([]byte, error) {
	small, err := files.Address("icon192.png")
	if err != nil {
		return nil, err
	}
	large, err := files.Address("icon512.png")
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, `{"id":"/","name":"Ushuru","short_name":"Ushuru",`+
		`"description":"What a car costs on the road in Tanzania",`+
		`"lang":"en","start_url":"/","scope":"/","display":"minimal-ui","categories":["shopping"],`+
		`"background_color":"#ffffff","theme_color":"#0b5d3b",`+
		`"icons":[{"src":"%s","type":"image/png","sizes":"192x192","purpose":"any"},`+
		`{"src":"%s","type":"image/png","sizes":"512x512","purpose":"any"}],`+
		`"share_target":{"action":"/","method":"GET","enctype":"application/x-www-form-urlencoded",`+
		`"params":{"title":"title","text":"text","url":"u"}}}`, small, large), nil
}

// serveManifest responds with the manifest.
func (p *Pages) serveManifest(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "public, max-age=3600")
	frame.SendPacked(w, r, http.StatusOK, "application/manifest+json", p.manifest)
}
