package export_test

import (
	"bytes"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ushuru/pkg/batch"
	"ushuru/pkg/export"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// reasons are keys of the texts of rows without a cost.
func reasons() []string {
	return []string{"listing_gone", "listing_blocked", "listing_sold", "no_match.no_model", "fetch_timeout", "url_invalid", "authority_unavailable"}
}

// outcomes are rows with every outcome, in a language.
func outcomes(t *testing.T, lang string) []export.Line {
	t.Helper()
	base := lines(t)[0].Estimate
	var rows []export.Line
	add := func(l export.Line) {
		l.Number, l.URL = len(rows)+1, "https://cars.example/stock/12345"
		rows = append(rows, l)
	}
	for _, confidence := range []vehicle.Confidence{vehicle.High, vehicle.Medium, vehicle.Low} {
		e := *base
		e.Matched.Confidence = confidence
		e.Summary = &vehicle.Summary{OnTheRoad: &vehicle.Sum{TZS: 30_000_000}}
		add(export.Line{State: batch.Succeeded, Estimate: &e, Basis: "hammer"})
	}
	for _, code := range reasons() {
		said := message.New("error/"+code, nil)
		code, _, _ = strings.Cut(code, ".")
		add(export.Line{State: batch.Failed, Code: code, Reason: said.In(lang)})
	}
	for _, state := range batch.States() {
		add(export.Line{State: state})
	}
	return rows
}

// pageOf returns the text of a page as people see or hear it.
func pageOf(t *testing.T, lang string, rows []export.Line) string {
	t.Helper()
	var out bytes.Buffer
	page, err := export.NewHTML(&out, export.Options{Lang: lang, Batch: "B1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if err := page.Line(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := page.Close(); err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`(?s)<style>.*?</style>`).ReplaceAllString(out.String(), "")
	text = regexp.MustCompile(`<[^>]*aria-label="([^"]*)"[^>]*>`).ReplaceAllString(text, " $1 ")
	return html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(text, "\n"))
}

// A Swahili page has no state, no code, no level of confidence and no text of its own in
// English, whatever the outcome of its rows.
func TestASwahiliPageHasNoEnglish(t *testing.T) {
	t.Parallel()
	english := slices.Concat(reasons(), []string{"no_match", "high", "medium", "low", "hammer", "start", "on the road", "rows", "the"})
	for _, state := range batch.States() {
		english = append(english, string(state))
	}
	for _, key := range message.Keys("export") {
		if text := message.Say(key, nil); text.EN != text.SW {
			english = append(english, text.EN)
		}
	}
	page := pageOf(t, message.Swahili, outcomes(t, message.Swahili))
	_, page, _ = strings.Cut(page, "\n") // the doctype
	for _, word := range english {
		whole := regexp.MustCompile(`(?i)(?:^|[^\pL])` + regexp.QuoteMeta(word) + `(?:$|[^\pL])`)
		if at := whole.FindStringIndex(page); at != nil {
			t.Errorf("%q is in …%s…", word, page[max(0, at[0]-60):min(len(page), at[1]+60)])
		}
	}
	for _, want := range []string{"ulinganisho: mdogo", "inasubiri", "Mistari imeshindikana", "Tangazo halipo tena"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q\n%s", want, page)
		}
	}
}

// A row that failed is named by its car as far as it was read, or else by its address.
func TestAPageNamesRowsThatFailed(t *testing.T) {
	t.Parallel()
	page := pageOf(t, message.English, []export.Line{
		{URL: "https://cars.example/1", State: batch.Failed, Reason: "None fits.", Car: &vehicle.Car{Make: "TOYOTA", Model: "VITZ", Year: 2014}},
		{URL: "https://cars.example/2", State: batch.Failed, Reason: "It is gone.", Car: &vehicle.Car{}},
		{URL: "-2+3", State: batch.Rejected, Reason: "No address."},
	})
	page = regexp.MustCompile(`\n+`).ReplaceAllString(page, "|")
	for _, want := range []string{"|TOYOTA VITZ|2014|None fits.|", "|cars.example/2|It is gone.|", "|-2+3|No address.|"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q\n%s", want, page)
		}
	}
}
