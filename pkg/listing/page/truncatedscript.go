package page

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/dom"
)

// maxRepairSize is the maximum size in bytes of a page whose truncated scripts are
// repaired, because such a page is parsed twice.
const maxRepairSize = 2 << 20

var (
	tagLine    = regexp.MustCompile(`(?m)^[ \t]*<(?:!--.*-->|/?[a-zA-Z][^\n]*>)`)
	endTagLine = regexp.MustCompile(`(?mi)^[ \t]*</(?:td|tr|table|tbody|div|ul|li|p|dl|dd|span|section|main|body)>`)
)

// RepairScripts repairs a saved page that was truncated inside a script, so that the
// markup after it became the script's text: it parses that markup and appends it
// to the body. It reports whether there was such a script.
func RepairScripts(doc *Document) bool {
	target := Body(doc)
	if target == nil || len(doc.Page.Body) > maxRepairSize {
		return false
	}
	for _, script := range doc.Tags[atom.Script] {
		markup := swallowed(script)
		if markup == "" || dom.CheckSize([]byte(markup)) != nil {
			continue
		}
		inBody := &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
		nodes, err := html.ParseFragment(strings.NewReader(markup), inBody)
		if err != nil {
			return false
		}
		for _, n := range nodes {
			target.AppendChild(n)
			for e := range doc.elements(n) {
				doc.index(e)
			}
		}
		doc.analyse()
		return true
	}
	return false
}

// scriptEnds end a template, a comment and a continued string of a script.
var scriptEnds = []string{"`", "*/", "\\\n"}

// swallowed returns the markup in a script's text: from the first line that begins
// with a tag or is a comment, when a later line begins with an end tag. A line of
// JavaScript can begin so only inside a template, a comment or a continued string.
// A script with the end of one of these is therefore complete, and so is a script
// that contains only markup.
func swallowed(script *html.Node) string {
	kind := strings.ToLower(dom.Head(dom.Attr(script, "type")))
	if script.FirstChild == nil || kind != "" && kind != "module" && !strings.Contains(kind, "javascript") {
		return ""
	}
	code := script.FirstChild.Data
	if !strings.Contains(code, "</") {
		return ""
	}
	cut := tagLine.FindStringIndex(code)
	if cut == nil {
		return ""
	}
	markup := code[cut[0]:]
	isComplete := slices.ContainsFunc(scriptEnds, func(end string) bool { return strings.Contains(markup, end) })
	if isComplete || strings.TrimSpace(code[:cut[0]]) == "" || !endTagLine.MatchString(markup) {
		return ""
	}
	return markup
}
