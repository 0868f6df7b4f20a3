package listing

import (
	"strings"
	"testing"
)

// cutPage puts what follows the head of a lot's page into a script that was cut.
func cutPage(t *testing.T, opens, script, closes string) string {
	t.Helper()
	head, rest, ok := strings.Cut(fixture(t, "jpauc.html"), "<body>")
	if !ok {
		t.Fatal("the fixture has no body")
	}
	return head + "<body>\n" + opens + script + rest + closes
}

const cutCode = "var now = 1;\nfunction tick() {\n  now = now + 4\n"

func TestPageCutInsideAScriptIsReadOn(t *testing.T) {
	whole := read(t, fixture(t, "jpauc.html"), fixtures["jpauc"])
	for name, markup := range map[string]string{
		"closed by the end of another": cutPage(t, "<script>", cutCode+"<!-- gap -->\n", `ipt" src="/a.js"></script><p>`),
		"never closed":                 cutPage(t, "<script>", cutCode+"<!-- gap -->\n", ""),
		"without a mark":               cutPage(t, "<script>", cutCode+"nu\"><li>\n<div>\n", ""),
		"typed":                        cutPage(t, `<script type="text/javascript">`, cutCode+"<!-- gap -->\n", ""),
	} {
		for _, url := range []string{fixtures["jpauc"], ""} {
			l, err := Read(t.Context(), FromFile([]byte(markup), url))
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			got, want := flatten(&l.Car), flatten(&whole.Car)
			for field := range want {
				if got[field] != want[field] {
					t.Errorf("%s: %s is %q, want %q", name, field, got[field], want[field])
				}
			}
			if last := l.Notes[len(l.Notes)-1]; !strings.Contains(last.EN, "truncated inside a script") {
				t.Errorf("%s: notes %v", name, l.Notes)
			}
		}
	}
}

func TestAWholeScriptIsNeverReadAsMarkup(t *testing.T) {
	for name, markup := range map[string]string{
		"template literal":    cutPage(t, "<script>", "var now = 1; var row = `\n<!-- row -->\n", "\n`;</script>"),
		"comment":             cutPage(t, "<script>", "var now = 1; /*\n<!-- row -->\n", "\n*/</script>"),
		"string that goes on": cutPage(t, "<script>", "var row = '\\\n", "\\\n';</script>"),
		"template":            cutPage(t, `<script type="text/x-template">`, cutCode+"<!-- row -->\n", "</script>"),
		"template untyped":    cutPage(t, `<script id="row">`, "\n<!-- row -->\n", "</script>"),
		"data":                cutPage(t, `<script type="application/ld+json">`, cutCode+"<!-- row -->\n", "</script>"),
		"no end tag":          "<body><script>" + cutCode + "<!-- a -->\nvar row = '<table><tr><td>Model Code: DBA-E12</td><td>Fuel: Petrol</td></tr></table>';</script>",
	} {
		if l, err := Read(t.Context(), FromFile([]byte(markup), fixtures["jpauc"])); err == nil {
			t.Errorf("%s: read as %+v", name, l.Car)
		}
	}
}

func TestAReadableListingIsNotRepaired(t *testing.T) {
	markup := replaced(t, fixture(t, "jpauc.html"), "</body>", "<script>"+cutCode+"<!-- gap -->\n<table>\n<tr><td>Model Code: ABA-XX1</td></tr>\n</table></script></body>")
	l := read(t, markup, fixtures["jpauc"])
	whole := read(t, fixture(t, "jpauc.html"), fixtures["jpauc"])
	if len(l.Notes) != len(whole.Notes) || l.Car.ModelCode != whole.Car.ModelCode {
		t.Errorf("%+v, notes %v", l.Car, l.Notes)
	}
}

func TestRepairIsBounded(t *testing.T) {
	const opens = "<body><script>x\n<p>\n</p>\n"
	for name, markup := range map[string]string{
		"too long":   cutPage(t, "<script>", cutCode+"<!-- gap -->\n", strings.Repeat(" ", 2<<20)),
		"deep":       opens + strings.Repeat("<div>", 5000),
		"formatting": opens + strings.Repeat("<b><i><u>", 20_000),
		"lines":      opens + strings.Repeat("<a\n", 200_000),
		"scripts":    strings.Repeat("<script>x\n<p>\n</p>\n</script>", 20_000),
	} {
		if l, err := Read(t.Context(), FromFile([]byte(markup), fixtures["jpauc"])); err == nil {
			t.Errorf("%s: read as %+v", name, l.Car)
		}
	}
}
