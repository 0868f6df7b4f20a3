package message

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestATableNeedsBothTextsWithTheSameValues(t *testing.T) {
	t.Parallel()
	const head = "key,level,en,sw,draft\n"
	for name, line := range map[string]string{
		"no Swahili": "error/a,,One.,,\n", "no English": "error/a,,,Moja.,\n",
		"another value":   "error/a,,It costs {sum:usd}.,Gharama ni {total:usd}.,\n",
		"another form":    "error/a,,It costs {sum:usd}.,Gharama ni {sum:tzs}.,\n",
		"an unknown form": "error/a,,{sum:eur},{sum:eur},\n", "an unknown level": "error/a,high,One.,Moja.,\n",
		"a repeated key": "error/a,,One.,Moja.,\nerror/a,,Two.,Mbili.,\n",
	} {
		if _, err := parse(head + line); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := parse(textTable); err != nil {
		t.Error(err)
	}
}

// maxWarning is the greatest length of a warning that is above info.
const maxWarning = 160

// sample has values as long as usual ones.
var sample = map[string]string{
	"tzs": "39500000", "usd": "12345.67", "date": "2026-11-22", "word": "listing", "words": "listing, request", "quote": "NKE165",
}

func TestAWarningIsOneShortSentence(t *testing.T) {
	t.Parallel()
	for key, r := range table {
		if r.level == "" || strings.HasSuffix(key, detail) {
			continue
		}
		values := Values{}
		for _, p := range placeholder.FindAllStringSubmatch(r.en, -1) {
			if values[p[1]] = sample[p[2]]; p[2] == "" {
				values[p[1]] = "2019"
			}
		}
		said := Say(key, values)
		for _, text := range []string{said.EN, said.SW} {
			if n := utf8.RuneCountInString(text); n > maxWarning || strings.Count(text, ". ") > 0 || !strings.HasSuffix(text, ".") {
				t.Errorf("%s: %d characters or not one sentence: %s", key, n, text)
			}
		}
	}
}

// TestEveryPlaceholderIsFilled: a name that is none would stand in the text as it is.
func TestEveryPlaceholderIsFilled(t *testing.T) {
	t.Parallel()
	meant := regexp.MustCompile(`\{[\w:.-]+\}`)
	for key, r := range table {
		for _, text := range []string{r.en, r.sw} {
			if left := meant.FindString(placeholder.ReplaceAllString(text, "")); left != "" {
				t.Errorf("%s: %s is no placeholder: %s", key, left, text)
			}
		}
	}
}

// englishWords are words of English that Swahili does not have.
var englishWords = regexp.MustCompile(`(?i)\b(the|of|and|is|are|was|were|this|that|these|from|with|for|not|which|its|has|have|or|by)\b`)

func TestSwahiliHasNoEnglishWords(t *testing.T) {
	t.Parallel()
	// What stands in parentheses or quotation marks is the word in use.
	cited := regexp.MustCompile(`\([^)]*\)|"[^"]*"|“[^”]*”|\{[^}]*\}`)
	for key, r := range table {
		if found := englishWords.FindString(cited.ReplaceAllString(r.sw, "")); found != "" {
			t.Errorf("%s: %q in %s", key, found, r.sw)
		}
		if strings.Contains(r.sw, "matengenezo") && strings.Contains(r.en, "repair history") {
			t.Errorf("%s: repair history is not matengenezo: %s", key, r.sw)
		}
		if strings.Contains(r.en+r.sw, "!") {
			t.Errorf("%s shouts", key)
		}
	}
}

func TestAValueIsReadInItsForm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ form, value, en, sw string }{
		{"tzs", "39512345.67", "TSh 39.5 million", "TSh milioni 39.5"},
		{"tzs", "6,864,268.00", "TSh 6.86 million", "TSh milioni 6.86"},
		{"tzs", "7000000", "TSh 7 million", "TSh milioni 7"},
		{"tzs", "24950000", "TSh 25 million", "TSh milioni 25"}, // not 24.9, as of the float below it
		{"tzs", "1005000", "TSh 1.01 million", "TSh milioni 1.01"},
		{"tzs", "995000", "TSh 1 million", "TSh milioni 1"},
		{"tzs", "1e999999999", "TSh 1e999999999", "TSh 1e999999999"},
		{"tzs", "128400000", "TSh 128 million", "TSh milioni 128"},
		{"tzs", "1284000000", "TSh 1,284 million", "TSh milioni 1,284"},
		{"tzs", "664268", "TSh 660,000", "TSh 660,000"},
		{"tzs", "4500", "TSh 4,500", "TSh 4,500"},
		{"usd", "12,344.99", "USD 12,340", "USD 12,340"},
		{"usd", "0", "USD 0", "USD 0"},
		{"usd", "much", "USD much", "USD much"},
		{"date", "2027-01-02", "2 January 2027", "2 Januari 2027"},
		{"words", "listing, NKE165", "listing, NKE165", "tangazo, NKE165"},
		{"quote", "NKE165", "“NKE165”", "“NKE165”"},
		{"", "{x:tzs}", "{x:tzs}", "{x:tzs}"},
	} {
		if en, sw := inForm(c.form, c.value, English), inForm(c.form, c.value, Swahili); en != c.en || sw != c.sw {
			t.Errorf("%s %s: %q, %q", c.form, c.value, en, sw)
		}
	}
}

func TestFourWarningsAreAboveInfo(t *testing.T) {
	t.Parallel()
	list := []Notice{
		{Code: "a", Level: Info},
		{Code: "b", Level: Caution},
		{Code: "c", Level: Caution},
		{Code: "d", Level: Danger},
		{Code: "b", Level: Danger},
		{Code: "e", Level: Caution},
		{Code: "f", Level: Caution},
		New("warning/simulated", nil),
	}
	for range 2 {
		list = Limit(list)
		var got strings.Builder
		for _, n := range list {
			got.WriteString(n.Code[:1] + n.Level[:1] + " ")
		}
		if got.String() != "dd sd bc cc ei fi ai " {
			t.Error(got.String())
		}
	}
}

func TestAnAnswerHasTheLanguagesOfTheView(t *testing.T) {
	t.Parallel()
	const answer = `{"b":1.50,"error":"One & <two>.","text":{"en":"One & <two>.","sw":"Moja & mbili.","draft":true},"a":[{"reason":"Why.",` +
		`"note":"x","text":{"en":"Why.","sw":"Kwa nini."}},"One & <two>.",null],` +
		`"warnings":[{"message":"W.","text":{"en":"W.","sw":"O."}}],"columns":{"en":"mine","sw":"yangu"},` +
		`"s":{"en":"S.","sw":"Z.","draft":true,"code":"c","values":{"en":"1","sw":"2"}},"fuel":"E","colour":{"en":"E","sw":"U"}}`
	for view, want := range map[View]string{
		{}: `{"b":1.50,"error":"One & <two>.","a":[{"reason":"Why.","note":"x"},"One & <two>.",null],` +
			`"warnings":[{"message":"W.","text":{"en":"W."}}],"columns":{"en":"mine","sw":"yangu"},` +
			`"s":{"en":"S.","code":"c","values":{"en":"1","sw":"2"}},"fuel":"E","colour":{"en":"E"}}`,
		{Lang: Swahili}: `{"b":1.50,"error":"Moja & mbili.","a":[{"reason":"Kwa nini.","note":"x"},"One & <two>.",null],` +
			`"warnings":[{"message":"O.","text":{"sw":"O."}}],"columns":{"en":"mine","sw":"yangu"},` +
			`"s":{"sw":"Z.","code":"c","values":{"en":"1","sw":"2"}},"fuel":"E","colour":{"sw":"U"},"draft":true}`,
		{Both: true}: strings.TrimSuffix(strings.ReplaceAll(answer, `,"draft":true`, ``), "}") + `,"draft":true}`,
		{Swahili, true}: strings.TrimSuffix(strings.NewReplacer(`,"draft":true`, ``, `"error":"One & <two>."`, `"error":"Moja & mbili."`,
			`"reason":"Why."`, `"reason":"Kwa nini."`, `"message":"W."`, `"message":"O."`).Replace(answer), "}") + `,"draft":true}`,
	} {
		if got := string(view.Of([]byte(answer))); got != want {
			t.Errorf("%+v: got\n%s, want\n%s", view, got, want)
		}
		if got := string(view.Of([]byte(want))); view.Both && got != strings.TrimSuffix(want, `,"draft":true}`)+`,"draft":true}` {
			t.Errorf("%+v again: got %s", view, got)
		}
	}
	const list = `{"notes":["One.","Other."],"noteTexts":[{"en":"One.","sw":"Moja.","code":"one"}],"n":[1,2]}`
	const want = `{"notes":["Moja.","Other."],"noteTexts":[{"sw":"Moja.","code":"one"}],"n":[1,2]}`
	if got := string(View{Lang: Swahili}.Of([]byte(list))); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, other := range []string{`{"a":`, `[1,`, ``, `"text"`, `7`, `[]`, `{}`} {
		View{Lang: Swahili}.Of([]byte(other)) // it must not panic
	}
}
