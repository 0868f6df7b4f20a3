package browsertest

import (
	"encoding/json"
	"os"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"ushuru/pkg/testenv"
)

// fewestRules is how many rules fit the emptiest page: fewer mean that nothing was checked.
const fewestRules = 10

// axeSource is where npm ci puts the checker of accessibility.
const axeSource = "api/web/testdata/node_modules/axe-core/axe.min.js"

// Violations returns what axe finds wrong with the page: by WCAG 2.0 to 2.2, A and AA, and
// by more of its tags, such as best-practice. The policy of a page allows no script of others: the browser's own tools
// evaluate it.
func (b *Tab) Violations(more ...string) (found []string) {
	b.t.Helper()
	source, err := os.ReadFile(testenv.InRepository(b.t, axeSource))
	if err != nil {
		testenv.Missing(b.t, err, "npm ci --prefix api/web/testdata installs it")
	}
	tags, err := json.Marshal(append([]string{"wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"}, more...))
	if err != nil {
		b.t.Fatal(err)
	}
	var report string
	b.Run(chromedp.Evaluate(string(source)+";0", nil), chromedp.Evaluate(`axe.run(document, {resultTypes: ["violations"],
		runOnly: `+string(tags)+`}).then(done => JSON.stringify(
			{passes: done.passes.length, found: done.violations.flatMap(rule =>
				rule.nodes.map(node => rule.id + " at " + node.target + ": " + node.failureSummary))}))`, &report,
		func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	var done struct {
		Passes int      `json:"passes"`
		Found  []string `json:"found"`
	}
	if err := json.Unmarshal([]byte(report), &done); err != nil || done.Passes < fewestRules {
		b.t.Fatalf("the checker passed %d rules, %v", done.Passes, err)
	}
	return done.Found
}
