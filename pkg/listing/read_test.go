package listing

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"ushuru/pkg/fetch"
	"ushuru/pkg/golden"
	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/page"
)

const (
	beForwardURL = "https://www.beforward.jp/honda/fit-shuttle/qx204417/id/90012345/"
	dealerURL    = "https://cars.example.com/stock/MM-70021"
)

func fixture(t *testing.T, name string) string {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// replaced swaps pairs of texts in a page, each of which must be there.
func replaced(t *testing.T, markup string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(markup, pairs[i]) {
			t.Fatalf("the fixture has no %q", pairs[i])
		}
		markup = strings.ReplaceAll(markup, pairs[i], pairs[i+1])
	}
	return markup
}

func read(t *testing.T, markup, url string) *Listing {
	t.Helper()
	listing, err := Read(t.Context(), FromFile([]byte(markup), url))
	if err != nil {
		t.Fatal(err)
	}
	return listing
}

func wantOutcome(t *testing.T, err error, code string) *fetch.Error {
	t.Helper()
	var failure *fetch.Error
	if !errors.As(err, &failure) || failure.Code != code {
		t.Fatalf("%v, want %s", err, code)
	}
	return failure
}

func TestFixturesReadAsGolden(t *testing.T) {
	for name, url := range fixtures {
		t.Run(name, func(t *testing.T) {
			got, err := json.MarshalIndent(read(t, fixture(t, name+".html"), url), "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden.Check(t, "testdata/"+name+".json", string(got)+"\n")
		})
	}
}

func TestSavedBeForwardPageIsRecognisedFromAnywhere(t *testing.T) {
	for _, url := range []string{"", "http://127.0.0.1:8099/x", "file.html"} {
		car := read(t, fixture(t, "beforward.html"), url).Car
		if car.Model != "FIT SHUTTLE" || car.BodyType != "Wagon" || len(car.Images) != 4 {
			t.Errorf("from %q: %+v", url, car)
		}
		for _, image := range car.Images {
			if !strings.HasPrefix(image, "http") {
				t.Errorf("from %q: image %q", url, image)
			}
		}
	}
}

func TestDeepPageGivesAClearError(t *testing.T) {
	for name, markup := range map[string]string{
		"nested": strings.Repeat("<div>", 6000),
		"tags":   strings.Repeat("<p>", 1_100_000),
	} {
		_, err := Read(t.Context(), FromFile([]byte(markup), ""))
		if failure := wantOutcome(t, err, page.PageUnreadable); failure.Retryable {
			t.Errorf("%s: temporary", name)
		}
	}
}

func TestHostilePagesEnd(t *testing.T) {
	t.Parallel()
	var laughs strings.Builder // each node refers to the next a hundred times
	laughs.WriteString(`{"@graph":[{"@id":"#0","@graph":[`)
	for i := range 20 {
		refs := strings.TrimSuffix(strings.Repeat(`{"@id":"#`+strconv.Itoa(i+1)+`"},`, 100), ",")
		laughs.WriteString(refs + `]},{"@id":"#` + strconv.Itoa(i+1) + `","@graph":[`)
	}
	rows := strings.Repeat(`<input id="fn-port-city-info-1" data-port="DAR ES SALAAM" data-via="RORO">`, 50_000)
	forward := `<ul id="bread"></ul><table class="specification"></table>`
	for name, markup := range map[string]string{
		"references":  schemaPage(laughs.String() + `]}]}`),
		"cells":       strings.Repeat("<table><tr><td>", 160) + strings.Repeat("<i></i>", 100_000),
		"cards":       strings.Repeat("<ul><li>Fuel: x</li></ul>", 30_000),
		"class":       `<div class="` + strings.Repeat("a", 1<<20) + `">` + strings.Repeat("<ul><li>Fuel: x</li></ul>", 30_000),
		"rows":        forward + rows,
		"prices":      forward + strings.Repeat("<div>", 400) + strings.Repeat(`<p class="vehicle-price">ASK</p>`, 50_000),
		"attributes":  strings.Repeat("<b "+strings.Repeat("a ", 2000)+">", 100),
		"open quotes": strings.Repeat(`<a href="`, 100_000),
		"braces":      schemaPage(strings.Repeat("[", 100_000)) + schemaPage(strings.Repeat(",", 1<<20)+"]"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if l, err := Read(t.Context(), FromFile([]byte(markup), "")); err == nil {
				t.Errorf("read as %+v", l.Car)
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	body, err := os.ReadFile(filepath.Join("testdata", "beforward.html"))
	if err != nil {
		b.Fatal(err)
	}
	// As long as a real page, with menus, scripts and options as real ones have.
	filler := strings.Repeat(`<div class="menu"><ul><li><a href="/stocklist/make=1/" class="a b">A make <i class="icon"></i></a></li></ul></div>
		<script>var options = {"a": 1, "b": [1, 2, 3]}; if (options.a < 2) { run("x"); }</script><p>Some words about nothing.</p>`, 2200)
	markup := bytes.Replace(body, []byte("</body>"), []byte(filler+"</body>"), 1)
	b.Run("parse only", func(b *testing.B) {
		b.SetBytes(int64(len(markup)))
		for b.Loop() {
			_, _ = html.Parse(bytes.NewReader(markup))
		}
	})
	b.Run("read", func(b *testing.B) {
		b.SetBytes(int64(len(markup)))
		for b.Loop() {
			if _, err := Read(b.Context(), FromFile(markup, beForwardURL)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func TestTextIsCleanAndShort(t *testing.T) {
	markup := replaced(t, fixture(t, "beforward.html"),
		"<td>HYBRID SMART</td>", "<td>HY\u200bBRID\u202e &#7; SM\x01ART</td>", "<td>KOBE</td>", "<td>"+strings.Repeat("KOBE ", 5000)+"</td>")
	car := read(t, markup, beForwardURL).Car
	if car.Version != "HYBRID SMART" {
		t.Errorf("version %q", car.Version)
	}
	if len(car.Location) > claim.MaxText {
		t.Errorf("location of %d bytes", len(car.Location))
	}
}

func TestCharacterSetOfHeaderMetaAndMark(t *testing.T) {
	const japanese = "\x93\xfa\x96{" // 日本 in Shift_JIS
	markup := strings.Replace(fixture(t, "dealer.html"), `<meta charset="utf-8">`, "", 1)
	markup = replaced(t, markup, "Yokohama", japanese)
	fromHeader := FromFile([]byte(markup), dealerURL)
	fromHeader.Header.Set("Content-Type", "text/html; charset=Shift_JIS")
	fromMeta := FromFile([]byte(strings.Replace(markup, "<head>", `<head><meta charset="shift_jis">`, 1)), dealerURL)
	fromMark := FromFile([]byte("\ufeff"+strings.Replace(markup, japanese, "日本", 1)), dealerURL)
	euc := FromFile([]byte(strings.Replace(markup, japanese, "\xc6\xfc\xcb\xdc", 1)), dealerURL)
	euc.Header.Set("Content-Type", "text/html; charset=EUC-JP")
	cyrillic := FromFile([]byte(strings.Replace(markup, japanese, "\xd2\xee\xea\xe8\xee", 1)), dealerURL)
	cyrillic.Header.Set("Content-Type", "text/html; charset=windows-1251")
	for name, p := range map[string]*fetch.Page{"header": fromHeader, "meta": fromMeta, "mark": fromMark, "EUC-JP": euc, "windows-1251": cyrillic} {
		listing, err := Read(t.Context(), p)
		if err != nil || listing.Car.Location != "日本" && (p != cyrillic || listing.Car.Location != "Токио") {
			t.Errorf("%s: %v, %v", name, listing, err)
		}
	}
}
