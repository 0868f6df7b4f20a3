package page

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxRepairSize is the longest page in bytes whose cut scripts are mended; such a
// page is read twice, and a longer one must not cost more than it does.
const maxRepairSize = 2 << 20

var (
	tagLine    = regexp.MustCompile(`(?m)^[ \t]*<(?:!--.*-->|/?[a-zA-Z][^\n]*>)`)
	endTagLine = regexp.MustCompile(`(?mi)^[ \t]*</(?:td|tr|table|tbody|div|ul|li|p|dl|dd|span|section|main|body)>`)
)

// RepairScripts reads on where a saved page was cut inside a script, so that the
// markup that follows became the script's text: what follows the cut is parsed
// and put behind the body. It reports whether there was any.
func RepairScripts(doc *Document) bool {
	target := Body(doc)
	if target == nil || len(doc.Page.Body) > maxRepairSize {
		return false
	}
	for _, script := range doc.Tags[atom.Script] {
		markup := swallowed(script)
		if markup == "" || checkSize([]byte(markup)) != nil {
			continue
		}
		inBody := &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
		nodes, err := html.ParseFragment(strings.NewReader(markup), inBody)
		if err != nil {
			return false
		}
		for _, n := range nodes {
			target.AppendChild(n)
			for e := range Elements(n) {
				doc.index(e)
			}
		}
		return true
	}
	return false
}

// swallowed returns the markup in a script's text: from the first line that
// begins with a tag or is a comment, when a later line begins with an end tag.
// In JavaScript a line can begin so only within a template, a comment or a
// string that goes on, so a script that has the end of one is taken for whole,
// and so is one that is nothing but markup.
func swallowed(script *html.Node) string {
	kind := strings.ToLower(Head(Attr(script, "type")))
	if script.FirstChild == nil || kind != "" && kind != "module" && !strings.Contains(kind, "javascript") {
		return ""
	}
	code := script.FirstChild.Data
	cut := tagLine.FindStringIndex(code)
	if cut == nil {
		return ""
	}
	markup := code[cut[0]:]
	for _, sign := range []string{"`", "*/", "\\\n"} {
		if strings.Contains(markup, sign) {
			return ""
		}
	}
	if strings.TrimSpace(code[:cut[0]]) == "" || !endTagLine.MatchString(markup) {
		return ""
	}
	return markup
}
