package render

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/transcribe"
)

// wellFormed reads an SVG to its end. It returns its texts.
func wellFormed(t *testing.T, svg []byte) string {
	t.Helper()
	var texts strings.Builder
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return texts.String()
		}
		if err != nil {
			t.Fatalf("not well formed: %v in %s", err, svg)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if !slices.Contains([]string{"svg", "title", "desc", "rect", "circle", "text", "g"}, token.Name.Local) {
				t.Errorf("an element %s", token.Name.Local)
			}
			for _, a := range token.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" || strings.Contains(a.Value, "url(") {
					t.Errorf("an attribute %s=%s", a.Name.Local, a.Value)
				}
			}
		case xml.CharData:
			texts.Write(token)
			texts.WriteByte('\n')
		}
	}
}

func TestTheMapShowsEveryCode(t *testing.T) {
	r := rich()
	for lang, words := range map[string][]string{
		sheet.English: {"Damage codes on the unfolded car", "scratch, about 20 cm", "Not on the drawing", "meaning not printed", "front door: A1"},
		sheet.Swahili: {"Misimbo ya kasoro", "mkwaruzo", "Haiko kwenye mchoro", "maana haikuandikwa", "mlango wa mbele: A1"},
	} {
		texts := wellFormed(t, Map(r, lang))
		for _, mark := range r.BodyMap {
			if !strings.Contains(texts, "\n"+mark.CodeRaw+"\n") {
				t.Errorf("%s: %s is not drawn", lang, mark.CodeRaw)
			}
		}
		for _, word := range words {
			if !strings.Contains(texts, word) {
				t.Errorf("%s: %q is missing in %s", lang, word, texts)
			}
		}
	}
}

func TestAMapWithoutCodesSaysWhatThatMeans(t *testing.T) {
	texts := wellFormed(t, Map(bare(), sheet.English))
	if !strings.Contains(texts, "not the same as no damage") {
		t.Error(texts)
	}
}

func TestManyCodesOnOnePanelAreCounted(t *testing.T) {
	r := read(func(raw *transcribe.Transcript) {
		raw.Reading.Map = nil
		for range 60 {
			raw.Reading.Map = append(raw.Reading.Map, transcribe.Mark{Panel: "roof", Side: "none", Code: "A1"})
		}
	})
	if texts := wellFormed(t, Map(r, sheet.English)); !strings.Contains(texts, "\n+") {
		t.Error("codes are left out unsaid")
	}
}

func TestTheMapEscapesWhatItIsGiven(t *testing.T) {
	evil := `"><script>alert(1)</script>&` + "\x00\x1b"
	r := &sheet.Report{BodyMap: []sheet.Mark{{Panel: evil, Side: &evil, CodeRaw: evil, Meaning: &sheet.Text{EN: evil, SW: evil}, FromLegend: true, LegendJP: &evil, Severity: sheet.Severity(evil)}}}
	for _, lang := range []string{sheet.English, sheet.Swahili, evil} {
		if svg := Map(r, lang); bytes.Contains(svg, []byte("<script")) {
			t.Errorf("%s", svg)
		} else {
			wellFormed(t, svg)
		}
	}
}
