package docs_test

import (
	"flag"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"ushuru/pkg/testenv"
	"ushuru/pkg/testenv/browsertest"
)

var shots = flag.String("shots", "", "folder for pictures of the pages")

// TestTheDescriptionCanBeTriedOut authorizes in a real Chromium and executes an estimate,
// under the content security policy of the page.
func TestTheDescriptionCanBeTriedOut(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	service, tab := startDemo(t), browsertest.Open(t)
	tab.View(1280, "light")
	tab.Run(chromedp.Navigate(service.URL + "/docs/api/"))
	const operation = `#operations-estimates-createEstimate`
	tab.Await(`document.querySelectorAll(".opblock").length > 25`)
	tab.Shoot(*shots, "docs-api")

	// The demo has filled in its key.
	const status = operation + ` .live-responses-table tbody .response-col_status`
	execute := func() string {
		tab.Run(chromedp.Click(operation + ` .execute`))
		tab.Await(`document.querySelector("` + status + `")`)
		return strings.TrimSpace(tab.Text(`document.querySelector("` + status + `").innerText`))
	}
	tab.Run(chromedp.Click(operation+` .opblock-summary-control`), chromedp.Click(operation+` .try-out__btn`),
		chromedp.WaitVisible(operation+` .execute`))
	if got := execute(); !strings.HasPrefix(got, "200") {
		t.Errorf("with the key of the demo: %s", got)
	}
	if body := tab.Text(`document.querySelector("` + operation + ` .live-responses-table").innerText`); !strings.Contains(body, "onTheRoad") {
		t.Errorf("the answer: %s", body)
	}
	if sent := tab.Text(`document.querySelector("` + operation + ` .curl").innerText`); strings.Contains(sent, "Idempotency-Key") {
		t.Errorf("every request would have the same Idempotency-Key: %s", sent)
	}
	if found := tab.Violations(); len(found) > 0 {
		t.Errorf("after an answer:\n%s", strings.Join(found, "\n"))
	}
	tab.Shoot(*shots, "docs-api-executed")
	tab.Check(service.URL)

	tab.Run(chromedp.Click(operation+` .btn-clear`), chromedp.WaitNotPresent(status))
	tab.Run(chromedp.Click(`.btn.authorize`), chromedp.WaitVisible(`.auth-container`))
	tab.Run(chromedp.Click(`.auth-container .modal-btn.auth.button`)) // log out
	tab.Run(chromedp.WaitVisible(`.auth-container input`), chromedp.SendKeys(`.auth-container input`, service.Key))
	tab.Shoot(*shots, "docs-api-authorize")
	tab.Run(chromedp.Click(`.auth-container .modal-btn.auth.authorize`), chromedp.Click(`.auth-btn-wrapper .btn-done`))
	if got := execute(); !strings.HasPrefix(got, "200") {
		t.Errorf("with the key that was entered: %s", got)
	}
	tab.Check(service.URL)
	if stored := tab.Text(`localStorage.length + sessionStorage.length + document.cookie.length`); stored != "0" {
		t.Errorf("the browser keeps something: %s", tab.Text(`JSON.stringify({...localStorage, ...sessionStorage}) + document.cookie`))
	}
}

// TestTheQuickstartIsReadable shows the quickstart on a phone and on a desk.
func TestTheQuickstartIsReadable(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	service, tab := startDemo(t), browsertest.Open(t)
	for name, width := range map[string]int64{"phone": 360, "desk": 1280} {
		for _, scheme := range []string{"light", "dark"} {
			tab.View(width, scheme)
			tab.Run(chromedp.Navigate(service.URL+"/"), chromedp.Click(`footer a[href="/docs"]`))
			tab.Await(`location.pathname === "/docs" && document.readyState === "complete"`)
			tab.Shoot(*shots, "docs-"+name+"-"+scheme)
			tab.Check(service.URL)
		}
	}
	// Every link within the page leads somewhere.
	if lost := tab.Text(`[...document.querySelectorAll('a[href^="#"]')].filter(a => !document.querySelector(a.hash)).map(a => a.hash)`); lost != "" {
		t.Errorf("links that lead nowhere: %s", lost)
	}
	for _, path := range []string{"/docs/api/", "/openapi.yaml", "/openapi.json", "/docs/", "/docs/api"} {
		var status int
		tab.Run(chromedp.Evaluate(`fetch("`+path+`").then(r => r.status)`, &status,
			func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
		if status != 200 {
			t.Errorf("%s: %d", path, status)
		}
	}
}
