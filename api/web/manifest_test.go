package web

import (
	"bytes"
	"encoding/json"
	"image/png"
	"net/http"
	"strings"
	"testing"
)

func TestAPhoneCanShareLinksWithThePage(t *testing.T) {
	t.Parallel()
	_, h := served(t, refusing(http.StatusNotFound, `{}`))
	w := get(h, "/manifest.webmanifest", nil)
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/manifest+json" {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	var manifest struct {
		Name      string `json:"name"`
		Display   string `json:"display"`
		Scope     string `json:"scope"`
		ShortName string `json:"short_name"`
		StartURL  string `json:"start_url"`
		Icons     []struct {
			Src   string `json:"src"`
			Sizes string `json:"sizes"`
			Type  string `json:"type"`
		} `json:"icons"`
		ShareTarget struct {
			Action string            `json:"action"`
			Method string            `json:"method"`
			Params map[string]string `json:"params"`
		} `json:"share_target"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &manifest); err != nil {
		t.Fatal(err)
	}
	if manifest.Name == "" || manifest.ShortName == "" || manifest.StartURL != "/" || manifest.Scope != "/" || manifest.Display == "" {
		t.Errorf("%+v", manifest)
	}
	sizes := map[string]int{"192x192": 192, "512x512": 512}
	for _, icon := range manifest.Icons {
		w := get(h, icon.Src, nil)
		picture, err := png.DecodeConfig(bytes.NewReader(w.Body.Bytes()))
		if err != nil || picture.Width != sizes[icon.Sizes] || picture.Height != picture.Width || icon.Type != w.Header().Get("Content-Type") {
			t.Errorf("%+v: %d, %d × %d, %v", icon, w.Code, picture.Width, picture.Height, err)
		}
		delete(sizes, icon.Sizes)
	}
	if len(sizes) > 0 {
		t.Errorf("no icons of the sizes %v", sizes)
	}

	// Android puts the link into the text, other systems into the address.
	share := manifest.ShareTarget
	if share.Method != http.MethodGet || share.Params["title"] != "title" {
		t.Errorf("%+v", share)
	}
	for _, field := range []string{"text", "url"} {
		query := share.Action + "?title=A+car&" + share.Params[field] + "=Look:+https%3A%2F%2Fcars.example%2F1"
		if body := get(h, query, nil).Body.String(); !strings.Contains(body, `value="https://cars.example/1"`) {
			t.Errorf("%s does not fill the form", query)
		}
	}
}
