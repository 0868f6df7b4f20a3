package web

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestAFileIsWhatItsBytesAre: its name, sheet.jpg here, decides nothing.
func TestAFileIsWhatItsBytesAre(t *testing.T) {
	t.Parallel()
	const car = "<html><head><title>Axio</title>"
	for name, c := range map[string]struct {
		file string
		to   string // endpoint that gets it
		has  string // what it gets
		want string // on the page, where no endpoint gets it
	}{
		"photo":         {file: "\xff\xd8\xff\xe0 the photo", to: pathReport, has: "the photo"},
		"PDF":           {file: "%PDF-1.7 the sheet", to: pathReport, has: "%PDF-1.7"},
		"HEIC":          {file: "\x00\x00\x00\x18ftypheic....", to: pathReport, has: "ftypheic"},
		"saved page":    {file: car + `<link rel="canonical" href="https://cars.example/1?a=1&amp;b=2">`, to: pathEstimate, has: `"url":"https://cars.example/1?a=1&b=2"`},
		"with a mark":   {file: "\xef\xbb\xbf" + car + `<meta content="https://cars.example/2" property="og:url">`, to: pathEstimate, has: "cars.example/2"},
		"from Chromium": {file: "<!DOCTYPE html>\n<!-- saved from url=(0022)https://cars.example/3 -->\n" + car, to: pathEstimate, has: "cars.example/3"},
		"no address":    {file: car, want: "does not say where it is from"},
		"bill":          {file: "Wharfage 450,000\nDelivery order 120,000\nAgency fee 500,000\n", to: pathBill, has: "Wharfage"},
		"long bill":     {file: strings.Repeat("Wharfage 450,000\n", 700) + "Delivery order 120,000\n", to: pathBill, has: "Delivery order"},
		"table":         {file: "url,price\nhttps://cars.example/1,5000\n", want: `name="key"`},
		"workbook":      {file: "PK\x03\x04 xl/workbook.xml", want: `name="key"`},
		"empty":         {file: "", want: "choose a file first"},
		"too large":     {file: "\xff\xd8\xff" + strings.Repeat("a", maxSheet), want: "larger than 12 MB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var to, got string
			_, h := served(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost {
					read := io.Reader(r.Body)
					if r.URL.Path == pathReport {
						file, _, err := r.FormFile("file")
						if err != nil {
							t.Errorf("the API got no form with a file: %v", err)
							return
						}
						read = file
					}
					body, err := io.ReadAll(read)
					if err != nil {
						t.Error(err)
					}
					to, got = r.URL.Path, string(body)
				}
				w.Header().Set("Location", "/v1/jobs/1")
				w.WriteHeader(http.StatusAccepted)
			})
			w := sendFile(t, h, "/go", "", []byte(c.file))
			if to != c.to || !strings.Contains(got, c.has) || !strings.Contains(w.Body.String(), c.want) {
				t.Errorf("%s got %.200q, and the visitor %d\n%s\nwant that %q gets %q and the visitor %q", to, got, w.Code, w.Body, c.to, c.has, c.want)
			}
			if (c.to != "") != (w.Code == http.StatusSeeOther) {
				t.Errorf("got the status %d", w.Code)
			}
		})
	}
}

// TestATableFromTheFirstPageIsLookedAt: who has logged in sees how it is understood.
func TestATableFromTheFirstPageIsLookedAt(t *testing.T) {
	t.Parallel()
	_, h := served(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"batches":[]}`)) })
	cookies := post(h, "/lots/login", "key=ush_key", nil).Header().Values("Set-Cookie")
	cookie, _, _ := strings.Cut(cookies[len(cookies)-1], ";")
	w := sendFile(t, h, "/go", cookie, []byte("url,price\nhttps://cars.example/1,5000\n"))
	if at := w.Header().Get("Location"); w.Code != http.StatusSeeOther || !strings.HasPrefix(at, "/lots/preview?sum=") {
		t.Errorf("got %d to %q, want 303 to the table\n%s", w.Code, at, w.Body)
	}
}
