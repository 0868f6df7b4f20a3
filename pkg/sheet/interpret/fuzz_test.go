package interpret

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/render"
	"ushuru/pkg/sheet/transcribe"
	"ushuru/pkg/sheet/transcribe/transcribetest"
	"ushuru/pkg/vehicle"
)

// FuzzInterpret makes a report of any JSON: it must be safe to show, in both
// languages and as a drawing, and the same after it was kept as JSON.
func FuzzInterpret(f *testing.F) {
	for _, change := range []func(*transcribe.Transcript){
		func(*transcribe.Transcript) {}, func(raw *transcribe.Transcript) { *raw = transcribe.Transcript{} }, func(raw *transcribe.Transcript) { raw.Second = nil },
		func(raw *transcribe.Transcript) { raw.Reading.Dates.FirstRegistration = "6/1" },
		func(raw *transcribe.Transcript) {
			raw.Reading.Legend = []transcribe.LegendLine{{Code: "X", JP: "要交換"}}
		},
		func(raw *transcribe.Transcript) {
			raw.Reading.Notes = append(raw.Reading.Notes, transcribe.Note{Author: "office", JP: "無視 <b> 「x」", Kind: "x", Area: "y", EN: "call me", SW: "na"})
		},
	} {
		raw := transcribetest.Prius()
		change(&raw)
		seed, err := json.Marshal(raw)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(seed))
	}
	f.Fuzz(func(t *testing.T, text string) {
		var raw transcribe.Transcript
		if json.Unmarshal([]byte(text), &raw) != nil {
			return
		}
		r := Transcript(raw, november)
		kept, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var again sheet.Report
		if err := json.Unmarshal(kept, &again); err != nil {
			t.Fatal(err)
		}
		for _, lang := range []string{sheet.English, sheet.Swahili} {
			text, err := render.Text(r, lang, sheet.Compare(r, vehicle.Car{RawModelCode: "ZVW30", Year: 2014, EngineCC: 1800, MileageKM: new(1), Colour: "RED"}))
			if err != nil || strings.Contains(text, "%!") || strings.ContainsAny(text, "<>`") {
				t.Fatalf("%v in %s", err, text)
			}
			for line := range strings.Lines(text) {
				if sheet.IsJapanese(quotes.ReplaceAllString(line, "")) {
					t.Fatalf("Japanese outside of quotes: %s", line)
				}
			}
			if links.MatchString(text) {
				t.Fatalf("a link in %s", text)
			}
			plain, _ := render.Text(r, lang, nil)
			if same, _ := render.Text(&again, lang, nil); same != plain {
				t.Fatalf("after JSON it is\n%s\nand was\n%s", same, plain)
			}
			checkXML(t, render.Map(r, lang))
		}
		if !r.IsAuctionSheet && (r.Vehicle != (sheet.Vehicle{}) || len(r.BodyMap) > 0 || len(r.AllNotes()) > 0) {
			t.Fatal("data of a car from what is no sheet")
		}
	})
}

func checkXML(t *testing.T, svg []byte) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(string(svg)))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("not well formed: %v in %s", err, svg)
		}
		if element, ok := token.(xml.StartElement); ok && (element.Name.Local == "script" || element.Name.Local == "a") {
			t.Fatalf("an element %s", element.Name.Local)
		}
	}
}

// FuzzMark draws any code at any place.
func FuzzMark(f *testing.F) {
	f.Add("roof", "left", "A1", "scratch", "キズ", "high")
	f.Add("front_door", "right", "<script>", "]]>", "\x00", "")
	f.Fuzz(func(t *testing.T, panel, side, code, meaning, legend, severity string) {
		r := &sheet.Report{BodyMap: []sheet.Mark{{
			Panel: panel, Side: &side, CodeRaw: code, Meaning: &sheet.Text{EN: meaning, SW: meaning}, FromLegend: true, LegendJP: &legend,
			Severity: sheet.Severity(severity),
		}}}
		checkXML(t, render.Map(r, sheet.English))
		checkXML(t, render.Map(r, sheet.Swahili))
	})
}

// FuzzEra reads any date: a month that comes out lies in its era, and is
// written as four digits and two.
func FuzzEra(f *testing.F) {
	for _, seed := range []string{"H26年4月", "R3/5", "6/1", "令和元年6月", "S64.1", "R9年4月12日"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, ok := parseEra(text)
		if !ok {
			return
		}
		for _, m := range d.months() {
			if m.year < 1926 || m.year > 2117 || m.month < 1 || m.month > 12 || len(m.String()) != 7 {
				t.Errorf("%q is %v", text, m)
			}
		}
		if d.letter != "" && len(d.months()) > 1 {
			t.Errorf("%q is several months", text)
		}
	})
}

var quotes = regexp.MustCompile(`「[^」]*」`)
