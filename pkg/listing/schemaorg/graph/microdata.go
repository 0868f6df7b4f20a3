package graph

import (
	"strings"

	"golang.org/x/net/html"

	"ushuru/pkg/listing/dom"
	"ushuru/pkg/listing/page"
)

// readMicrodata reads itemscope, itemtype, itemprop, itemid and itemref.
func readMicrodata(doc *page.Document, g *Graph) {
	m := markup{
		g: g, doc: doc, syntax: SourceMicrodata, scopes: doc.Marked.Scopes, property: "itemprop",
		begins: func(el *html.Node) bool { return dom.HasAttr(el, "itemscope") },
		names: func(_ *Node, el *html.Node) (names []string) {
			for written := range strings.FieldsSeq(dom.Head(dom.Attr(el, "itemprop"))) {
				if name := Name(written); name != "" {
					names = append(names, name)
				}
			}
			return names
		},
		open: func(el *html.Node, n *Node) {
			n.ID = cut(strings.TrimSpace(dom.Attr(el, "itemid")))
			for name := range strings.FieldsSeq(cut(dom.Attr(el, "itemtype"))) {
				if n.Typed = true; strings.Contains(name, ":") { // an address, or prefixed by mistake
					n.addTypes(name)
				}
			}
		},
		value: func(_ *Node, _ *html.Node, v Value) Value { return v },
		refs:  func(el *html.Node) string { return dom.Attr(el, "itemref") },
	}
	m.read()
}
