package advice_test

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"golang.org/x/net/html"

	"ushuru/pkg/advice"
	"ushuru/pkg/sheet"
	"ushuru/pkg/vehicle"

	"ushuru/pkg/golden"
)

func examplePair() advice.Pair {
	km := 62_345
	return advice.Pair{
		Car1:       estimate("FIELDER", "10250.5", crossing),
		Car2:       estimate("AXIO", "11990.25", mileage(62_000)),
		Condition1: &advice.Condition{OverallGrade: "4.5", Repair: sheet.RepairNo, MileageKM: &km, MileageFlag: "none", High: 1},
		Condition2: &advice.Condition{OverallGrade: "RA", Repair: sheet.RepairYes, MileageFlag: "none", Mismatches: 2},
	}
}

func TestTheTemplateWritesAWholeRecommendation(t *testing.T) {
	pair := examplePair()
	for _, lang := range []string{"en", "sw"} {
		golden.Check(t, "testdata/example."+lang+".md", advice.Write(advice.Judge(pair), pair, lang))
	}
	pair.Car2 = estimate("AXIO", "9000", incomplete)
	for _, lang := range []string{"en", "sw"} {
		golden.Check(t, "testdata/nowinner."+lang+".md", advice.Write(advice.Judge(pair), pair, lang))
	}
}

var english = regexp.MustCompile(`(?i)\b(the|of|and|is|its|it|you|with|that|not|than|from|cost|car|price|sheet)\b`)

// What a Tanzanian reads holds no English prose.
func TestSwahiliIsSwahili(t *testing.T) {
	pair := examplePair()
	pair.Car1.Warnings = append(pair.Car1.Warnings, vehicle.Warning{Code: "registration_year"}, vehicle.Warning{Code: "pasted_page"}, vehicle.Warning{Code: "listing_sold"})
	text := advice.Write(advice.Judge(pair), pair, "sw")
	if found := english.FindAllString(text, -1); len(found) > 0 {
		t.Errorf("English in it: %q\n%s", found, text)
	}
	for _, word := range []string{"Tovuti yake inaonyesha limeuzwa", "gari", "Barabarani", "fremu ya bodi imewahi kukarabatiwa", "soma maelezo", "TSh milioni"} {
		if !strings.Contains(text, word) {
			t.Errorf("it does not say %q\n%s", word, text)
		}
	}
}

// A make or label from anywhere that means to be markup stays what it is: text.
func TestHostileNamesStayText(t *testing.T) {
	for _, name := range []string{
		`[click](https://evil.example/)`, `![x](https://evil.example/p.png)`, `<script>alert(1)</script>`, "`code`", "A | B | C",
		"# HEADING", "https://evil.example/", "www.evil.example", "a\n\n## b", "**b**", `\`, "\u202egnp.exe", "&lt;b&gt;", "$x^2$", "~~s~~", "a@b.co",
	} {
		pair := examplePair()
		pair.Car1.Matched.Make, pair.Car1.Matched.ModelBody = name, name
		pair.Car1.DriveAway.Lines[0].Name = vehicle.Text{EN: name, SW: name}
		pair.Condition1.OverallGrade = name
		for _, lang := range []string{"en", "sw"} {
			text := advice.Write(advice.Judge(pair), pair, lang)
			if found := elements(t, text); len(found) > 0 {
				t.Errorf("%q makes %q:\n%s", name, found, text)
			}
			plain := examplePair()
			want := strings.Count(advice.Write(advice.Judge(plain), plain, lang), "\n#")
			if got := strings.Count(text, "\n#"); got != want {
				t.Errorf("%q: %d headings, want %d", name, got, want)
			}
		}
	}
}

// elements renders Markdown as a browser page would and returns the elements
// that no recommendation has.
func elements(t *testing.T, markdown string) (found []string) {
	t.Helper()
	var page bytes.Buffer
	if err := goldmark.New(goldmark.WithExtensions(extension.GFM)).Convert([]byte(markdown), &page); err != nil {
		t.Fatal(err)
	}
	known := strings.Fields("h2 h3 p ul li strong table thead tbody tr th td")
	for tokens := html.NewTokenizer(&page); ; {
		switch tokens.Next() {
		case html.ErrorToken:
			return found
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := tokens.TagName()
			if !slices.Contains(known, string(name)) {
				found = append(found, string(name))
			}
		case html.TextToken, html.EndTagToken, html.CommentToken, html.DoctypeToken:
		}
	}
}
