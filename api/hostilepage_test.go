package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"ushuru/api"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
	"ushuru/pkg/vehicle"
)

// keepsItsText reports whether a text of an estimate is one of ours: a template or a type
// depends on it.
func keepsItsText(name string) bool {
	return strings.HasSuffix(name, "USD") || strings.HasSuffix(name, "TZS") || slices.Contains([]string{
		"code", "level", "confidence", "standing", "basisCode", "yearBasis", "priceBasis", "currency", "matchedBy", "asOf", "date",
		"from", "to",
	}, name)
}

// hostileTexts replaces the texts of a value that come from a listing.
func hostileTexts(value any, name string) any {
	switch v := value.(type) {
	case string:
		if !keepsItsText(name) {
			return hostile
		}
	case []any:
		for i := range v {
			v[i] = hostileTexts(v[i], name)
		}
	case map[string]any:
		for field := range v {
			v[field] = hostileTexts(v[field], field)
		}
	}
	return value
}

// hostileEstimate is an estimate with hostile texts in all fields of the car, of TRA's
// entry, of the warnings and of the lines.
func hostileEstimate(t *testing.T) (estimate, car map[string]any) {
	t.Helper()
	data, err := os.ReadFile("testdata/estimate.json")
	must(t, err)
	must(t, json.Unmarshal(data, &estimate))
	car = estimate["car"].(map[string]any)
	car["images"] = []any{"http://attacker.example/1.jpg", "javascript:window.HIT=1", hostile}
	car["conditionReportUrl"] = hostile
	drive := estimate["driveAway"].(map[string]any)
	for _, part := range []any{car, estimate["matched"], estimate["input"], estimate["warnings"], drive["lines"]} {
		hostileTexts(part, "")
	}
	data, err = json.Marshal(estimate)
	must(t, err)
	must(t, json.Unmarshal(data, &vehicle.Estimate{}))
	return estimate, car
}

// putLink stores what the address of an answer leads to.
func putLink(t *testing.T, a *app, token, path string, shown map[string]any) {
	t.Helper()
	data, err := json.Marshal(shown)
	must(t, err)
	body, err := json.Marshal(map[string]any{
		"url": "javascript:window.HIT=1//" + hostile, "make": hostile, "modelBody": hostile, "known": map[string]any{"fuel": hostile},
	})
	must(t, err)
	must(t, a.conn.Client().HSet(t.Context(), "page:link:"+token, "path", path, "body", redisx.Pack(body), "job", "",
		"made", strconv.FormatInt(time.Now().Unix(), 10), "shown", redisx.Pack(data)).Err())
}

// TestHostileTextsStayTextOnThePagesForBuyers opens the answer, its pictures, refusals and
// the pages of batches with hostile texts in everything that a listing or a table says.
func TestHostileTextsStayTextOnThePagesForBuyers(t *testing.T) {
	t.Parallel()
	testenv.Long(t)
	a := newApp(t, redistest.Open(t, redistest.Start(t).URL), func(o *api.Options) { o.Page.Enabled = true })
	w := watch(t)
	estimate, car := hostileEstimate(t)
	token := func(n int) string { return strings.Repeat("A", 25) + string(rune('A'+n)) }
	putLink(t, a, token(0), "/v1/estimate", map[string]any{"result": estimate})
	putLink(t, a, token(1), "/v1/quote", map[string]any{"result": estimate})
	failed := map[string]any{"error": hostile, "text": map[string]any{"en": hostile, "sw": hostile}, "car": car}
	for n, code := range []string{"ambiguous_match", "no_match", "listing_incomplete", "listing_blocked", "internal"} {
		why := maps.Clone(failed)
		why["code"] = code
		why["candidates"] = []any{map[string]any{"make": hostile, "modelBody": hostile, "fuel": hostile}}
		putLink(t, a, token(2+n), "/v1/estimate", map[string]any{"failed": why})
	}
	escaped := url.QueryEscape(hostile)
	paths := []string{
		"/hand?make=" + escaped + "&q=" + escaped,
		"/hand?make=X&modelBody=" + escaped + "&year=" + escaped + "&price=" + escaped, "/lots/" + url.PathEscape(hostile),
		"/e/" + token(0) + "?pictures=1&lang=" + escaped,
	}
	for _, lang := range []string{"en", "sw"} {
		for n := range 7 {
			paths = append(paths, "/e/"+token(n)+"?lang="+lang, "/e/"+token(n)+"?pictures=1&lang="+lang, "/e/"+token(n)+"/choose?lang="+lang)
		}
	}
	seen := false
	for _, path := range paths {
		if ran, left := w.visit(t, a.URL+path, nil); ran || len(left) > 0 {
			t.Errorf("%.150s: a script ran: %t; asked of other hosts: %q", path, ran, left)
		}
		var text string
		must(t, chromedp.Run(w.ctx, chromedp.Evaluate(`document.body.innerText`, &text)))
		seen = seen || strings.Contains(text, "<script>window.HIT=1")
	}
	if !seen {
		t.Error("no page shows the hostile text, so this test shows nothing")
	}

	// A table: its name, its columns and its cells, as it is looked at and as a batch.
	cell := `"` + strings.ReplaceAll(hostile, `"`, `""`) + `"`
	table := fmt.Sprintf("url,make,model,year,%s\nhttps://www.beforward.jp/x/id/1/,,,,%s\n,%s,%s,2018,%s\n", cell, cell, cell, cell, cell)
	file := filepath.Join(t.TempDir(), `"><img src=x onerror=window.HIT=1>.csv`)
	must(t, os.WriteFile(file, []byte(table), 0o600))
	look := func(what string, actions ...chromedp.Action) {
		var ran bool
		must(t, chromedp.Run(w.ctx, append(actions, chromedp.Evaluate(`window.HIT === 1`, &ran))...))
		if ran {
			t.Errorf("%s: a script ran", what)
		}
	}
	look("login", chromedp.Navigate(a.URL+"/lots"), chromedp.SendKeys("#key", a.key), chromedp.Click("form.card button"), chromedp.WaitVisible("#file"))
	look("preview", chromedp.SetUploadFiles("#file", []string{file}), chromedp.Click("form.card button"), chromedp.WaitVisible("#columns"))
	var skip bool
	must(t, chromedp.Run(w.ctx, chromedp.Evaluate(`document.querySelector("input[name=skip]")?.click() ?? true`, &skip)))
	look("batch", chromedp.Click("form.card button"), chromedp.WaitVisible("#rows"))
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, asked := range w.left {
		if strings.Contains(asked, "attacker.example") {
			t.Errorf("the pages of a batch ask %s", asked)
		}
	}
	if w.dialogs > 0 {
		t.Errorf("%d dialogs", w.dialogs)
	}
}
